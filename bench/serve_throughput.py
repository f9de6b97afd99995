#!/usr/bin/env python3
"""Tokens a second through kveval serve beside a sweep's, on the same jobs: serve_throughput.py KVEVAL [--model M] [--devices D]
[--batch 64] [--jobs 512] [--tokens 128] [--rounds 5]. Rounds alternate, and the best of each counts: other programs on the machine
slow down, and nothing speeds up. Loading is left out on both sides. Beside it the processor seconds of all processes, which a busy machine
changes less (the sweep and its worker, loading too; the server, its worker and its client). A line of JSON for answers in streams, one for
whole answers."""
import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import urllib.request

p = argparse.ArgumentParser()
p.add_argument("kveval")
p.add_argument("--model", default="pocket")
p.add_argument("--devices", default="cpu")
p.add_argument("--batch", type=int, default=64)
p.add_argument("--jobs", type=int, default=512)
p.add_argument("--tokens", type=int, default=128)
p.add_argument("--rounds", type=int, default=5)
p.add_argument("--policy", default="full")
p.add_argument("--threads", type=int, default=0)
o = p.parse_args()
if o.model.startswith("random:"):
    o.model = "random:" + os.path.abspath(o.model[7:])
folder = tempfile.mkdtemp()
device = ["--devices", o.devices, "--max-batch", str(o.batch)] + (["--threads", str(o.threads)] if o.threads else [])
run = {"tasks": [{"name": "pocket.relay", "problems": o.jobs // 8, "steps": 7}], "policies": [o.policy], "samples": 8, "temperature": 1,
       "max_new_tokens": o.tokens, "chat": "none", "stop": []}


def rate(text):
    """Of the line "N completions, T tokens in S: R tokens/s"."""
    tokens, speed = re.search(r"completions, (\d+) tokens in .*: (\d+) tokens/s", text).groups()
    return int(tokens), float(speed)


def seconds(pid):
    """User and system time of a process so far."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(x) for x in f.read().split()]


def sweep(model, out, *more):
    path = os.path.join(folder, out + ".json")
    with open(path, "w") as f:
        json.dump({"model": model, **run}, f)
    target = os.path.join(folder, out)
    shutil.rmtree(target, ignore_errors=True)
    r = subprocess.run([o.kveval, "sweep", path, "-o", target, "--display", "plain", *more], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return rate(r.stderr)


def serve():
    """A server of its own for a round: on a GPU it and the sweep would share what K and V may take. Its process, address, and model."""
    server = subprocess.Popen([o.kveval, "serve", o.model, "--port", "0", "--policy", o.policy, *device], stderr=subprocess.PIPE, text=True)
    line = ""
    while "is ready" not in line:
        line = server.stderr.readline()
        assert line, "the server did not start"
    url = re.search(r"http://\S+", line).group()
    with urllib.request.urlopen(url + "/models") as answer:
        return server, url, json.load(answer)["data"][0]["id"]


kinds = {"serve": True, "serve_whole": False}  # with streams, as kveval's client asks by default, and with whole answers
best = dict.fromkeys(["sweep", *kinds], 0.0)
cpu = dict.fromkeys(best, 1e9)
server = None
try:
    for i in range(o.rounds):
        before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        tokens, speed = sweep(o.model, "local", *device)
        cpu["sweep"] = min(cpu["sweep"], sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before)
        best["sweep"] = max(best["sweep"], speed)
        server, url, name = serve()
        for kind, stream in kinds.items():
            # twice the batch: as many wait as are decoded
            endpoint = {"endpoint": url, "name": name, "tokenizer": o.model, "concurrency": 2 * o.batch, "stream": stream}
            workers = children(server.pid)
            before = sum(map(seconds, [server.pid] + workers)) + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
            same, speed = sweep(endpoint, "served")
            after = sum(map(seconds, [server.pid] + workers)) + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
            cpu[kind] = min(cpu[kind], after - before)
            best[kind] = max(best[kind], speed)
            assert same == tokens, (same, tokens)
        server.terminate()
        server.wait()
        print(f"round {i + 1}: {tokens} tokens, best so far", ", ".join(f"{k} {v:.0f}" for k, v in best.items()), "tokens/s", file=sys.stderr)
finally:
    if server:
        server.terminate()
        server.wait()
    shutil.rmtree(folder)
for kind, stream in kinds.items():
    print(json.dumps({"model": name, "devices": o.devices, "batch": o.batch, "jobs": o.jobs, "stream": stream, "sweep": best["sweep"],
                      "serve": best[kind], "cpu_sweep": round(cpu["sweep"], 2), "cpu_serve": round(cpu[kind], 2),
                      "share": round(best[kind] / best["sweep"], 4)}))
