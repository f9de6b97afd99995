"""The values of made.c: weights that follow from a tensor's name and the place in it, and the ids of a prompt from a seed. All
values are exact in bf16."""
import numpy as np


def mix(x):  # the finaliser of splitmix64, as hash_mix64() in evalcore/base
    x = x + np.uint64(0x9e3779b97f4a7c15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xbf58476d1ce4e5b9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94d049bb133111eb)
    return x ^ x >> np.uint64(31)


def stream(key, n):
    return mix(key + np.arange(n, dtype=np.uint64))


def prompt_ids(seed, n, vocab):
    with np.errstate(over="ignore"):
        return ((stream(mix(np.uint64(seed)), n) >> np.uint64(33)) % np.uint64(vocab)).astype(np.int64).tolist()


def values(name, base, spread, shape):
    key = 0xcbf29ce484222325  # FNV-1a of the name
    for byte in name.encode():
        key = (key ^ byte) * 0x100000001b3 % 2 ** 64
    top = (stream(np.uint64(key), int(np.prod(shape))) >> np.uint64(48)).astype(np.float32)
    v = np.float32(base) + np.float32(spread) * (top / np.float32(32767.5) - np.float32(1))
    bits = v.view(np.uint32).astype(np.uint64)          # to the nearest bf16, of two the even one
    bits = (bits + np.uint64(0x7fff) + (bits >> np.uint64(16) & np.uint64(1))) & np.uint64(0xffff0000)
    return bits.astype(np.uint32).view(np.float32).reshape(shape)
