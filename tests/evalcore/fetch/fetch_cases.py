"""fetch against a local server that misbehaves: fetch_cases.py FETCH_TOOL KVEVAL, in a scratch folder."""
import hashlib, os, shutil, signal, subprocess, sys, time

import local_server

tool, program = sys.argv[1:3]
BODY = b"".join(b'{"problem": "%d + 1", "answer": "%d"}\n' % (i, i + 1) for i in range(3000))
SHA = hashlib.sha256(BODY).hexdigest()
TOKEN = "hf_madeuptokenofthetest"
USAGE, IO, FORMAT = -1, -2, -3
seen = []  # (port, case, token came with it, Range)
failures = 0


class Handler(local_server.Handler):
    def do_GET(self):
        case = self.path.rsplit("/", 1)[1]
        port = self.server.server_address[1]
        first = not any(s[1] == case for s in seen)
        seen.append((port, case, TOKEN in str(self.headers), self.headers.get("Range")))
        if case == "relative" and first:
            self.answer(307, b"moved", Location="/datasets/new/name/resolve/0123/relative")
        elif case == "absolute" and port == ports[0]:
            self.answer(302, b"moved", Location="http://127.0.0.1:%d/cdn/absolute" % ports[1])
        elif case == "loop":
            self.answer(302, b"moved", Location="/x/loop")
        elif case == "drop" and first:
            self.answer(200, BODY[: len(BODY) // 2], length=len(BODY))
        elif case == "norange":
            self.answer(200, BODY)
        elif case == "wrong":
            self.answer(200, BODY[:-1] + b"!")
        elif case.startswith("s4") or case == "s503":
            self.answer(int(case[1:]), b"page of an error, with " + TOKEN.encode())
        elif case == "busy" and first:
            self.answer(429, b"slowly", Retry_After="1")
        elif case == "slow":
            self.answer(200, BODY[:1000], length=len(BODY))
            self.close_connection = False
            time.sleep(3)
        else:
            self.body(BODY)


def check(ok, *what):
    global failures
    if not ok:
        failures += 1
        print("FAILED:", *what)


def fetch(case, *more, before=None, kill_after=None, sha=SHA):
    """Returns (code, signal, message, the file's bytes or None)."""
    seen.clear()
    shutil.rmtree("data", ignore_errors=True)
    os.makedirs("data/made")
    if before is not None:
        with open("data/made/up.jsonl.1.incomplete", "wb") as f:
            f.write(before)
    p = subprocess.Popen([tool, "http://127.0.0.1:%d" % ports[0], TOKEN, "data", case, sha, *more],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if kill_after:
        time.sleep(kill_after)
        p.send_signal(signal.SIGTERM)
    out = p.communicate(timeout=20)[0]
    check(TOKEN not in out, case, "prints the token:", out)
    check(out.count("\n") == 1, case, "is not one sentence:", out)
    code, stopped, text = out.rstrip("\n").split(" ", 2)
    path = "data/made/up.jsonl"
    got = open(path, "rb").read() if os.path.exists(path) else None
    check((got is None) == (code != "0" or stopped != "0"), case, "file and code differ:", out)
    return int(code), int(stopped), text, got


def good(case, **how):
    code, _, text, got = fetch(case, **how)
    check(code == 0 and got == BODY, case, code, text)
    check(os.listdir("data/made") == ["up.jsonl"], case, "leaves", os.listdir("data/made"))


def bad(case, want, words, **how):
    code, _, text, got = fetch(case, **how)
    check(code == want and words in text and got is None, case, code, text)


ports = local_server.start(Handler, 2)
for name in list(os.environ):
    if name.lower().endswith("_proxy") or name.startswith("HF_"):
        del os.environ[name]

good("plain")
check(seen == [(ports[0], "plain", True, None)], "plain:", seen)
good("relative")
check([s[2] for s in seen] == [True, True], "the token stays with its host:", seen)
good("absolute")
check([(s[0], s[2]) for s in seen] == [(ports[0], True), (ports[1], False)], "the token went abroad:", seen)
good("drop")
check(seen[1][3] == "bytes=%d-" % (len(BODY) // 2), "drop does not go on where it ended:", seen)
good("kept", before=BODY[:777])
check(seen[0][3] == "bytes=777-", "kept:", seen)
good("norange", before=BODY[:777])
good("whole", before=BODY)
check(not seen, "whole bytes are fetched again:", seen)
good("longer", before=BODY + b"x")  # answered with 416
good("busy")
bad("kept", FORMAT, "SHA-256", before=b"x" * 777)
check(os.listdir("data/made") == [], "wrong bytes stay:", os.listdir("data/made"))
bad("wrong", FORMAT, "is not the file that is expected")
bad("loop", IO, "redirect")
bad("s401", USAGE, "made/up is gated: agree to its terms on http://127.0.0.1")
bad("s403", USAGE, "(403)")
bad("s404", IO, "no such file (404)")
check(len(seen) == 1, "404 is tried again:", seen)
bad("s416", IO, "416")
bad("s429", IO, "429")
check(len(seen) == 3, "429 is not tried again:", seen)
bad("s503", IO, "503")
bad("slow", IO, "repeat the command")
check(os.path.getsize("data/made/up.jsonl.1.incomplete") >= 1000, "what has arrived is not kept")
code, stopped, _, got = fetch("slow", kill_after=0.5)
check((code, stopped, got) == (0, signal.SIGTERM, None), "SIGTERM:", code, stopped)
check(os.path.getsize("data/made/up.jsonl.1.incomplete") == 1000, "SIGTERM loses what has arrived")
code, _, text, got = fetch("one", "two", SHA)
check(code == 0 and got == BODY + BODY, "two parts:", code, text)


def kveval(want, words, *args, **environment):
    p = subprocess.run([program, "fetch", *args], capture_output=True, text=True, timeout=20,
                       env={**os.environ, "HF_TOKEN": TOKEN, "HF_ENDPOINT": "http://127.0.0.1:%d/" % ports[0],
                            **environment})
    check(p.returncode == want and words in p.stdout + p.stderr, args, p.returncode, p.stdout, p.stderr)
    check(TOKEN not in p.stdout + p.stderr, args, "prints the token")


shutil.rmtree("data", ignore_errors=True)
kveval(0, "math500           MISSING  HuggingFaceH4/MATH-500              6e4ed1a2  35dc41080a  MIT\n", "--list", "--data", "data")
kveval(0, "minerva           MISSING  QwenLM/Qwen2.5-Math                 a45202bd  0e656b430d  CC-BY-NC-SA-4.0", "--list", "--data", "data")
kveval(0, "supergpqa         MISSING  SuperGPQA/SuperGPQA                 03a3e278  not known   ODC-BY\n", "--list", "--data", "data")
kveval(0, "MISSING  cais/mmlu                           main      rows        MIT\n"
       "                  MISSING  cais/mmlu                           main      not known   dev.jsonl\n", "--list", "--data", "data")
kveval(2, "did you mean math500", "math50", "--data", "data")
kveval(2, "no data folder", "math500")
kveval(2, "HF_HUB_OFFLINE", "math500", "--data", "data", HF_HUB_OFFLINE="1")
seen.clear()
kveval(3, "is not the file that is expected", "math500", "--data", "data")
check(seen == [(ports[0], "test.jsonl", True, None)], "math500:", seen)
check(os.listdir("data/math500") == [], "a wrong math500 stays")
open("file", "w").close()
kveval(3, "is not a folder", "math500", "--data", "file")
print(failures, "checks failed")
sys.exit(failures > 0)
