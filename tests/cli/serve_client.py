"""Asks a server of tests/cli/serve.sh: serve_client.py PORT WHAT [PID]. Only the standard library."""
import concurrent.futures
import http.client
import json
import os
import random
import signal
import socket
import sys
import time

port, what = int(sys.argv[1]), sys.argv[2]
WAIT = 120  # seconds; nothing depends on them but when a broken server is given up


def ask(path, body=None, headers=None, raw=None):
    """Returns status, headers and bytes."""
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
    data = raw if raw is not None else None if body is None else json.dumps(body)
    c.request("GET" if data is None else "POST", path, data, {"Content-Type": "application/json", **(headers or {})})
    r = c.getresponse()
    out = r.status, dict(r.getheaders()), r.read()
    c.close()
    return out


def complete(path="/v1/completions", **body):
    status, _, data = ask(path, {"model": "pocket", **body})
    assert status == 200, (status, data)
    return json.loads(data)


def chat(text, **body):
    return complete("/v1/chat/completions", messages=[{"role": "user", "content": text}], **body)


def events(path, **body):
    status, headers, data = ask(path, {"model": "pocket", "stream": True, **body})
    assert status == 200 and headers["Content-Type"] == "text/event-stream", (status, data)
    lines = data.decode().split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""], lines[-2:]
    return [json.loads(line[len("data: "):]) for line in lines[:-2]]


def refused(status, param, path="/v1/completions", **body):
    got, _, data = ask(path, {"model": "pocket", "prompt": "a", **body} if path == "/v1/completions" else {"model": "pocket", **body})
    error = json.loads(data).get("error")
    assert error, (body, data)
    assert (got, error["param"]) == (status, param), (got, error, body)


def metric(name):
    text = ask("/metrics")[2].decode()
    return float(next(line.split()[-1] for line in text.splitlines() if line.startswith("kveval_serve_" + name)))


def models():
    names = [m["id"] for m in json.loads(ask("/v1/models")[2])["data"]]
    assert names == ["pocket", "pocket@full", "pocket@quest:k_pages=2,round=floor", "pocket@h2o:budget_tokens=32"], names
    assert json.loads(ask("/v1/models/pocket@full")[2])["id"] == "pocket@full"
    assert json.loads(ask("/v1/models/pocket@quest:round=floor,k_pages=2")[2])["kveval"]["policy"]["k_pages"] == 2
    full = complete(prompt="a = 3", temperature=0, max_tokens=40, ignore_eos=True)
    assert full["usage"]["kv_share"] == 1 and full["system_fingerprint"].startswith("cpu-"), full
    # however the options are ordered, and by the policy's own budget
    one, two = (complete(model=m, prompt="a = 3", temperature=0, max_tokens=60, ignore_eos=True)
                for m in ("pocket@quest:k_pages=2,round=floor", "pocket@quest:round=floor,k_pages=2"))
    assert one["choices"] == two["choices"] and one["usage"] == two["usage"]
    assert one["usage"]["kv_share"] < 1 and one["usage"]["kv_reads"] < one["usage"]["kv_reads_full"], one["usage"]
    few = complete(model="pocket@quest:k_pages=2,round=floor", prompt="a = 3", temperature=0, max_tokens=6, ignore_eos=True)
    for u in (one["usage"], few["usage"]):  # what is read to choose is read, too, and may make it more than full attention
        assert u["aux_reads"] > 0 and abs(u["kv_share"] - (u["kv_reads"] + u["aux_reads"]) / u["kv_reads_full"]) < 1e-12, u
    status, _, data = ask("/v1/completions", {"model": "pocket@quest:k_pages=3", "prompt": "a"})
    assert status == 404 and b"pocket@h2o:budget_tokens=32" in data and b" pocket, " in data, data


def refusals():
    for name, value in (("presence_penalty", 0.5), ("frequency_penalty", -1), ("repetition_penalty", 1.1), ("min_p", 0.1),
                        ("logit_bias", {"5": 1}), ("echo", 1), ("suffix", "x"), ("best_of", 2), ("logprobs", 3), ("logprobs", -1),
                        ("prompt_logprobs", 2), ("prompt_logprobs", True),
                        ("grammar", "x"), ("n", 0), ("n", 1.5), ("temperature", -1), ("temperature", "hot"), ("top_p", 0),
                        ("max_tokens", 0), ("stop", [""]), ("stop", ["a\0b"]), ("stop", 3), ("seed", -1), ("stream", 1),
                        ("stop_token_ids", [-1]), ("stop_token_ids", [1, 2, 3]), ("max_tokens", 100000),
                        ("prompt", []), ("prompt", [[1], "a", [2.5]]), ("prompt", [10 ** 6]), ("kveval", {"seed": 1}),
                        ("messages", []), ("stream_options", 3), ("min_tokens", 50)):
        refused(400, name, **{name: value})
    refused(400, "logprobs", logprobs=1, min_tokens=2) # the end token may be the likeliest
    for name in ("echo", "prompt_logprobs"):
        refused(400, name, stream=True, **{name: 1 if name == "prompt_logprobs" else True})
    for name, value in (("top_logprobs", 2), ("prompt_logprobs", 1), ("logprobs", 1), ("tools", [{}]), ("tool_choice", "required"), ("echo", False),
                        ("response_format", {"type": "json_object"}), ("chat_template_kwargs", {"x": 1}),
                        ("reasoning_effort", "low"), ("max_completion_tokens", 0), ("prompt", "x")):
        refused(400, name, "/v1/chat/completions", messages=[{"role": "user", "content": "a"}], **{name: value})
    user, other = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}
    for messages in ([], [user, other], [{"role": "tool", "content": "a"}], [user, {"role": "system", "content": "a"}, user],
                     [user, {"role": "developer", "content": "a"}, user], [{"role": "user", "content": []}],
                     [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": "x"}]}],
                     [{"role": "user"}], [{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}],
                     [{"role": "user", "content": "a\0"}], [{**user, "name": "x"}], [user, {**other, "tool_calls": [{}]}, user],
                     [{"role": "user", "content": "<|Assistant|>"}, other, user], 3):
        refused(400, "messages", "/v1/chat/completions", messages=messages)
    for raw in (b"", b"{", b"[]", b'{"model": "pocket", "model": "pocket", "prompt": "a"}', b'{"prompt": "a"}',
                b'{"model": "pocket", "prompt": "\xff"}', b"[" * 100000, b'{"model": "pocket", "prompt": NaN}'):
        assert ask("/v1/completions", raw=raw)[0] == 400, raw[:40]
    assert b"stop 1 must be" in ask("/v1/completions", {"model": "pocket", "prompt": "a", "stop": ["a", ""]})[2]
    for path, status in (("/", 404), ("/v1/engines", 404), ("/v1/models/x", 404), ("/v1/completions", 405)):
        assert ask(path)[0] == status, path
    # neutral values and what changes nothing
    plain = complete(prompt="a = 3", max_tokens=8)
    rich = complete(prompt="a = 3", max_tokens=8, presence_penalty=0, frequency_penalty=0.0, logit_bias={}, n=1, best_of=1,
                    user="me", metadata={"a": "b"}, store=False, echo=False, suffix=None, stop=None, min_p=0, top_k=-1,
                    repetition_penalty=1, stream=False, seed=0, temperature=1, top_p=1, logprobs=None)
    assert plain["choices"] == rich["choices"]


def answers():
    r = complete(prompt="a = 3", max_tokens=12, logprobs=0, return_token_ids=True, ignore_eos=True, seed=4)
    c = r["choices"][0]
    assert len(c["token_ids"]) == 12 == r["usage"]["completion_tokens"] and c["finish_reason"] == "length"
    assert len(c["logprobs"]["token_logprobs"]) == 12 and max(c["logprobs"]["token_logprobs"]) <= 0
    # offsets count characters, also behind tokens that are a part of one
    for wild in complete(prompt="a = 3", max_tokens=60, logprobs=0, ignore_eos=True, n=16, temperature=9)["choices"]:
        for token, at in zip(wild["logprobs"]["tokens"], wild["logprobs"]["text_offset"]):
            if "\ufffd" not in token and "<" not in token:
                assert wild["text"][at:at + len(token)] == token, (token, at, wild)
    # a prompt as ids is the same prompt; a stop string ends before itself; a stop token is no part
    same = complete(prompt=c["prompt_token_ids"], max_tokens=12, ignore_eos=True, seed=4)
    assert same["choices"][0]["text"] == c["text"]
    stop = c["text"][5:8]
    cut = complete(prompt="a = 3", max_tokens=12, ignore_eos=True, seed=4, stop=[stop, "nowhere"])["choices"][0]
    assert cut["text"] == c["text"][:c["text"].index(stop)] and cut["finish_reason"] == "stop", (cut, c)
    end = c["token_ids"][3]
    cut = complete(prompt="a = 3", max_tokens=12, seed=4, stop_token_ids=[end], return_token_ids=True)["choices"][0]
    assert end not in cut["token_ids"] and cut["token_ids"] == c["token_ids"][:len(cut["token_ids"])]
    # n samples are those of requests with as many; several prompts are as many requests
    three = complete(prompt="a = 3", max_tokens=8, n=3)["choices"]
    assert three[:2] == complete(prompt="a = 3", max_tokens=8, n=2)["choices"] and len({x["text"] for x in three}) > 1
    both = complete(prompt=["a = 3", "b = 4"], max_tokens=8, n=2)
    assert [x["index"] for x in both["choices"]] == [0, 1, 2, 3] and both["choices"][0]["text"] == three[0]["text"]
    assert both["choices"][2]["text"] == complete(prompt="b = 4", max_tokens=8)["choices"][0]["text"]
    assert complete(prompt="a = 3", max_tokens=8, seed=1)["choices"] != three[:1]
    c = chat("x0 = 3. What is x0?", max_completion_tokens=9, logprobs=True, temperature=0)["choices"][0]
    assert c["message"]["role"] == "assistant" and len(c["logprobs"]["content"]) >= 1, c
    assert chat([{"type": "text", "text": "x0 = 3. What is x0?"}], max_tokens=9, temperature=0)["choices"][0]["message"] == c["message"]
    assert chat([{"type": "text", "text": t} for t in ("x0 = 3. Wh", "at is x0?")], max_tokens=9, temperature=0)["choices"][0]["message"] == c["message"]


def echoes():
    """A prompt's log-probabilities, in each of the forms in which they are asked for."""
    text = "a = 3 \u00e9 x"
    want = complete(prompt=text, max_tokens=6, temperature=0, ignore_eos=True, logprobs=1, return_token_ids=True, stop=["#"])["choices"][0]
    ids = want["prompt_token_ids"]
    c = complete(prompt=text, max_tokens=6, temperature=0, ignore_eos=True, logprobs=1, echo=True, return_token_ids=True, stop=["#"])["choices"][0]
    assert c["text"] == text + want["text"] and c["token_ids"] == want["token_ids"], c
    l, n = c["logprobs"], len(ids)
    assert [len(l[k]) for k in ("tokens", "token_logprobs", "top_logprobs", "text_offset")] == [n + 6] * 4, l
    assert l["token_logprobs"][0] is None and l["top_logprobs"][0] is None
    for k in ("tokens", "token_logprobs", "top_logprobs"):  # what follows is what follows without an echo
        assert l[k][n:] == want["logprobs"][k], (k, l[k], want["logprobs"])
    assert l["text_offset"][n:] == [len(text) + at for at in want["logprobs"]["text_offset"]], l
    for token, at in zip(l["tokens"], l["text_offset"]):
        assert "\ufffd" in token or "<" in token or c["text"][at:at + len(token)] == token, (token, at)
    for own, top in zip(l["token_logprobs"][1:], l["top_logprobs"][1:]):
        assert own <= max(top.values()) < 0 and len(top) <= 2, (own, top)
    assert all(own == max(top.values()) for own, top in zip(want["logprobs"]["token_logprobs"], want["logprobs"]["top_logprobs"]))
    # nothing generated; as ids; beside others; of several prompts and answers
    zero = complete(prompt=text, max_tokens=0, logprobs=1, echo=True)
    assert zero["choices"][0]["text"] == text and zero["usage"]["completion_tokens"] == zero["usage"]["kv_reads"] == 0, zero
    bare = zero["choices"][0]["logprobs"]
    for k in bare:
        assert bare[k] == l[k][:n], (k, bare[k], l[k])
    by_ids = complete(prompt=[ids, [ids[0]]], max_tokens=0, logprobs=1, echo=True, n=2, add_special_tokens=False)["choices"]
    assert [x["index"] for x in by_ids] == [0, 1, 2, 3] and by_ids[1]["logprobs"]["top_logprobs"] == bare["top_logprobs"]
    assert by_ids[3]["logprobs"]["token_logprobs"] == [None] and by_ids[0]["text"].endswith(text), by_ids
    plain = complete(prompt=text, max_tokens=0, echo=True)["choices"][0]
    assert plain["text"] == text and plain["logprobs"] is None, plain
    # A completion that ends at once: its end token stands in the lists, whose last entry clients leave out.
    for seed in range(200):
        c = complete(prompt=text, max_tokens=1, temperature=9, seed=seed, logprobs=1, echo=True, stop_token_ids=[7])
        assert len(c["choices"][0]["logprobs"]["tokens"]) == n + 1, c
        if c["choices"][0]["finish_reason"] == "stop":
            assert c["usage"]["completion_tokens"] == 0, c # as without an echo
            break
        assert c["usage"]["completion_tokens"] == 1, c
    else:
        raise AssertionError("no completion ended at once")
    assert c["choices"][0]["text"] == text and c["choices"][0]["logprobs"]["text_offset"][-1] == len(text), c
    # the names of vLLM's ids, and its list by id
    named = complete(prompt=text, max_tokens=1, logprobs=0, echo=True, return_tokens_as_token_ids=True, prompt_logprobs=1)["choices"][0]
    assert named["logprobs"]["tokens"][:n] == [f"token_id:{i}" for i in ids] and named["logprobs"]["top_logprobs"] is None, named
    assert named["prompt_logprobs"][0] is None and len(named["prompt_logprobs"]) == n
    for i, place, own, top in zip(ids[1:], named["prompt_logprobs"][1:], bare["token_logprobs"][1:], bare["top_logprobs"][1:]):
        assert place[str(i)]["logprob"] == own and max(x["logprob"] for x in place.values()) == max(top.values()), (place, own, top)
        assert [x["rank"] for x in place.values() if x["logprob"] == max(top.values())] == [1], place
    only = complete(prompt=text, max_tokens=1, prompt_logprobs=0)["choices"][0]
    assert [list(x) for x in only["prompt_logprobs"][1:]] == [[str(i)] for i in ids[1:]] and only["logprobs"] is None, only
    c = chat("x0 = 3", max_tokens=5, logprobs=True, top_logprobs=1, temperature=3)["choices"][0]["logprobs"]["content"]
    assert all(len(x["top_logprobs"]) == 1 and x["top_logprobs"][0]["logprob"] >= x["logprob"] for x in c), c
    refused(400, "max_tokens", prompt="a" * 200, max_tokens=10 ** 6, echo=True)
    refused(400, "prompt", prompt=[[1] * 4000] * 140, max_tokens=0, echo=True, logprobs=1)
    refused(400, "top_logprobs", "/v1/chat/completions", messages=[{"role": "user", "content": "a"}], top_logprobs=1)


def scores(folder):
    """The likelihoods of options are those of a sweep that scored them as a block."""
    import glob
    records = [json.loads(line) for f in glob.glob(folder + "/journal/*.jsonl") for line in open(f)]
    names = [m["id"] for m in json.loads(ask("/v1/models")[2])["data"]][1:]
    problems = {p["id"]: p for f in glob.glob(folder + "/problems/*.jsonl") for p in map(json.loads, open(f))}
    assert len(records) == len(names) * len(problems) == 16, (len(records), names)
    for name in names:
        policy = name.split("@")[1].split(":")[0]
        for r in records:
            if f".{policy}" not in r["cell"]:
                continue
            row = problems[r["problem"]]
            prompts = [row["prompt"] + " " + o for o in row["options"]]
            for max_tokens in (0, 1):
                got = complete(model=name, prompt=prompts, max_tokens=max_tokens, logprobs=1, echo=True, add_special_tokens=False)["choices"]
                for (_, n, want), c in zip(r["options"], got):
                    own = c["logprobs"]["token_logprobs"]
                    own = own[-n:] if not max_tokens else own[-n - 1:-1] # as lm-evaluation-harness cuts them
                    # with a token behind it the prompt is one longer, which a policy of prompts may see
                    assert sum(own) == want or (max_tokens and policy in ("dms", "kascade") and abs(sum(own) - want) < 2), \
                        (name, r["problem"], own, want, max_tokens)


def streams():
    for extra in ({}, {"stop": ["er", "the "]}, {"n": 3}, {"logprobs": 0, "return_token_ids": True},
                  {"logprobs": 1, "return_token_ids": True}):
        body = dict(prompt="a = 3", max_tokens=60, seed=7, temperature=2.0, ignore_eos=True, **extra)
        whole = complete(**body)
        parts = events("/v1/completions", stream_options={"include_usage": True}, **body)
        assert parts[-1]["choices"] == [] and parts[-1]["usage"] == whole["usage"]
        for want in whole["choices"]:
            mine = [p["choices"][0] for p in parts[:-1] if p["choices"][0]["index"] == want["index"]]
            assert "".join(p["text"] for p in mine) == want["text"], (mine, want)
            assert [p["finish_reason"] for p in mine] == [None] * (len(mine) - 1) + [want["finish_reason"]]
            for stop in extra.get("stop", []):
                assert stop not in want["text"]
            if "return_token_ids" in extra:
                assert sum((p["token_ids"] for p in mine), []) == want["token_ids"]
                for name in ("tokens", "token_logprobs", "text_offset", "top_logprobs")[:3 + extra["logprobs"]]:
                    assert sum((p["logprobs"][name] for p in mine), []) == want["logprobs"][name], name
    parts = events("/v1/chat/completions", messages=[{"role": "user", "content": "x0 = 3"}], max_tokens=9)
    assert parts[0]["choices"][0]["delta"]["role"] == "assistant" and "usage" not in parts[0]
    whole = chat("x0 = 3", max_tokens=9)["choices"][0]
    assert "".join(p["choices"][0]["delta"].get("content", "") for p in parts) == whole["message"]["content"]


def company():
    """Equal requests have equal bytes, whatever runs beside them and in whichever order."""
    jobs = [("/v1/completions", {"model": m, "prompt": f"a = {i}", "max_tokens": 5 + 3 * i, "seed": i, "stream": i % 3 == 0, "n": 1 + i % 2})
            for i in range(12) for m in ("pocket", "pocket@quest:k_pages=2,round=floor", "pocket@h2o:budget_tokens=32")]
    jobs += [("/v1/completions", {"model": "pocket", "prompt": f"a = {i} b", "max_tokens": i, "echo": True, "logprobs": 1, "prompt_logprobs": 1})
             for i in range(4)]
    jobs += [("/v1/chat/completions", {"model": "pocket", "messages": [{"role": "user", "content": f"x0 = {i}"}], "max_tokens": 30, "stream": i % 2 == 0})
             for i in range(6)]
    alone = [ask(*j)[2] for j in jobs]
    order = list(range(len(jobs)))
    random.Random(5).shuffle(order)
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        together = dict(zip(order, pool.map(lambda i: again(jobs[i]), order)))
    for i, data in enumerate(alone):
        assert together[i] == data, (jobs[i], together[i][:300], data[:300])


def again(job):
    """Until there is room in the queue."""
    while True:
        status, headers, data = ask(*job)
        if status != 429:
            assert status == 200, data
            return data
        assert int(headers["Retry-After"]) >= 1
        time.sleep(0.02)


def raw_request(body):
    data = json.dumps(body).encode()
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # what is not read stays with the server
    s.settimeout(WAIT)
    s.connect(("127.0.0.1", port))
    s.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
    return s


def until(what):
    end = time.monotonic() + WAIT
    while not what():
        assert time.monotonic() < end, "it never came so far"
        time.sleep(0.01)


LONG = {"model": "pocket", "prompt": "a = 3", "max_tokens": 4000, "ignore_eos": True, "n": 60}


def leaving():
    """Clients that go away free their places at once: 60 completions of 4,000 tokens would take minutes."""
    before = metric("cancelled_total")
    for stream in (False, True):
        s = raw_request({**LONG, "stream": stream})
        if stream:
            assert s.recv(12) == b"HTTP/1.1 200"
        until(lambda: metric("running ") > 0)
        status, headers, _ = ask("/v1/completions", {"model": "pocket", "prompt": "a", "n": 10})
        assert status == 429 and int(headers["Retry-After"]) >= 1, status
        s.close()
        until(lambda: metric("running ") + metric("waiting ") == 0)
        complete(prompt="a", n=60, max_tokens=1)
    assert metric("cancelled_total") == before + 2, metric("cancelled_total")


def unread():
    """Answers that their clients do not read: what would not fit beside them is not taken, until they have gone."""
    begin = complete(prompt="a", max_tokens=1, return_token_ids=True)["choices"][0]["prompt_token_ids"][:1]
    # an echo is large and takes little time: the first token is the longest
    body = {"model": "pocket", "prompt": begin * 3900, "max_tokens": 0, "echo": True, "return_token_ids": True, "n": 128}
    held, status = [], 200
    try:
        while True:
            status, headers, data = ask("/v1/completions", {**body, "seed": len(held)})
            if status != 200:
                break
            assert len(held) < 100, metric("unread_bytes")
            until(lambda: metric("unread_bytes") == (before if held else 0))
            held += [raw_request({**body, "seed": len(held)})]
            until(lambda: metric("running ") + metric("waiting ") == 0 and metric("unread_bytes") > len(data) * (len(held) - 0.5))
            before = metric("unread_bytes")
        assert status == 429 and int(headers["Retry-After"]) >= 1 and b"not read" in data, (status, data)
        assert len(held) > 1 and metric("unread_bytes") < 2 ** 27, (len(held), metric("unread_bytes"))
        complete(prompt="a", max_tokens=1) # what is short fits
        assert ask("/health")[0] == ask("/v1/models")[0] == 200
    finally:
        for s in held:
            s.close()
    until(lambda: metric("unread_bytes") == 0)
    assert ask("/v1/completions", body)[0] == 200
    # a short request whose answer would be large
    refused(400, "prompt", prompt=[begin * 3900] * 8, max_tokens=0, echo=True, n=128)
    refused(400, "prompt", prompt=[begin * 3900] * 20, max_tokens=1, return_token_ids=True, n=64)


def dying(pid):
    """The worker is killed under two completions and a stream: they begin anew, and nothing of them is lost or doubled."""
    body = dict(prompt="a = 3", max_tokens=800, ignore_eos=True, seed=3)
    want = complete(**body)["choices"][0]["text"]
    for _ in range(5):  # all may have ended before the kill
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            whole = [pool.submit(complete, **body) for _ in range(2)]
            parts = pool.submit(events, "/v1/completions", **body)
            until(lambda: metric("running ") > 0)
            with open(f"/proc/{pid}/task/{pid}/children") as f:
                os.kill(int(f.read().split()[0]), signal.SIGKILL)
            assert [r.result()["choices"][0]["text"] for r in whole] == [want] * 2
            assert "".join(p["choices"][0]["text"] for p in parts.result()) == want
        if metric("lost_total") > 0:
            return
    raise AssertionError("no completion was lost")


def poisoned(ids):
    """One request kills every worker that gets it: it fails in the end, and those beside it, before it and behind it do not."""
    ids = [int(i) for i in ids.split(",")]
    jobs = [{"model": ("pocket", "pocket@quest:k_pages=2")[i % 2], "prompt": f"a = {i}", "max_tokens": 20 + i, "seed": i, "stream": i % 3 == 0}
            for i in range(14)]
    want = [ask("/v1/completions", j)[2] for j in jobs]
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        bad = pool.submit(ask, "/v1/completions", {"model": "pocket", "prompt": ids, "max_tokens": 300})
        got = list(pool.map(lambda j: ask("/v1/completions", j), jobs))
        assert [g[0] for g in got] == [200] * len(jobs), got
        assert [g[2] for g in got] == want
        status, _, data = bad.result()
        assert status == 500 and b"ended" in data and b"alone" in data, (status, data)
    assert [ask("/v1/completions", j)[2] for j in jobs[:3]] == want[:3]


def repeated(ids):
    """A client asks for it again and again: the deaths are the request's fault, and no device is given up for them."""
    for _ in range(11): # 22 deaths in an hour; at 21 a device is out
        assert ask("/v1/completions", {"model": "pocket", "prompt": [int(i) for i in ids.split(",")]})[0] == 500
    complete(prompt="a = 3", max_tokens=4)


def workers(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(x) for x in f.read().split()]


def distrusted(pid, mark, log):
    """A worker is killed, and its next life tells wrong tokens: it answers nothing, and the one behind it does."""
    body = dict(prompt="a = 3", max_tokens=40, temperature=0)
    want = complete(**body)["choices"]
    n = len(workers(pid))
    until(lambda: metric("workers_ready") == n)
    open(mark, "w").close()
    os.kill(workers(pid)[0], signal.SIGKILL)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        until(lambda: "by signal 9" in open(log).read())
        got = [pool.submit(complete, **body) for _ in range(4)]
        until(lambda: "do not trust this device" in open(log).read())
        os.remove(mark)
        assert all(g.result()["choices"] == want for g in got)
    until(lambda: metric("workers_ready") == n)
    assert complete(**body)["choices"] == want


def doubted(pid, mark, log):
    """Of two workers one has answered: that one is doubted, and once, however often it finds wrong tokens."""
    complete(prompt="a = 3", max_tokens=4)
    pids = workers(pid)
    open(mark, "w").close()
    for i, worker in enumerate(pids):
        os.kill(worker, signal.SIGKILL)
        until(lambda: open(log).read().count(f"cpu:{i}: the worker was ended: after its restart") > 1)
    os.remove(mark)
    until(lambda: metric("workers_ready") == len(pids))
    assert open(log).read().count("what it answered before its restart may be wrong") == 1, open(log).read()


def swallowed():
    """Special tokens that swallow the white space behind them, as Phi-3's: what follows begins where it stands in the text."""
    text = "2+3</think>\n\n4 \u00e9+5"
    l = complete(prompt=text, max_tokens=0, echo=True, logprobs=0)["choices"][0]["logprobs"]
    assert "\n" not in l["tokens"] and len(l["tokens"]) == 11, l
    assert l["text_offset"] == [0, 0, 1, 2, 3, 13, 14, 15, 15, 16, 17], l


def composed():
    """A tokenizer that composes characters (NFC), as Qwen's: offsets go on behind the one that is spelled otherwise."""
    text = "e\u0301 + 2 = x"
    l = complete(prompt=text, max_tokens=0, echo=True, logprobs=0)["choices"][0]["logprobs"]
    behind = [(t, at) for t, at in zip(l["tokens"], l["text_offset"]) if t.strip() in ("+", "2", "=", "x")]
    assert len(behind) == 4 and all(text[at:at + len(t)] == t for t, at in behind), l


def drain(pid):
    """What runs ends, and nothing new is taken. A stream that nobody reads keeps the server from ending meanwhile; it leaves
    two of the batch's eight places, and is more than the system keeps for a socket."""
    held = raw_request({**LONG, "n": 6, "stream": True, "logprobs": 0, "return_token_ids": True})
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(complete, prompt="a = 3", max_tokens=300, ignore_eos=True)
        until(lambda: metric("running ") + metric("waiting ") > 6 or running.done())
        for _ in range(3):  # to the process and to its group: one wish
            os.kill(pid, signal.SIGTERM)
            time.sleep(0.1)
        until(lambda: ask("/health")[0] == 503)
        status, headers, _ = ask("/v1/completions", {"model": "pocket", "prompt": "a"})
        assert status == 503 and int(headers["Retry-After"]) >= 1, status
        assert running.result()["usage"]["completion_tokens"] == 300
    held.close()


def cut(pid):
    """What is open when the server ends is answered: with a status, or in a stream with an event."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        parts = pool.submit(ask, "/v1/completions", {**LONG, "stream": True})
        until(lambda: metric("running ") > 0)
        whole = pool.submit(ask, "/v1/completions", LONG)
        until(lambda: metric("running ") + metric("waiting ") > 60)
        os.kill(pid, signal.SIGINT)
        until(lambda: ask("/health")[0] == 503)
        os.kill(pid, signal.SIGINT)
        status, headers, data = whole.result()
        assert status == 503 and headers["Retry-After"] and json.loads(data)["error"]["code"] == 503, (status, data)
        status, _, data = parts.result()
        if status == 200:  # else not a byte was there yet
            assert json.loads(data.decode().split("\n\n")[-2][len("data: "):])["error"]["code"] == 503, data[-300:]
        else:
            assert status == 503, (status, data)


def key():
    body = {"model": "pocket", "prompt": "a", "max_tokens": 1}
    for path in ("/v1/models", "/v1/completions"):
        for given in (None, "Bearer", "Bearer ", "Bearer opensesam", "Basic opensesame", "Bearer Opensesame"):
            status, headers, data = ask(path, body if path != "/v1/models" else None, {"Authorization": given} if given else {})
            assert status == 401, (given, status)
            assert b"opensesame" not in data
        assert ask(path, body if path != "/v1/models" else None, {"Authorization": "bearer opensesame"})[0] == 200
    assert ask("/health")[0] == 200 and ask("/metrics")[0] == 200


def hub():
    ids = [m["id"] for m in json.loads(ask("/v1/models")[2])["data"]]
    assert ids == ["Model-1.5B", "Model-1.5B@full", "Model-1.5B@quest:k_pages=2"], ids
    texts = [[complete(model=owner + name, prompt="a = 3", temperature=0, max_tokens=20)["choices"] for owner in ("", "own/")] for name in ids]
    assert all(a == b for a, b in texts) and texts[0] == texts[1]
    for name in ids:
        assert ask("/v1/models/own/" + name)[0] == 200
    for name in ("other/Model-1.5B", "own/", "own/own/Model-1.5B", "own/Model-1.5B@h2o"):
        assert ask("/v1/models/" + name)[0] == 404, name


if what == "all":
    for f in (models, refusals, answers, echoes, streams, company, leaving):
        began = time.monotonic()
        f()
        print(f"{f.__name__}: {time.monotonic() - began:.1f} s", file=sys.stderr)
else:
    globals()[what](*(int(a) if a.isdigit() else a for a in sys.argv[3:]))
