#!/usr/bin/env python3
"""A server with OpenAI's HTTP interface that decodes nothing and can fail in every way that endpoint.sh asks for.

    endpoint_server.py PORT_FILE [option=value ...]

What it completes is a function of the prompt's ids and the seed, so runs through it can be compared. It listens on loopback
only, writes its port into PORT_FILE, and ends by itself after `life` seconds.

  life=60       seconds until it ends
  faults=SEED   each request fails up to four times, in ways drawn from SEED and the request, before it is answered
  bad=1         some prompts never get a right answer (see BAD), whatever the seed of faults is
  always=KIND   every request is answered with that fault
  die=N         the server ends at once with its Nth request
  gone=HOW      it does not end then: "close": connections are accepted and closed; "full": none comes about any more
  good=N        after N requests that were answered well, each has the fault `then`
  busy=1        one request at a time; the others get 429
  revoke=N      the first N requests wait for each other; one of them gets 401, the others are answered, and the client,
                whose process id is in the file client.pid, sees all of that at once
  as=NAME       what the server calls the model in its answers
  queue=1       a quarter of the completions are sixty q
  ends=JSON     the end tokens that requests must name
  key=TEXT      requests must carry it
  ids=1         token ids come with the completion
  delay=S       seconds between two pieces of a stream
  tokens=N      pieces of a completion at most (default 12)
  models=JSON   the entry of /models; "none": there is no such list; "long": a list of 5 MB
  log=FILE      a line for each request that was answered well
  right=SHARE   completions answer the number in brackets of the prompt, which is text, and so many of them rightly
  logprobs=HOW  of a prompt: "prompt" as vLLM gives them, "echo" or "ids" as OpenAI's echo with texts or vLLM's ids, "next"
                the echo of the next place; "500" fails; without it there are none
  noise=SD      of these log-probabilities, drawn anew for each request, in nats
  shift=NATS    that all of them are lower
"""
import functools, hashlib, json, os, random, signal, socket, struct, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAULTS = ["429", "429 after", "500", "502", "503", "reset", "drop", "truncated", "garbage", "no end", "no finish", "html",
          "error event", "slow", "abort"]
BAD = ["wrong count", "odd finish", "huge token", "500", "400", "no usage", "early length", "two choices"]
tries, lock, n_requests, n_good, is_gone = {}, threading.Lock(), 0, 0, False
work = threading.Lock()
opts = {"life": "60", "delay": "0", "tokens": "12", "as": "mock", "ends": "[450]"}


def number_of(*what):
    """In [0, 1), a function of what it is given."""
    return int(hashlib.sha256(repr(what).encode()).hexdigest()[:12], 16) / 16 ** 12


def answer_of(prompt, key):
    """The number in brackets, or one that is not."""
    n = int(prompt.rsplit("(", 1)[1].split(")")[0]) if "(" in prompt else 0
    return n if number_of(key, "right") < float(opts["right"]) else n + 1


@functools.lru_cache(None)
def ids_of(text):
    out = subprocess.run([opts["program"], "tokenize", "--bare"], input=json.dumps({"text": text}) + "\n",
                         capture_output=True, text=True, check=True).stdout
    return tuple(json.loads(out)["ids"])


def scores_of(ids, nth):
    """A log-probability for each token, and the likeliest token: in nine of ten places the token itself."""
    r, out = random.Random(nth), []
    for i, token in enumerate(ids):
        x = number_of(ids[:i], token)
        logprob = -0.02 - 2 * x ** 3 + r.gauss(0, float(opts.get("noise", 0))) - float(opts.get("shift", 0))
        top = token if x < 0.9 else 3 + (token + 1) % 40
        out.append((min(logprob, 0), top, min(logprob, 0) + (0.1 if top != token else 0)))
    return out


def pieces_of(key, most):
    r = random.Random(key)
    n = r.randint(1, int(opts["tokens"]))
    words = [r.choice([" the", " answer", " is", " 7", " 42", "\n", " \u00e9t\u00e9", " \U0001d6fc", "x\\y", ' "q"']) for _ in range(n)]
    return words[:most], "length" if n >= most else "stop"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def plain(self, status, value, headers=(), kind="application/json"):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers:
            self.send_header(name, text)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def is_allowed(self):
        if "key" not in opts or self.headers.get("Authorization") == "Bearer " + opts["key"]:
            return True
        self.plain(401, {"error": {"message": "bad key: " + str(self.headers.get("Authorization"))}})
        return False

    def do_GET(self):
        if not self.is_allowed():
            return
        if self.path != "/v1/models" or opts.get("models") == "none":
            return self.plain(404, {"detail": "Not Found"})
        if opts.get("models") == "long":
            return self.plain(200, {"object": "list", "data": [{"id": "mock %d" % i} for i in range(300000)]})
        entry = json.loads(opts.get("models", '{"id": "mock"}'))
        self.plain(200, {"object": "list", "data": [dict(entry, object="model", created=int(time.time()))]})

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def event(self, value):
        self.chunk(b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n")

    def reset(self):
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def do_POST(self):
        global n_requests, is_gone
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.is_allowed():
            return
        q = json.loads(body)
        with lock:
            n_requests += 1
            nth_request = n_requests
            if n_requests == int(opts.get("die", -1)):
                if "gone" not in opts:
                    os._exit(0)
                is_gone = True
                fill(self.server)
        if is_gone:
            return self.reset()
        if nth_request <= int(opts.get("revoke", 0)):
            return self.revoke(q, nth_request == 1)
        if "busy" in opts:
            if not work.acquire(blocking=False):
                return self.plain(429, {"message": "one at a time"})
            try:
                return self.answer(q, self.key_of(q), None)
            finally:
                work.release()
        why = None if "prompt_logprobs" in q else self.check(q)
        if "prompt_logprobs" in q:
            return self.score(q, nth_request)
        if why:
            return self.plain(400, {"object": "error", "message": why, "code": 400})
        key = self.key_of(q)
        with lock:
            tries[key] = tries.get(key, 0) + 1
            nth = tries[key]
        fault = opts.get("always")
        if "good" in opts and n_good >= int(opts["good"]):
            fault = opts["then"]
        if "faults" in opts and not fault:
            r = random.Random(f"{opts['faults']} {key}")
            kinds = [r.choice(FAULTS) for _ in range(r.randint(0, 4))]
            fault = kinds[nth - 1] if nth <= len(kinds) else None
        if fault == "slow":
            time.sleep(0.05)
            fault = None
        if opts.get("bad") and not fault and int(key[:4], 16) % 100 < 2 * len(BAD):
            fault = BAD[int(key[:4], 16) % 100 // 2]
        try:
            self.answer(q, key, fault)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    @staticmethod
    def key_of(q):
        prompt = json.dumps([q["prompt"], q["seed"] if q["temperature"] else 0])
        return hashlib.sha256(prompt.encode()).hexdigest()

    def revoke(self, q, is_first):
        meeting.wait()
        if is_first:
            self.plain(401, {"message": "the key has run out"})
        else:
            self.answer(q, self.key_of(q), None)
        self.wfile.flush()
        if not meeting.wait():
            time.sleep(0.1)
            os.kill(client(), signal.SIGCONT)

    @staticmethod
    def check(q):
        """What a run must ask for, lest a default of the server bends the distribution."""
        want = {"model": "mock", "repetition_penalty": 1, "repeat_penalty": 1, "min_p": 0, "frequency_penalty": 0,
                "presence_penalty": 0, "n": 1, "return_token_ids": True, "add_special_tokens": False}
        for name, value in want.items():
            if q.get(name) != value:
                return f"{name} is {q.get(name)!r}"
        if sorted(q.get("stop_token_ids", [])) != json.loads(opts["ends"]):
            return f"stop_token_ids is {q.get('stop_token_ids')!r}"
        if not isinstance(q["prompt"], str) and not all(type(i) is int for i in q["prompt"]):
            return "the prompt is neither text nor ids"
        if not q["temperature"] and (q["top_p"] != 1 or q["top_k"] < 100):
            return "greedy decoding with a filter"
        if not 0 <= q["seed"] < 2 ** 31 or q["max_tokens"] < 1:
            return "seed or max_tokens out of range"
        return None

    def count(self, prompt):
        return len(prompt if not isinstance(prompt, str) else ids_of(prompt))

    def score(self, q, nth):
        """The answer to a request for the log-probabilities of its prompt."""
        how = opts.get("logprobs")
        if how == "500":
            return self.plain(500, {"error": {"message": "logits are not kept"}})
        ids = tuple(q["prompt"]) if not isinstance(q["prompt"], str) else ids_of(q["prompt"])
        scores, n_new, choice = scores_of(ids, nth), q["max_tokens"], {"index": 0, "text": "?" * q["max_tokens"], "finish_reason": "length"}
        if how == "prompt":
            choice["prompt_logprobs"] = [None] + [
                {str(t): {"logprob": v, "rank": 1 + (t != top)}, str(top): {"logprob": v if t == top else best, "rank": 1}}
                for t, (v, top, best) in list(zip(ids, scores))[1:]]
        elif how:
            words = ["token_id:%d" % i if how == "ids" else "%d " % i for i in ids] + ["?"] * n_new
            if how == "echo":  # as texts, of which special tokens have none
                words = [TEXTS[i] for i in ids] + ["?"] * n_new
            name = (lambda i: "token_id:%d" % i) if how == "ids" else (lambda i: TEXTS[i])
            if how == "next":
                words, scores = [TEXTS[i] for i in ids] + ["?"] * (n_new - 1), scores[1:] + scores[:1]
            lists = [(v, {w: v, name(top): best}) if top != t else (v, {w: v}) for t, w, (v, top, best) in zip(ids, words, scores)]
            lists += [(-0.5, {"?": -0.5})] * (len(words) - len(ids))
            choice["logprobs"] = {"tokens": words, "token_logprobs": [None] + [a for a, _ in lists[1:]],
                                  "top_logprobs": [None] + [b for _, b in lists[1:]]}
        usage = {"prompt_tokens": len(ids), "completion_tokens": n_new}
        return self.plain(200, {"object": "text_completion", "choices": [choice], "usage": usage, "model": opts["as"]})

    def answer(self, q, key, fault):
        if fault in ("500", "502", "503"):
            return self.plain(int(fault), {"error": {"message": "out of order"}})
        if fault == "400":
            return self.plain(400, {"error": {"message": "I will not\nsay this"}})
        if fault == "echo":
            said = str(self.headers.get("Authorization")).replace("/", "\\/")
            return self.plain(400, b'{"error": {"message": "%s %s"}}' % (b"." * 150, said.encode()))
        if fault in ("429", "429 after"):
            return self.plain(429, {"message": "slow down"}, [("Retry-After", "0")] if fault == "429" else [])
        if fault == "reset":
            return self.reset()
        if fault == "html":
            return self.plain(200, b"<html>the proxy says hello</html>", kind="text/html")
        if fault == "silent":
            time.sleep(30)
            return self.reset()
        pieces, finish = pieces_of(key, q["max_tokens"])
        if "right" in opts:
            pieces, finish = ["</think>\n\nThe answer", " is", " \\boxed{%d}" % answer_of(q["prompt"], key), "."], "stop"
        if "queue" in opts and int(key[:2], 16) % 4 == 0:
            pieces, finish = ["q" * 60], "stop"
        if fault == "abort":
            finish = fault
        if fault == "odd finish":
            finish = "content_filter"
        if fault == "early length":
            finish, pieces = "length", pieces[:q["max_tokens"] - 1]
        usage = {"prompt_tokens": self.count(q["prompt"]) + (fault == "wrong count"), "completion_tokens": len(pieces)}
        usage["total_tokens"] = sum(usage.values())
        if fault == "no usage":
            usage = None
        if q["stream"]:
            self.stream(q, key, fault, pieces, finish, usage)
        else:
            self.whole(fault, pieces, finish, usage)
        if not fault:
            global n_good
            with lock:
                n_good += 1
                if "log" in opts:
                    with open(opts["log"], "a") as f:
                        f.write(key + "\n")

    def whole(self, fault, pieces, finish, usage):
        time.sleep(float(opts["delay"]) * len(pieces))
        text = "y" * 10_000_000 if fault == "huge token" else "".join(pieces)
        choice = {"index": 0, "text": text, "finish_reason": finish}
        out = {"object": "text_completion", "choices": [choice] * (2 if fault == "two choices" else 1), "usage": usage, "model": opts["as"]}
        body = json.dumps(out).encode()
        if fault in ("truncated", "garbage", "no end"):
            return self.plain(200, body[:-7])
        if fault in ("drop", "no finish", "error event"):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:-7])
            return self.reset()
        self.plain(200, body)

    def stream(self, q, key, fault, pieces, finish, usage):
        r = random.Random(key)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for i, piece in enumerate(pieces):
            choice = {"index": 0, "text": piece, "finish_reason": None}
            if "ids" in opts:
                choice["token_ids"] = [r.randint(3, 40)]
                if not i and not isinstance(q["prompt"], str):
                    choice["prompt_token_ids"] = q["prompt"]
            if i == len(pieces) // 2:
                if fault == "stuck":
                    time.sleep(30)
                if fault == "drop":
                    return self.reset()
                if fault == "truncated":
                    self.event(json.dumps({"choices": [choice]}).encode()[:-5])
                if fault == "garbage":
                    self.chunk(b"\x00\xff\xfe data data\r\r: what\n\ndata: {]\n\n")
                if fault == "error event":
                    self.event({"error": {"message": "the engine died", "code": 500}})
                if fault == "huge token":
                    choice["text"] = "y" * 10_000_000
                if fault == "two choices":
                    choice["index"] = 1
            self.event({"choices": [choice], "model": opts["as"]})
            if opts["delay"] != "0":
                time.sleep(float(opts["delay"]))
        if fault != "no finish":
            self.event({"choices": [{"index": 0, "text": "", "finish_reason": finish}]})
        if usage:
            self.event({"choices": [], "usage": usage})
        if fault != "no end":
            self.event(b"[DONE]")
        self.chunk(b"")


def client():
    while not os.path.exists("client.pid") or not os.path.getsize("client.pid"):
        time.sleep(0.01)
    return int(open("client.pid").read())


def stop_client():
    os.kill(client(), signal.SIGSTOP)


def fill(server):
    """Nobody accepts any more, and no more can wait for it: the kernel leaves new connections unanswered."""
    if opts["gone"] == "full":
        server.socket.listen(0)
        for _ in range(4):
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex(server.server_address)
            waiting.append(s)


def texts():
    """Of the pocket model's tokens; without "echo" nobody asks for them."""
    found = json.load(open(opts["vocabulary"]))
    words = {i: w.replace("\u0120", " ").replace("\u010a", "\n") for w, i in found["model"]["vocab"].items()}
    words.update({t["id"]: "" if t["special"] else t["content"] for t in found["added_tokens"]})
    return words


TEXTS = {}
waiting = []
meeting = None


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def get_request(self):
        while is_gone and opts["gone"] == "full":
            time.sleep(1)
        return super().get_request()

    def process_request(self, request, address):
        if is_gone:
            request.close()
        else:
            super().process_request(request, address)

    def handle_error(self, request, address):
        pass


def main():
    opts.update(a.split("=", 1) for a in sys.argv[2:])
    if "vocabulary" in opts:
        TEXTS.update(texts())
    if "revoke" in opts:
        global meeting
        meeting = threading.Barrier(int(opts["revoke"]), action=stop_client)
    server = Server(("127.0.0.1", 0), Handler)
    threading.Timer(float(opts["life"]), lambda: os._exit(0)).start()
    with open(sys.argv[1] + ".new", "w") as f:
        f.write(str(server.server_address[1]))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    server.serve_forever()


main()
