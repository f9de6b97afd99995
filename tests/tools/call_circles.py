#!/usr/bin/env python3
"""Which files call each other in circles? Called by ctest beside tests/layers.cmake, which checks includes.

    call_circles.py ROOT [--table FILE]     checks the sources of ROOT against the table (call_circles.txt beside this file)

Two kinds of circles are found in the calls of all functions, which are read from the sources:

  recursion   functions of several files that call each other recursively, as the functions of a grammar do;
  circle      files that call each other although no recursion runs through them. One of them holds functions that belong
              into a file below both. The files of a recursion count as one file here.

A row of the table names files below a folder, which may be patterns (*), and the reason why they may be in such a circle:

  recursion FOLDER: FILE FILE ... | REASON

Exit code 0: the files of every circle are in one row of its kind, and every row has a circle. 1: they differ; each
difference is printed, with the calls that make the circle. 2: wrong arguments.

A call is a function's name before a parenthesis. Functions that are only named, as in a table or as an argument, are not
called there. Static inline functions of a header, and macros, count as a part of the file that uses them."""
import fnmatch
import os
import re
import sys

TOPS = ("kernels", "engine", "tasks", "evalcore", "answer_check", "code_check")
SOURCES = (".c", ".cu", ".cc")
HEADERS = (".h", ".cuh", ".inc")
TOKEN = re.compile(
    r'\s+|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|\d[\w.]*|<<<|>>>|->|::|.', re.S)
WITH_PARENTHESES = {"__attribute__", "__launch_bounds__", "__align__", "alignas", "_Alignas", "decltype", "_Static_assert"}


class Function:
    def __init__(self, name, file, is_static):
        self.name, self.file, self.is_static = name, file, is_static
        self.parameters = set()
        self.called = set()  # names
        self.calls = set()  # Functions


def calls_in(tokens):
    """Names before a parenthesis, a launch of a kernel or template arguments, that are no members."""
    for i, token in enumerate(tokens):
        if (token[0].isalpha() or token[0] == "_") and i + 1 < len(tokens) and tokens[i + 1] in ("(", "<<<", "<"):
            if i == 0 or tokens[i - 1] not in (".", "->"):
                yield token


def clean(text):
    """The tokens of a source without blanks, comments, literals and directives, and its macros as (name, tokens)."""
    text = text.replace("\\\n", " ")
    tokens, macros, directives = [], [], []
    at_line_start = True
    position = 0
    while position < len(text):
        match = TOKEN.match(text, position)
        token = match.group(0)
        if token == "#" and at_line_start:
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            directives.append(text[position:end])
            position = end
            continue
        position = match.end()
        if token[0].isspace():
            at_line_start |= "\n" in token
        elif token.startswith(("//", "/*")):
            pass
        else:
            at_line_start = False
            tokens.append('""' if token[0] in "\"'" else token)
    for directive in directives:
        match = re.match(r"#\s*define\s+(\w+)(.*)", directive, re.S)
        if match:
            body = [t for t in TOKEN.findall(match.group(2)) if not t[0].isspace() and not t.startswith(("//", "/*"))]
            macros.append((match.group(1), body))
    return tokens, macros


def function_name(head):
    """(name, index of its opening parenthesis) of the tokens before a brace, or None for anything but a function."""
    depth = angle = i = 0
    template = bool(head) and head[0] == "template"
    while i < len(head):
        token = head[i]
        if template and depth == 0 and token in "<>":
            angle += 1 if token == "<" else -1
            template = angle > 0
        elif angle == 0 and depth == 0 and token == "=":
            return None
        elif angle == 0 and token == "(":
            if depth == 0 and i and re.match(r"[A-Za-z_]", head[i - 1]) and head[i - 1] not in WITH_PARENTHESES:
                return head[i - 1], i
            depth += 1
        elif angle == 0 and token == ")":
            depth -= 1
        i += 1
    return None


def parse(file, text):
    """The functions that a file defines, and its macros as functions."""
    tokens, macros = clean(text)
    functions = []
    for name, body in macros:
        macro = Function(name, file, True)
        macro.called = set(calls_in(body))
        macro.is_macro = True
        functions.append(macro)
    depth, head, current, body = 0, [], None, []
    for token in tokens:
        if depth == 0:
            if token == "{":
                if head[-2:] == ["extern", '""'] or "namespace" in head:
                    head = []
                    continue
                named = function_name(head)
                if named:
                    current = Function(named[0], file, "static" in head[:named[1]])
                    rest = head[named[1]:]
                    current.parameters = {b for a, b in zip(rest, rest[1:]) if a not in ("struct", "union", "enum")}
                    body = []
                depth = 1
            elif token in (";", "}"):
                head = []
            else:
                head.append(token)
            continue
        depth += (token == "{") - (token == "}")
        if current:
            body.append(token)
        if depth == 0:
            if current:
                current.called = set(calls_in(body)) - current.parameters
                functions.append(current)
                head = []
            current = None
    return functions


def read_sources(root):
    functions = []
    for top in TOPS:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(SOURCES + HEADERS):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8", errors="replace") as source:
                        functions += parse(os.path.relpath(path, root), source.read())
    return functions


def resolve(functions):
    """Sets the calls of each function: to a function of its own file, or a global one, or one of a header."""
    own, shared = {}, {}
    for f in functions:
        own.setdefault((f.file, f.name), []).append(f)
        if not f.is_static or f.file.endswith(HEADERS):
            shared.setdefault(f.name, []).append(f)
    for f in functions:
        for name in f.called:
            found = own.get((f.file, name)) or shared.get(name, [])
            near = [g for g in found if os.path.dirname(g.file) == os.path.dirname(f.file)]
            f.calls.update(near or found)
        f.calls.discard(f)


def through_headers(functions):
    """Replaces calls of functions in headers and of macros by what these call."""
    def passes(g):
        return g.file.endswith(HEADERS)
    for f in functions:
        if passes(f):
            continue
        calls, pending, seen = set(), list(f.calls), set()
        while pending:
            g = pending.pop()
            if not passes(g):
                calls.add(g)
            elif g not in seen:
                seen.add(g)
                pending += g.calls
        f.calls = calls
    return [f for f in functions if not passes(f)]


def components(nodes, edges):
    """Strongly connected components (Tarjan, without recursion) of more than one node."""
    index, low, stack, on_stack, out = {}, {}, [], set(), []
    for start in nodes:
        if start in index:
            continue
        work = [(start, iter(edges(start)))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(edges(target))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = []
                    while not part or part[-1] is not node:
                        part.append(stack.pop())
                        on_stack.discard(part[-1])
                    if len(part) > 1:
                        out.append(part)
    return out


def find_circles(functions):
    """{(kind, files): calls that make it}, files as a sorted tuple."""
    found = {}
    group = {}  # of a file: the files of its recursions, which count as one
    for part in components(functions, lambda f: f.calls):
        files = tuple(sorted({f.file for f in part}))
        if len(files) > 1:
            inside = set(part)
            found["recursion", files] = [(f, g) for f in part for g in f.calls if g in inside and g.file != f.file]
            merged = set(files).union(*(group.get(file, ()) for file in files))
            for file in merged:
                group[file] = frozenset(merged)
    unit = {f.file: group.get(f.file, frozenset([f.file])) for f in functions}
    calls = {}
    for f in functions:
        for g in f.calls:
            if unit[f.file] != unit[g.file]:
                calls.setdefault(unit[f.file], {}).setdefault(unit[g.file], []).append((f, g))
    for part in components(sorted(set(unit.values()), key=sorted), lambda u: calls.get(u, {})):
        files = tuple(sorted(file for u in part for file in u))
        found["circle", files] = [pair for u in part for v in part for pair in calls.get(u, {}).get(v, [])]
    return found


def read_table(path):
    """[(kind, patterns, line)]"""
    rows = []
    with open(path, encoding="utf-8") as table:
        for line in table:
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            match = re.fullmatch(r"(recursion|circle) (\S+): ([^|]+)\|\s*(\S.*)", line)
            if not match:
                sys.exit(f"{path}: no row of a table: {line}")
            kind, folder, files, _ = match.groups()
            rows.append((kind, [f"{folder}/{name}" for name in files.split()], line))
    return rows


def is_row_of(row, kind, files):
    return row[0] == kind and all(any(fnmatch.fnmatch(file, p) for p in row[1]) for file in files)


def describe(kind, files, calls):
    lines = [f"{kind} of {len(files)} files: {' '.join(files)}"]
    shown = {}
    for f, g in calls:
        shown.setdefault((f.file, g.file), set()).add(g.name)
    for (a, b), names in sorted(shown.items()):
        names = sorted(names)
        more = f" and {len(names) - 4} more" if len(names) > 4 else ""
        lines.append(f"    {a} calls {', '.join(names[:4])}{more} of {b}")
    return "\n".join(lines)


def main(arguments):
    table = os.path.join(os.path.dirname(os.path.abspath(__file__)), "call_circles.txt")
    if len(arguments) == 3 and arguments[1] == "--table":
        table = arguments[2]
    elif len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    functions = read_sources(arguments[0])
    resolve(functions)
    circles = find_circles(through_headers(functions))
    rows = read_table(table)
    unlisted = [key for key in sorted(circles) if not any(is_row_of(row, *key) for row in rows)]
    idle = [row for row in rows if not any(is_row_of(row, *key) for key in circles)]
    for key in unlisted:
        print("not in the table:", describe(*key, circles[key]))
    for row in idle:
        print("in the table, but not in the sources:", row[2])
    return int(bool(unlisted or idle))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
