"""Compares the objects of two builds section by section: same_code.py BASE_BUILD HEAD_BUILD MOVED [FOLDER...]

Names may differ, code and data may not: the bytes of .text* and .data* and the places and kinds of their relocations have to be
equal, and the symbols of the one side have to correspond to those of the other one to one. A difference of .rodata alone is
counted, not refused: changed messages live there. Of CUDA objects the kernels of the embedded cubins are compared, in any
order, since a cubin orders them by name. MOVED holds git's lines "R100<tab>old<tab>new".
"""
import collections
import hashlib
import pathlib
import struct
import sys

CODE = (".text", ".data", ".init_array", ".tdata", ".bss", ".tbss")
READ_ONLY = ".rodata"
KERNEL = (".text.", ".nv.constant", ".nv.global", ".nv.shared")
SHT_RELA, SHT_NOBITS, STT_SECTION = 4, 8, 3


def sections_of(data):
    """[(name, type, link, info, contents)] of an ELF file; contents is the size where the file holds no bytes."""
    (offset,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    if count == 0:  # too many for the header: the count stands in section 0
        (count,) = struct.unpack_from("<Q", data, offset + 32)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    table = heads[names][4]
    found = []
    for head in heads:
        end = data.index(b"\0", table + head[0])
        contents = head[5] if head[1] == SHT_NOBITS else data[head[4]:head[4] + head[5]]
        found.append((data[table + head[0]:end].decode(), head[1], head[6], head[7], contents))
    return found


def symbol_name(sections, link, index):
    """Of a symbol of a relocation: its name, or the section that it stands for."""
    name, info, _, section = struct.unpack_from("<IBBH", sections[link][4], index * 24)
    if info & 15 == STT_SECTION:
        return "section " + sections[section][0]
    strings = sections[sections[link][2]][4]
    return strings[name:strings.index(b"\0", name)].decode()


class Differs(Exception):
    pass


def pair(forth, back, old, new):
    if forth.setdefault(old, new) != new or back.setdefault(new, old) != old:
        raise Differs(f"{old} and {forth[old]} do not correspond one to one")


def compare_relocations(base, head, i, forth, back):
    old, new = base[i][4], head[i][4]
    for at in range(0, len(old), 24):
        where, info, addend = struct.unpack_from("<QQq", old, at)
        where_new, info_new, addend_new = struct.unpack_from("<QQq", new, at)
        if where != where_new or info & 0xFFFFFFFF != info_new & 0xFFFFFFFF:
            raise Differs(f"{base[i][0]} at {where:#x}")
        names = symbol_name(base, base[i][2], info >> 32), symbol_name(head, head[i][2], info_new >> 32)
        if names[0].startswith("section ") or names[1].startswith("section ") or names[0].startswith(".L"):
            if names[0].split(".")[:2] != names[1].split(".")[:2]:
                raise Differs(f"{base[i][0]} at {where:#x}: {names[0]} and {names[1]}")
            continue  # a text: its place in .rodata may move
        pair(forth, back, *names)
        if addend != addend_new:
            raise Differs(f"{base[i][0]} at {where:#x}: another addend")


def compare_object(old, new):
    """True: texts in .rodata differ."""
    base, head = ([s for s in sections_of(f.read_bytes())] for f in (old, new))
    of_code = lambda s: s[0].startswith(CODE) or (s[1] == SHT_RELA and s[0].startswith(tuple(".rela" + c for c in CODE)))
    for side in (base, head):
        if not any(of_code(s) for s in side):
            raise Differs("no code was found")
    places = [[i for i, s in enumerate(side) if of_code(s)] for side in (base, head)]
    if [base[i][0] for i in places[0]] != [head[i][0] for i in places[1]]:
        raise Differs("other sections")
    forth, back = {}, {}
    for i, j in zip(*places):
        if base[i][1] == SHT_RELA:
            if len(base[i][4]) != len(head[j][4]):
                raise Differs(base[i][0])
            aligned = list(head)
            aligned[i:i + 1] = [head[j]] if i < len(head) else []
            compare_relocations(base, aligned if i != j else head, i, forth, back)
        elif base[i][4] != head[j][4]:
            raise Differs(base[i][0])
    texts = [[s[4] for s in side if s[0].startswith(READ_ONLY)] for side in (base, head)]
    return texts[0] != texts[1]


def kernels_of(path):
    """Hashes of the kernels and constants in a CUDA object's cubins, ELF files that -no-compress leaves as they are."""
    data = path.read_bytes()
    found = collections.Counter()
    at = data.find(b"\x7fELF", 1)
    while at >= 0:
        (offset,) = struct.unpack_from("<Q", data, at + 40)
        size, count = struct.unpack_from("<HH", data, at + 58)
        end = at + offset + size * count
        for name, _, _, _, contents in sections_of(data[at:end]):
            if name.startswith(KERNEL):
                raw = contents if isinstance(contents, bytes) else str(contents).encode()
                found[hashlib.sha256(raw).hexdigest()] += 1
        at = data.find(b"\x7fELF", end)
    return found


def compare(old, new, is_cuda):
    if not is_cuda:
        return compare_object(old, new)
    kernels = kernels_of(old), kernels_of(new)
    if not kernels[0]:
        raise Differs("no cubin was found")
    if kernels[0] != kernels[1]:
        raise Differs(f"{sum((kernels[0] - kernels[1]).values())} kernels or constants")
    return False


def objects_of(build):
    """{(source file, n): object} of a build; n counts the targets that compile the same file, as those of the instruction sets.
    An object lies in CMakeFiles/TARGET.dir, below the folder of its CMakeLists.txt."""
    found = {}
    for path in sorted(pathlib.Path(build).rglob("*.o")):
        parts = path.relative_to(build).parts
        at = next(i for i, part in enumerate(parts) if part.endswith(".dir"))
        source = "/".join(parts[:at - 1] + parts[at + 1:])[:-2]
        n = 0
        while (source, n) in found:
            n += 1
        found[source, n] = path
    return found


def main():
    base, head = objects_of(sys.argv[1]), objects_of(sys.argv[2])
    moved = dict(line.rstrip("\n").split("\t")[1:] for line in open(sys.argv[3]))
    folders = tuple(folder.rstrip("/") + "/" for folder in sys.argv[4:])
    is_wanted = lambda key: not folders or key[0].startswith(folders)
    same = texts = 0
    wrong = []
    seen = set()
    for key in filter(is_wanted, base):
        source = key[0]
        other = (moved.get(source, source), key[1])
        seen.add(other)
        if other not in head:
            wrong.append(f"{source}: has no counterpart")
            continue
        try:
            texts += compare(base[key], head[other], source.endswith(".cu"))
            same += 1
        except Differs as why:
            wrong.append(f"{source}: {why}")
    wrong += [f"{key[0]}: is new" for key in filter(is_wanted, head) if key not in seen]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{same} objects have the same code and data, {len(wrong)} have not; {texts} of the same have other texts in .rodata")
    return 1 if wrong or not same else 0


sys.exit(main())
