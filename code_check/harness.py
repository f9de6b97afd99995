# The program inside the sandbox: it runs one submission for tests that come one by one, as LiveCodeBench's
# evaluation/testing_util.py does (commit 28fef95). What is right is decided outside; no expected output is ever here.
#
# Descriptor 0 is a socket. In: length (8 bytes, little-endian) and bytes: first "call NAME" or "program", then the
# submission, then one input after the other. Out: a letter, length and bytes:
#   H  the interpreter is there (what it is)       C  the submission is compiled
#   O  what a program wrote, or a value as JSON   V  a value that equals no JSON value
#   E  what was raised
import ast, io, json, operator, os, resource, sys
from importlib.util import find_spec
from types import ModuleType

sys.set_int_max_str_digits(50000)
os.environ["OMP_NUM_THREADS"] = "1"

channel = os.dup(0)
nowhere = os.open("/dev/null", os.O_RDWR)
for fd in (0, 1, 2):
    os.dup2(nowhere, fd)
sys.stdin = open(0, closefd=False)
resource.setrlimit(resource.RLIMIT_NPROC, (THREADS, THREADS))


def take(n, read=os.read):
    data = bytearray()
    while len(data) < n:
        part = read(channel, min(n - len(data), 1 << 20))
        if not part:
            os._exit(0)
        data += part
    return bytes(data)


def receive():
    return take(int.from_bytes(take(8), "little")).decode("utf-8", "surrogatepass")


def send(kind, text, write=os.write):
    data = text.encode("utf-8", "surrogatepass")
    data = kind.encode() + len(data).to_bytes(8, "little") + data
    while data:
        data = data[write(channel, data):]


# The names that a submission finds without an import.
STARS = ("string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys "
         "json builtins typing").split()
PRELUDE = "".join(f"from {m} import *\n" for m in STARS) + "".join(f"import {m}\n" for m in STARS[:-2])
PRELUDE += "sys.setrecursionlimit(50000)\n"


# What the original takes away from a submission (its reliability_guard), so that the same ones fail here.
def take_away():
    import builtins, shutil, subprocess
    builtins.quit = None
    builtins.help = None
    for name in ("kill system putenv remove removedirs rmdir fchdir setuid fork forkpty killpg rename renames truncate "
                 "replace unlink fchmod fchown chmod chown chroot lchflags lchmod lchown getcwd chdir").split():
        setattr(os, name, None)
    shutil.rmtree = shutil.move = shutil.chown = subprocess.Popen = None
    for name in ("ipdb", "joblib", "resource", "psutil", "tkinter"):
        sys.modules[name] = None


def load(source):
    module = ModuleType("tmp_sol", "")
    exec(source, module.__dict__)
    return module


# A program becomes a function: its imports in front, its main block, if that ends it, without the condition.
def as_function(code):
    try:
        body = ast.parse(code).body
        last = body[-1]
        if isinstance(last, ast.If) and ast.unparse(last.test).strip() == "__name__ == '__main__'":
            code = ast.unparse(body[:-1]) + "\n" + ast.unparse(last.body)
    except BaseException:
        pass
    try:
        imports, rest = [], []
        for statement in ast.parse(code).body:
            (imports if isinstance(statement, (ast.Import, ast.ImportFrom)) else rest).append(statement)
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        function = ast.FunctionDef(name="wrapped_function", args=nothing, body=rest, decorator_list=[], lineno=-1)
        return PRELUDE + "\n" + ast.unparse(imports) + "\n" + ast.unparse(function)
    except Exception:
        return code


# Standard input of a test: whole texts and lines, but no iteration, and of bytes the first line only.
class Bytes:
    def __init__(self, text):
        self.inputs = text.encode("utf-8")

    def read(self, *_):
        return self.inputs

    def readline(self, *_):
        return self.inputs.split(b"\n")[0] + b"\n"


class Input:
    def __init__(self, text):
        self.inputs = text
        self._stringio = io.StringIO(text)
        self.buffer = Bytes(text)

    def read(self, *_):
        return self.inputs

    def readline(self, *a):
        return self._stringio.readline(*a)

    def readlines(self, *_):
        return self.inputs.split("\n")

    def __getattr__(self, name):
        return getattr(self._stringio, name)


def run_program(function, text):
    first, lines = sys.stdin, iter(text.split("\n"))
    written, stdout = io.StringIO(), sys.stdout
    written.close = lambda *_: 1
    # `from sys import stdin` has the process's own, which answers too for the time of the test.
    first.read = lambda *_: text
    first.readlines = lambda *_: text.split("\n")
    first.readline = lambda *_: next(lines)
    sys.stdin, sys.stdout = Input(text), written
    try:
        function()
    except SystemExit:
        pass
    finally:
        sys.stdin, sys.stdout = first, stdout
        for name in ("read", "readlines", "readline"):
            first.__dict__.pop(name, None)
    return written.getvalue()


class OtherValue(Exception):
    pass


# The value as JSON has it, where Python's == would find it equal to one that was read from JSON.
def as_json(v):
    if v is None or isinstance(v, bool):
        return v
    if isinstance(v, str):
        return str.__str__(v)
    if isinstance(v, int):
        return int.__int__(v)
    if isinstance(v, float):
        return float.__float__(v)
    if isinstance(v, list):
        return [as_json(x) for x in list.__iter__(v)]
    if isinstance(v, dict):
        if any(not isinstance(k, str) for k in v):
            raise OtherValue
        return {str.__str__(k): as_json(x) for k, x in v.items()}
    if hasattr(type(v), "__index__"):
        return operator.index(v)
    if hasattr(type(v), "__float__") and float(v) == v:
        return float(v)
    raise OtherValue


def call_method(method, text):
    value = method(*[json.loads(line) for line in text.split("\n")])
    return json.dumps(as_json(list(value) if isinstance(value, tuple) else value))


def serve():
    send("H", sys.version.split()[0] + (" with NumPy" if find_spec("numpy") else " without NumPy"))
    kind, code = receive(), receive()
    if "numpy" in code:  # the original has it loaded, and it does not load behind take_away()
        try:
            import numpy
        except ImportError:
            pass
    take_away()
    try:
        if kind == "program":
            source, name = as_function(code), "wrapped_function"
        else:
            source, name = PRELUDE + "\n\n" + code, kind[len("call "):]
        module = load(source)
        if "class Solution" in source:
            module = module.Solution()
        function = getattr(module, name)
    except BaseException as e:
        return send("E", type(e).__name__)
    send("C", "")
    while True:
        text = receive()
        try:
            answer = run_program(function, text) if kind == "program" else call_method(function, text)
        except OtherValue:
            send("V", "")
        except BaseException as e:
            send("E", type(e).__name__)
        else:
            send("O", answer)


serve()
