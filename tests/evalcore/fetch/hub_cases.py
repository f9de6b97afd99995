"""fetch of models, rows and archives against a local Hub that misbehaves: hub_cases.py KVEVAL, in a scratch folder."""
import fcntl, hashlib, io, json, os, shutil, signal, subprocess, sys, time, zipfile

import local_server

program = os.path.abspath(sys.argv[1])
TOKEN = "hf_madeuptokenofthetest"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ID = "own/Model-1.5B"
failures = 0
files = {}  # path -> bytes
faults = {}  # path -> faults, each for one request; the last one stays when it is repeated by "always"
seen = []  # (port, path, token came with it, Range)


def sha256(b):
    return hashlib.sha256(b).hexdigest()


def git_hash(b):
    return hashlib.sha1(b"blob %d\0" % len(b) + b).hexdigest()


class Handler(local_server.Handler):
    def do_GET(self):
        port = self.server.server_address[1]
        seen.append((port, self.path, TOKEN in str(self.headers), self.headers.get("Range")))
        body = files.get(self.path.replace("/cdn", "", 1))
        waiting = faults.get(self.path, [])
        fault = waiting[0] if waiting else None
        if waiting and waiting[-1] != "always":
            waiting.pop(0)
        page = b"page of an error, with " + TOKEN.encode()
        if fault in (401, 403):
            self.answer(fault, page, X_Error_Code="GatedRepo" if fault == 403 else "RepoNotFound")
        elif fault == 429:
            self.answer(429, page, Retry_After="1")
        elif isinstance(fault, int):
            self.answer(fault, page)
        elif fault == "cdn":
            self.answer(302, b"moved", Location="http://127.0.0.1:%d/cdn%s" % (ports[1], self.path))
        elif fault == "moved":
            self.answer(307, b"moved", Location="/cdn" + self.path)
        elif fault == "drop":
            self.body(body, 2)
        elif fault == "wrong":
            self.answer(200, body[:-1] + b"!")
        elif fault == "long":
            self.answer(200, body + b"x")
        elif fault == "slow":
            self.answer(200, body[:10], length=len(body))
            time.sleep(2)
        elif body is None:
            self.answer(404, page, X_Error_Code="EntryNotFound")
        else:
            self.body(body)


def check(ok, *what):
    global failures
    if not ok:
        failures += 1
        print("FAILED:", *what)


ENV = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy") and not k.startswith(("HF_", "XDG_"))}
OPTIONS = ["--retries", "2", "--wait", "0.05", "--stall", "1"]


def start(*args, **env):
    seen.clear()
    env = {**ENV, "HF_HOME": os.path.abspath("hf"), "HF_TOKEN": TOKEN, "HF_ENDPOINT": base, **env}
    return subprocess.Popen([program, "fetch", "--rows-server", base + "/rows-server", *OPTIONS, *args],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)


def finish(p, want, words, sentences=1):
    out = p.communicate(timeout=30)[0]
    check(p.returncode == want and words in out, p.args[10:], "exit", p.returncode, "want", want, words, "said:", out)
    check(TOKEN not in out and "page of an error" not in out, p.args, "prints what it must not:", out)
    check(out.count("\n") == sentences, p.args, "is not one sentence:", out)
    return out


def fetch(want, words, *args, **env):
    return finish(start(*args, **env), want, words)


def fresh(**broken):
    """A cache without anything, and faults by the file's name."""
    shutil.rmtree("hf", ignore_errors=True)
    shutil.rmtree("data", ignore_errors=True)
    faults.clear()
    for name, what in broken.items():
        faults[path_of(name.replace("__", "-").replace("_", "."))] = list(what)


# ---- a model

CONFIG = json.dumps({"model_type": "llama"}).encode()
SHARDS = {"model-00001-of-00002.safetensors": b"first shard " * 5000, "model-00002-of-00002.safetensors": b"second"}
INDEX = json.dumps({"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors",
                                   "c": "model-00001-of-00002.safetensors"}}).encode()
MODEL = {"config.json": CONFIG, "generation_config.json": b"{}", "tokenizer.json": b'{"model": {}}' * 999,
         "tokenizer_config.json": b'{"a": 1}', "chat_template.jinja": b"{{ x }}", "LICENSE": b"any",
         "model.safetensors.index.json": INDEX, **SHARDS}
LARGE = {"tokenizer.json", *SHARDS}
OTHER = ["pytorch_model.bin", "consolidated.00.pth", "onnx/model.onnx", "model.gguf", "README.md", "../config.json",
         "consolidated.safetensors"]
LISTING = "/api/models/%s/revision/%s?blobs=true"


def path_of(name):
    return LISTING % (ID, "main") if name == "listing" else "/%s/resolve/%s/%s" % (ID, COMMIT, name)


def sibling(name, body, large):
    one = {"rfilename": name, "size": len(body), "blobId": git_hash(body)}
    return {**one, "lfs": {"sha256": sha256(body), "size": len(body), "pointerSize": 134}} if large else one


def listing(model, commit=COMMIT, extra=()):
    rows = [sibling(n, b, n in LARGE) for n, b in model.items()] + [sibling(n, b"other", True) for n in OTHER]
    return json.dumps({"id": ID, "sha": commit, "siblings": rows + list(extra)}).encode()


def serve(model=MODEL, revision="main", commit=COMMIT, extra=()):
    files[LISTING % (ID, revision)] = listing(model, commit, extra)
    for name, body in model.items():
        files["/%s/resolve/%s/%s" % (ID, commit, name)] = body


REPO = "hf/hub/models--own--Model-1.5B"


def snapshot(commit=COMMIT):
    folder = REPO + "/snapshots/" + commit
    return {n: open(os.path.join(folder, n), "rb").read() for n in os.listdir(folder)} if os.path.isdir(folder) else {}


def good(*args, **env):
    fetch(0, "commit " + COMMIT, ID, *args, **env)
    check(snapshot() == MODEL, "snapshot:", {n: len(b) for n, b in snapshot().items()}, seen)
    check(open(REPO + "/refs/main").read() == COMMIT, "refs/main")
    left = [n for n in os.listdir(REPO + "/blobs") if "incomplete" in n]
    check(not left, "left:", left)


def bad(want, words, *args, **env):
    fetch(want, words, ID, *args, **env)
    check(not os.path.exists(REPO + "/refs"), "a revision is named although something is missing:", words)
    check(not snapshot(), "half a snapshot:", words)


def models():
    serve()
    fresh()
    good()
    check(all(s[2] for s in seen), "the token is needed everywhere at home:", seen)
    check(len(seen) == 1 + len(MODEL), "each file once:", [s[1] for s in seen])
    for name, body in MODEL.items():
        link = os.readlink("%s/snapshots/%s/%s" % (REPO, COMMIT, name))
        check(link == "../../blobs/" + (sha256(body) if name in LARGE else git_hash(body)), "link:", name, link)
    good()
    check(len(seen) == 1, "what is there is fetched again:", seen)
    out = subprocess.run([program, "fetch", "--list"], capture_output=True, text=True,
                         env={**ENV, "HF_HOME": os.path.abspath("hf")}, timeout=30).stdout
    check("own/Model-1.5B" in out and "01234567" in out, "--list:", out)
    check(max(map(len, out.splitlines())) <= 110, "--list is too wide:", out)
    p = subprocess.run([program, "fetch", ID], capture_output=True, text=True, timeout=30,
                       env={**ENV, "HF_HOME": os.path.abspath("hf"), "HF_HUB_OFFLINE": "1", "HF_ENDPOINT": base})
    check(p.returncode == 0 and "is there already" in p.stderr, "offline:", p.stderr)

    # another revision shares the blobs, and a commit needs no ref
    commit = "f" * 40
    serve({**MODEL, "config.json": CONFIG + b"\n"}, "v2", commit)
    serve({**MODEL, "config.json": CONFIG + b"\n"}, commit, commit)
    fetch(0, "1 of them fetched now", ID + "@v2")
    check(open(REPO + "/refs/v2").read() == commit and snapshot(commit)["config.json"] == CONFIG + b"\n", "v2")
    fetch(0, "0 of them fetched now", ID + "@" + commit)
    # a mirror that answers a commit with another one
    serve(MODEL, "b" * 40, commit)
    fetch(3, "the server lists commit " + commit + " where " + "b" * 40 + " was asked for", ID + "@" + "b" * 40)
    check(not os.path.exists(REPO + "/refs/" + "b" * 40), "another commit is taken for the one that was asked for")
    check(sorted(os.listdir(REPO + "/refs")) == ["main", "v2"], "refs:", os.listdir(REPO + "/refs"))

    # redirects: within the host with the token, to another port without
    fresh(config_json=["moved"], tokenizer_json=["cdn"])
    good()
    went = {(s[0], s[2]) for s in seen if s[1].startswith("/cdn")}
    check(went == {(ports[0], True), (ports[1], False)}, "the token's way:", seen)

    first = "model__00001__of__00002_safetensors"
    fresh(**{first: ["drop", "drop", "drop", "drop"]})
    good()  # more breaks than retries, but each brought something
    ranges = [s[3] for s in seen if "00001" in s[1]]
    half = len(SHARDS["model-00001-of-00002.safetensors"]) // 2
    check(ranges[:2] == [None, "bytes=%d-" % half], "does not go on where it ended:", ranges)
    fresh(listing=[503], config_json=[500], tokenizer_json=[429])
    good()
    fresh(**{first: [416]})
    bad(3, "416")
    fresh(config_json=["wrong"])
    bad(3, "what arrived is not the file that the Hub lists")
    check(not any("incomplete" in n for n in os.listdir(REPO + "/blobs")), "wrong bytes are kept")
    fresh(**{first: ["wrong"]})
    bad(3, "what arrived is not the file that the Hub lists")
    good()  # what was right is kept: only that shard and the one behind it are fetched
    check(len(seen) == 3, "fetched again:", [s[1] for s in seen])
    fresh(**{first: ["long", "always"]})
    bad(3, "more than the %d bytes" % (2 * half))
    fresh(listing=[401])
    bad(2, "no such repository, or it is private")
    check(len(seen) == 1, "401 is tried again")
    fresh(listing=[403])
    bad(2, "it is gated")
    fresh(config_json=[403])
    bad(2, "agree to its terms on %s/%s" % (base, ID))
    fresh(listing=[401])
    bad(2, "give your token in HF_TOKEN", HF_TOKEN="")
    fresh(listing=[404])
    bad(3, "(404)")
    fresh(**{first: ["slow", "always"]})
    bad(3, "repeat the command to go on", "--retries", "0")
    check(any("incomplete" in n for n in os.listdir(REPO + "/blobs")), "what has arrived is not kept")
    faults.clear()
    good()
    fresh(**{first: ["slow", "always"]})
    p = start(ID)
    while not any("00001" in s[1] for s in seen):
        time.sleep(0.02)
    p.send_signal(signal.SIGTERM)
    finish(p, 75, "what has arrived is kept")
    check(not os.path.exists(REPO + "/refs"), "SIGTERM names a revision")

    # a blob under its final name that is not what the Hub lists: torn, empty, longer, another of the same size
    fresh()
    good()
    blob = REPO + "/blobs/" + sha256(SHARDS["model-00001-of-00002.safetensors"])
    whole = open(blob, "rb").read()
    small = REPO + "/blobs/" + git_hash(CONFIG)
    for path, bytes_there in ((blob, whole[:-9]), (blob, b""), (blob, whole + b"x"), (small, CONFIG[:3])):
        open(path, "wb").write(bytes_there)
        good()
        check(len(seen) == 2, "a torn blob is not fetched again, or others are:", [s[1] for s in seen])
    flipped = bytes([whole[0] ^ 1]) + whole[1:]
    open(blob, "wb").write(flipped)
    fetch(0, "0 of them fetched now", ID)
    fetch(0, "1 of them fetched now", ID, "--verify")
    good("--verify")
    check(len(seen) == 1, "whole blobs are fetched again by --verify:", [s[1] for s in seen])
    # a blob that is gone, and a copy in the snapshot in the place of its link
    os.unlink(blob)
    good()
    link = "%s/snapshots/%s/config.json" % (REPO, COMMIT)
    os.unlink(link)
    open(link, "wb").write(b"{")
    good()
    check(os.path.islink(link), "a torn copy stays in the snapshot")
    # the home folder in HF_HOME
    p = subprocess.run([program, "fetch", ID], capture_output=True, text=True, timeout=30,
                       env={**ENV, "HOME": os.path.abspath("."), "HF_HOME": "~/hf", "HF_HUB_OFFLINE": "1", "HF_ENDPOINT": base})
    check(p.returncode == 0 and os.path.abspath("hf/hub") in p.stderr, "~ in HF_HOME:", p.stderr)

    # a file whose bytes are all there but that was not named yet
    fresh()
    blob = REPO + "/blobs/" + sha256(SHARDS["model-00001-of-00002.safetensors"])
    os.makedirs(REPO + "/blobs")
    open(blob + ".incomplete", "wb").write(SHARDS["model-00001-of-00002.safetensors"])
    good()
    check(not any("00001" in s[1] for s in seen), "whole bytes are fetched again")
    # another process has the lock of the Hub's library
    fresh()
    os.makedirs("hf/hub/.locks/models--own--Model-1.5B")
    with open("hf/hub/.locks/models--own--Model-1.5B/%s.lock" % os.path.basename(blob), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        bad(3, "another process is fetching it")
    good()

    fresh()
    bad(2, "HF_HUB_OFFLINE forbids", HF_HUB_OFFLINE="1")
    check(not seen, "offline asks the network")
    files[LISTING % (ID, "main")] = b"<html>login</html>"
    bad(3, "not valid JSON")
    files[LISTING % (ID, "main")] = json.dumps({"sha": "../..", "siblings": []}).encode()
    bad(3, "is no commit")
    serve({k: v for k, v in MODEL.items() if k != "config.json"})
    bad(3, "has no config.json")
    serve({k: v for k, v in MODEL.items() if k != "tokenizer.json"})
    bad(3, "has no tokenizer.json")
    check(len(seen) == 1, "a model that cannot be used is fetched")
    serve({k: v for k, v in MODEL.items() if "safetensors" not in k})
    bad(3, "no weights in safetensors form")
    serve({k: v for k, v in MODEL.items() if "00002-of" not in k})
    bad(3, "names a file that the repository does not have")
    serve(MODEL, extra=[{"rfilename": "model.safetensors", "size": 10**17, "blobId": "0" * 40,
                         "lfs": {"sha256": "0" * 64}}])
    bad(3, "GB left")
    serve(MODEL, extra=[{"rfilename": "model.safetensors", "size": 5, "blobId": "../../../etc"}])
    bad(3, "size or hash of model.safetensors cannot be right")
    serve({**MODEL, "model.safetensors": b"whole"})
    fresh()
    fetch(0, "commit", ID)
    check("model.safetensors.index.json" not in snapshot() and "model.safetensors" in snapshot(), "one file wins")


# ---- rows

ANSWERS = [104, 104, 110, 113, 116, 127, 197, 204, 211, 23, 236, 25, 294, 315, 321, 33, 371, 385, 45, 468, 480, 540,
           55, 601, 699, 721, 73, 80, 809, 902]
ROWS = "/rows-server/rows?dataset=HuggingFaceH4%2Faime_2024&config=default&split=train&offset=0&length=100"


def rows(change=None, total=30):
    page = [{"row_idx": i, "row": {"id": 60 + i, "problem": 'Made up "%d" é' % i, "answer": "%03d" % a, "url": "x"},
             "truncated_cells": []} for i, a in enumerate(ANSWERS)]
    if change:
        change(page)
    return json.dumps({"features": [], "rows": page, "num_rows_total": total, "partial": False}).encode()


def aime24():
    def refused(words, want=3, **env):
        fetch(want, words, "aime24", "--data", "data", **env)
        check(not os.path.exists("data/aime/aime24.jsonl"), "a wrong file stays:", words)

    fresh()
    files[ROWS] = rows()
    faults[ROWS] = [503, "cdn"]
    fetch(0, "answers as known", "aime24", "--data", "data")
    check(not any(s[2] for s in seen), "the token went to the rows interface")
    got = [json.loads(line) for line in open("data/aime/aime24.jsonl", encoding="utf-8")]
    check(len(got) == 30 and got[3] == {"id": 63, "problem": 'Made up "3" é', "answer": "113", "url": "x"}, "rows:", got[:4])
    fetch(0, "is there already", "aime24", "--data", "data")
    check(not seen, "fetched again")
    fresh()
    files[ROWS] = rows(lambda p: p[5]["row"].update(answer="128"))
    refused("the answers are not those of aime/aime24.jsonl")
    files[ROWS] = rows(lambda p: p[7].update(truncated_cells=["problem"]))
    refused("row 7 is missing or cut short")
    files[ROWS] = rows(lambda p: p.pop(9))
    refused("row 9 is missing or cut short")
    files[ROWS] = rows(lambda p: p[2]["row"].pop("answer"))
    refused('row 2 has no text "answer"')
    files[ROWS] = rows(lambda p: p[2].update(row=["no", "object"]))
    refused("row 2 is missing or cut short")
    files[ROWS] = rows(total=31)
    refused("has 31 rows there, 30 are expected")
    files[ROWS] = b'{"error": "The dataset is not ready"}'
    refused("num_rows_total")
    for status, want in ((401, 2), (403, 2), (404, 3), (429, 3), (500, 3)):
        faults[ROWS] = [status, "always"]
        refused("(%d)" % status if status < 429 else str(status), want)
    faults[ROWS] = ["slow", "always"]
    fetch(3, "repeat the command", "aime24", "--data", "data", "--retries", "0")
    refused("HF_HUB_OFFLINE", 2, HF_HUB_OFFLINE="1")


ANSWERS_2026 = [277, 62, 79, 70, 65, 441, 396, 244, 29, 156, 896, 161, 39, 681, 83, 178, 243, 503, 279, 190, 50, 754, 245,
                669, 850, 132, 223, 107, 157, 393]


def matharena():
    """MathArena's rows have problem_idx where others have id, and AIME's answers as numbers."""
    fresh()
    page = [{"row_idx": i, "row": {"problem_idx": i + 1, "answer": a, "problem": "Made up %d" % i}, "truncated_cells": []}
            for i, a in enumerate(ANSWERS_2026)]
    files["/rows-server/rows?dataset=MathArena%2Faime_2026&config=default&split=train&offset=0&length=100"] = json.dumps(
        {"features": [], "rows": page, "num_rows_total": 30, "partial": False}).encode()
    fetch(0, "answers as known", "aime26", "--data", "data")
    got = [json.loads(line) for line in open("data/matharena/aime26.jsonl", encoding="utf-8")]
    check(len(got) == 30 and got[3] == {"problem_idx": 4, "problem": "Made up 3", "answer": 70}, "rows:", got[:4])


def options():
    """Two splits of several pages: the problems, whose number is known, and the examples, whose is not. What arrives
    is what the task reads."""
    def serve_split(split, n, total=None):
        for at in range(0, n, 100):
            page = [{"row_idx": i, "row": {"id": "%s-%d" % (split, i), "question_stem": "Stem %d of %s" % (i, split),
                                           "choices": {"text": ["first %d" % i, "second", "third", "fourth"],
                                                       "label": ["A", "B", "C", "D"]}, "answerKey": "ABCD"[i % 4]},
                     "truncated_cells": []} for i in range(at, min(at + 100, n))]
            files[url % (split, at)] = json.dumps({"rows": page, "num_rows_total": total or n}).encode()

    url = "/rows-server/rows?dataset=allenai%%2Fopenbookqa&config=main&split=%s&offset=%d&length=100"
    fresh()
    serve_split("test", 500)
    serve_split("train", 130)
    faults[url % ("test", 300)] = [429]
    out = finish(start("openbookqa", "--data", "data"), 0, "500 rows of the current revision, as many as are known", 2)
    check("130 rows" in out and "neither their number" in out, "examples:", out)
    with open("run.json", "w") as f:
        json.dump({"model": "pocket", "policies": ["full"], "tasks": [{"name": "openbookqa", "few_shot": 1}]}, f)
    dry = subprocess.run([program, "sweep", "run.json", "--dry-run", "--calibrate", "no", "--data", "data"],
                         capture_output=True, text=True, env=ENV, timeout=60)
    check(dry.returncode == 0 and "500" in dry.stdout, "the task does not read what was fetched:", dry.stdout, dry.stderr)
    os.unlink("data/openbookqa/test.jsonl")
    finish(start("openbookqa", "--data", "data"), 0, "train.jsonl is there already", 2)
    check(len(seen) == 5, "the other file is fetched again:", seen)
    os.unlink("data/openbookqa/train.jsonl")
    serve_split("train", 100, 130)  # ends early
    files[url % ("train", 100)] = json.dumps({"rows": [], "num_rows_total": 130}).encode()
    finish(start("openbookqa", "--data", "data"), 3, "row 100 is missing", 2)
    serve_split("train", 130)
    files[url % ("train", 100)] = files[url % ("train", 100)].replace(b": 130}", b": 131}")  # changes on the way
    finish(start("openbookqa", "--data", "data"), 3, "has 131 rows there, 130 are expected", 2)
    check(os.listdir("data/openbookqa") == ["test.jsonl"], "half a file:", os.listdir("data/openbookqa"))


# ---- large files whose hash the Hub lists


def programs():
    """LiveCodeBench's release is five files, one behind the other."""
    where = "/datasets/livecodebench/code_generation_lite/resolve/%s/" % COMMIT
    body = {n: b'{"question_id": "%s"}' % n.encode() + b"\n" * (n != "test2.jsonl")
            for n in ["test.jsonl"] + ["test%d.jsonl" % i for i in range(2, 7)]}
    for name, b in body.items():
        files[where + name] = b
    listing = "/api/datasets/livecodebench/code_generation_lite/revision/main?blobs=true"
    files[listing] = json.dumps({"sha": COMMIT, "siblings": [sibling(n, b, True) for n, b in body.items()]}).encode()
    fresh()
    faults[where + "test3.jsonl"] = ["cdn", "drop"]
    fetch(0, "commit %s, SHA-256 as the Hub lists it" % COMMIT, "livecodebench", "--data", "data")
    got = open("data/livecodebench/release_v5.jsonl").read().splitlines()
    check([json.loads(g)["question_id"] for g in got] == list(body)[:5], "parts in their order:", got)
    check(os.listdir("data/livecodebench") == ["release_v5.jsonl"], "left:", os.listdir("data/livecodebench"))
    faults[where + "test6.jsonl"] = ["wrong"]
    fetch(3, "is not the file that is expected", "livecodebench_v6", "--data", "data")
    check(not os.path.exists("data/livecodebench/release_v6.jsonl"), "a release with a wrong part")
    fetch(0, "as the Hub lists it", "livecodebench_v6", "--data", "data")
    check([s[1] for s in seen] == [listing, where + "test6.jsonl"], "what arrived is not kept:", seen)
    files[listing] = json.dumps({"sha": COMMIT, "siblings": []}).encode()
    fresh()
    fetch(3, "lists no file test.jsonl", "livecodebench", "--data", "data")


def shipped():
    """Every set of the program says where its rows come from."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tasks/sets")
    out = subprocess.run([program, "fetch", "--list"], capture_output=True, text=True, env=ENV).stdout
    listed = {line.split()[0] for line in out.splitlines()}
    lacking = {n[:-5] for n in os.listdir(folder)} - listed
    check(not lacking, "sets that cannot be fetched:", lacking)
    fetch(2, "nothing to fetch", "ruler", "--data", "data")


# ---- an archive

SETS = {"narrativeqa": 200, "qasper": 200, "multifieldqa_en": 150, "multifieldqa_zh": 200, "hotpotqa": 200,
        "2wikimqa": 200, "musique": 200, "dureader": 200, "gov_report": 200, "qmsum": 200, "multi_news": 200,
        "vcsum": 200, "trec": 200, "triviaqa": 200, "samsum": 200, "lsht": 200, "passage_count": 200,
        "passage_retrieval_en": 200, "passage_retrieval_zh": 200, "lcc": 500, "repobench-p": 500}
ARCHIVE = "/datasets/zai-org/LongBench/resolve/%s/data.zip" % COMMIT
ZIP_LISTING = "/api/datasets/zai-org/LongBench/revision/main?blobs=true"


def archive(**change):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("data/", b"")
        for i, (name, n) in enumerate(SETS.items()):
            n = change.get(name, n)
            how = zipfile.ZIP_STORED if i % 5 == 0 else zipfile.ZIP_DEFLATED
            if n:
                z.writestr("data/%s.jsonl" % name, b'{"input": "%d"}\n' % i * n, how)
        z.writestr("data/qasper_e.jsonl", b"{}\n" * 7, zipfile.ZIP_DEFLATED)
        z.writestr("../../escaped.jsonl", b"{}")
        z.writestr("data/../up.jsonl", b"{}")
        z.writestr("data/notes.txt", b"no")
    return out.getvalue()


def serve_archive(body):
    files[ARCHIVE] = body
    files[ZIP_LISTING] = json.dumps({"sha": COMMIT, "siblings": [sibling("data.zip", body, True)]}).encode()


def longbench():
    def refused(words, want=3, **env):
        fetch(want, words, "longbench", "--data", "data", **env)

    whole = archive()
    fresh()
    serve_archive(whole)
    faults[ARCHIVE] = ["drop", "cdn"]
    fetch(0, "commit %s, archive's SHA-256 %s" % (COMMIT, sha256(whole)), "longbench", "--data", "data")
    there = sorted(os.listdir("data/longbench"))
    check(there == sorted([s + ".jsonl" for s in SETS] + ["qasper_e.jsonl"]), "unpacked:", there)
    check(all(open("data/longbench/%s.jsonl" % s).read().count("\n") == n for s, n in SETS.items()), "rows")
    check([s[2] for s in seen if s[0] == ports[1]] == [False], "the token went abroad:", seen)
    check(os.listdir("data") == ["longbench"] and not os.path.exists("up.jsonl"), "unpacked elsewhere")
    # the same archive in the Hub's cache
    shutil.rmtree("data")
    folder = "hf/hub/datasets--zai-org--LongBench"
    os.makedirs(folder + "/snapshots/" + COMMIT)
    os.makedirs(folder + "/refs")
    open(folder + "/snapshots/%s/data.zip" % COMMIT, "wb").write(whole)
    open(folder + "/refs/main", "w").write(COMMIT)
    fetch(0, "commit " + COMMIT, "longbench", "--data", "data")
    check([s[1] for s in seen] == [ZIP_LISTING], "the cache is not used:", seen)
    shutil.rmtree("data")
    fetch(0, "commit " + COMMIT, "longbench", "--data", "data", HF_HUB_OFFLINE="1")
    check(not seen and os.path.exists("data/longbench/lcc.jsonl"), "offline, from the cache")
    fresh()
    refused("HF_HUB_OFFLINE", 2, HF_HUB_OFFLINE="1")
    faults[ARCHIVE] = ["wrong"]
    refused("what arrived is not the file that is expected")
    check(os.listdir("data/longbench") == [], "wrong bytes stay")
    serve_archive(archive(lcc=499))
    refused("lcc.jsonl has 499 rows, 500 are expected")
    check("lcc.jsonl" not in os.listdir("data/longbench"), "a wrong member stays")
    fresh()
    serve_archive(archive(lcc=0))
    refused("not all files of longbench are in this archive")
    fresh()
    serve_archive(b"no archive at all, but long enough")
    refused("this is no ZIP archive")
    damaged = bytearray(whole)
    at = damaged.index(b"data/qasper.jsonl") + 40
    damaged[at : at + 8] = b"XXXXXXXX"
    serve_archive(bytes(damaged))
    refused("data/qasper.jsonl")
    check("qasper.jsonl" not in os.listdir("data/longbench"), "a damaged member stays")
    files[ZIP_LISTING] = json.dumps({"sha": COMMIT, "siblings": []}).encode()
    refused("lists no archive data.zip")


# ---- files with known hashes are taken from the Hub's cache too


def cached_task():
    fresh()
    folder = "hf/hub/datasets--HuggingFaceH4--MATH-500/snapshots/6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be"
    os.makedirs(folder)
    open(folder + "/test.jsonl", "w").write("{}\n")
    fetch(2, "is not in the Hub's cache", "math500", "--data", "data", HF_HUB_OFFLINE="1")
    check(not os.path.exists("data/math500/test.jsonl"), "a wrong file of the cache is taken")
    open("data/math500/test.jsonl", "w").write("{}\n")
    fetch(2, "is there already and is not the file that is fetched", "math500", "--data", "data")
    out = subprocess.run([program, "fetch", "--list", "-d", "data"], capture_output=True, text=True, env=ENV).stdout
    check("math500           other    HuggingFaceH4/MATH-500" in out, "--list:", out)


# ---- only our own files: somebody's file under a name that fetch writes

KINDS = ["symlink", "hard", "dangling", "fifo", "folder"]
if os.environ.get("KVEVAL_TEST_SMALL") == "1":
    KINDS = KINDS[:1] + KINDS[3:4]


def plant(kind, path):
    shutil.rmtree("outside", ignore_errors=True)
    os.makedirs("outside")
    open("outside/file", "w").write("precious")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.unlink(path)
    target = os.path.abspath("outside/" + ("new" if kind == "dangling" else "file"))
    if kind == "hard":
        os.link(target, path)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        os.makedirs(path)
        open(path + "/inside", "w").write("kept")
    else:
        os.symlink(target, path)


def tried(kind, path, *args):
    """Ends by itself, changes nothing outside, and has either done its work or names the file."""
    p = start(*args)
    out = p.communicate(timeout=30)[0]
    check(os.listdir("outside") == ["file"] and open("outside/file").read() == "precious", kind, path, "outside:", out)
    check(kind != "folder" or not os.path.isdir(path) or os.listdir(path) == ["inside"], kind, path, "is emptied:", out)
    check(p.returncode == 0 or (p.returncode in (2, 3) and os.path.basename(path) in out), kind, path, p.returncode, out)


def names_of(folder, *suffixes):
    return sorted(os.path.join(at, n) + s for at, _, names in os.walk(folder) for n in names for s in suffixes)


def planted():
    serve()
    fresh()
    good()
    some = [git_hash(CONFIG), sha256(SHARDS["model-00001-of-00002.safetensors"]), "config.json", "main"]
    written = [n for n in names_of("hf", "", ".incomplete") if any(s in n for s in some)]
    check(len(written) >= 12, "few names are written in the cache:", written)
    shutil.rmtree("whole", ignore_errors=True)
    shutil.copytree("hf", "whole", symlinks=True)
    for path in written:
        for kind in KINDS:
            for is_again in (False, True):
                fresh()
                if is_again:
                    shutil.copytree("whole", "hf", symlinks=True)
                plant(kind, path)
                tried(kind, path, ID)
    files[ROWS] = rows()
    serve_archive(archive())
    for task, paths in (("aime24", ["aime/aime24.jsonl", "aime/aime24.jsonl.1.incomplete"]),
                        ("longbench", ["longbench/lcc.jsonl", "longbench/qasper_e.jsonl", "longbench/data.zip.incomplete"])):
        for path in paths:
            for kind in KINDS:
                fresh()
                plant(kind, "data/" + path)
                tried(kind, "data/" + path, task, "--data", "data")


ports = local_server.start(Handler, 2)
base = "http://127.0.0.1:%d" % ports[0]
models()
aime24()
matharena()
options()
programs()
shipped()
longbench()
cached_task()
planted()
print(failures, "checks failed")
sys.exit(failures > 0)
