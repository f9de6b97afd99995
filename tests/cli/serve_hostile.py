"""Hostile clients against a server of tests/cli/serve_hostile.sh: serve_hostile.py PORT PID SMALL. While each of them does its
harm, an honest client asks the same questions and must get the same bytes. Only the standard library; every loop is bounded."""
import concurrent.futures
import http.client
import json
import random
import resource
import socket
import struct
import sys
import threading
import time

port, pid, small = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "1"
WAIT = 300  # seconds until a server that does not answer is given up
draw = random.Random(7)
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
QUESTIONS = [("/v1/completions", {"model": "pocket", "prompt": f"a = {i}", "max_tokens": 12, "seed": i, "stream": i == 2})
             for i in range(3)]
QUESTIONS += [("/v1/chat/completions", {"model": "pocket", "messages": [{"role": "user", "content": "x0 = 3"}], "max_tokens": 9})]


def connect():
    return socket.create_connection(("127.0.0.1", port), timeout=WAIT)


def ask(path, body):
    """Until there is room for it; returns the bytes of the answer."""
    for _ in range(10000):
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
        c.request("POST", path, json.dumps(body), {"Authorization": "Bearer opensesame"})
        r = c.getresponse()
        data = r.read()
        c.close()
        if r.status not in (429, 503):
            assert r.status == 200, (r.status, data)
            return data
        time.sleep(0.02)
    raise AssertionError("no room in the end")


def peak_kb():
    with open(f"/proc/{pid}/status") as f:
        return int(next(line.split()[1] for line in f if line.startswith("VmHWM")))


def head(length, key="opensesame", path="/v1/completions"):
    return (f"POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Length: {length}\r\n\r\n").encode()


def answers(s, most=1 << 20):
    """What comes until the other side closes, at most so much; a reset is an end, too."""
    out = b""
    try:
        while len(out) < most:
            part = s.recv(65536)
            if not part:
                break
            out += part
    except (ConnectionResetError, BrokenPipeError):
        pass
    s.close()
    return out


def send(s, data):
    """The server may hang up meanwhile."""
    try:
        s.sendall(data)
        return True
    except (ConnectionResetError, BrokenPipeError):
        return False


# Each yields between its acts of harm, and is left to itself while the honest client asks.

def slow_headers():
    held = [connect() for _ in range(50)]
    for text in (b"POST /v1/comp", b"letions HTTP/1.1\r\n", b"Host: a\r\nX-", b"Slow: 1"):
        for s in held:
            send(s, text)
        yield
    for s in held:
        s.close()


def slow_bodies():
    held = [connect() for _ in range(50)]
    for s in held:
        send(s, head(100000))
    for _ in range(4):
        for s in held:
            send(s, b'{"model": "poc')
        yield
    for s in held:
        s.close()


def idle():
    held = [connect() for _ in range(1000)]
    yield
    for s in held:
        s.close()


def cut_streams():
    for i in range(30):
        data = json.dumps({"model": "pocket", "prompt": "b", "max_tokens": 3000, "ignore_eos": True, "stream": i % 2 == 0, "n": 3}).encode()
        s = connect()
        send(s, head(len(data)) + data)
        if i % 2 == 0:
            s.recv(draw.randrange(1, 2000))
        if i % 3 == 0:  # a reset instead of an end
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
        if i % 10 == 9:
            yield


def waiting():
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
    c.request("GET", "/metrics")
    return sum(float(line.split()[1]) for line in c.getresponse().read().decode().splitlines()
               if line.startswith(("kveval_serve_running ", "kveval_serve_waiting ")))


def many_values():
    """A value of JSON takes a hundred times its text in memory, and a request may wait for long."""
    wide = b'{"model":"pocket","prompt":"b","max_tokens":3000,"ignore_eos":true,"n":4,"metadata":[%s]}'
    for data in (wide % b",".join([b"{}"] * 1000000), wide % b",".join([b"1"] * 3000000)):
        s = connect()
        send(s, head(len(data)) + data)
        s.shutdown(socket.SHUT_WR)
        assert answers(s).startswith(b"HTTP/1.1 400"), "a million values were taken"
    data = wide % b",".join([b"{}"] * 190000)  # kept, it would be 40 MiB each
    held = [connect() for _ in range(16)]
    for s in held:
        send(s, head(len(data)) + data)
    for _ in range(200):
        if waiting() >= 4 * len(held):
            break
        time.sleep(0.05)
    for s in held:
        s.close()
    yield


def never_read():
    held = []
    for _ in range(8):
        data = json.dumps({"model": "pocket", "prompt": "b", "max_tokens": 300, "ignore_eos": True, "stream": True, "logprobs": 0}).encode()
        s = connect()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        send(s, head(len(data)) + data)
        held.append(s)
    yield
    for s in held:
        s.close()


def large_bodies():
    mega = b" " * (1 << 20)
    s = connect()
    send(s, head(100 << 20))
    assert answers(s).startswith(b"HTTP/1.1 413"), "100 MiB were not refused"
    yield
    for _ in range(2 if small else 6):  # the length is not said, or wrong
        s = connect()
        send(s, b"POST /v1/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer opensesame\r\nTransfer-Encoding: chunked\r\n\r\n")
        sent = 0
        while sent < 100 and send(s, b"100000\r\n" + mega + b"\r\n"):
            sent += 1
        assert sent < 100, "100 MiB in pieces were taken"
        answers(s)
        yield
    s = connect()  # a little too much is read to its end and answered
    send(s, b"POST /v1/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer opensesame\r\nConnection: close\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n" + (b"100000\r\n" + mega + b"\r\n") * 20 + b"0\r\n\r\n")
    assert answers(s).startswith(b"HTTP/1.1 413"), "20 MiB in pieces were not refused"
    yield
    s = connect()
    send(s, b"GET /health HTTP/1.1\r\nX-Long: " + b"a" * (1 << 20) + b"\r\n\r\n")
    assert not answers(s).startswith(b"HTTP/1.1 200"), "a header of 1 MiB was taken"
    yield


def nonsense():
    bodies = [b"", b"{", b"\xff\xfe", b'{"model": "\xc3\x28"}', b"[" * 200000, b"[" * 200000 + b"]" * 200000, b"\0" * 1000,
              b'{"model": "pocket", "prompt": "\\ud800"}', b'{"model": "pocket", "prompt": 1e999}',
              b'{"model": "pocket", "prompt": "' + b"a" * 300000 + b'"}', b'{"model":"pocket","prompt":[' + b"1," * 300000 + b"1]}"]
    good = json.dumps({"model": "pocket", "prompt": "a", "max_tokens": 2}).encode()
    for _ in range(100 if small else 1000):
        body = bytearray(good)
        for _ in range(draw.randrange(1, 6)):
            at = draw.randrange(len(body))
            body[at:at + draw.randrange(3)] = bytes(draw.randrange(256) for _ in range(draw.randrange(3)))
        bodies.append(bytes(body))
    for body in bodies:
        s = connect()
        send(s, head(len(body)).replace(b"Host: a", b"Host: a\r\nConnection: close") + body)
        status = answers(s)[:12]
        assert status in (b"HTTP/1.1 400", b"HTTP/1.1 404", b"HTTP/1.1 200"), (status, body[:80])
    yield
    for _ in range(100 if small else 500):  # not even HTTP
        s = connect()
        send(s, bytes(draw.randrange(256) for _ in range(draw.randrange(1, 200))) + b"\r\n\r\n")
        s.shutdown(socket.SHUT_WR)
        answers(s)
    yield
    for line in (b"GET / HTTP/9.9\r\n\r\n", b"POST /v1/completions HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                 b"POST /v1/completions HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", b"GET /v1/models%00 HTTP/1.1\r\nHost: a\r\n\r\n",
                 b"POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{",
                 b"\r\n\r\n\r\n", b"BREW /health HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n"):
        s = connect()
        send(s, line)
        s.shutdown(socket.SHUT_WR)
        assert not answers(s).startswith(b"HTTP/1.1 200"), line
    yield


def pipelining():
    data = json.dumps({"model": "pocket", "prompt": "a", "max_tokens": 2, "stream": False}).encode()
    s = connect()
    last = head(len(data)).replace(b"Host: a", b"Host: a\r\nConnection: close")
    send(s, (head(len(data)) + data) * 20 + last + data)
    all = answers(s)
    assert all.count(b"HTTP/1.1 200") == 21, all.count(b"HTTP/1.1 200")
    bodies = [part for part in all.split(b"\r\n\r\n")[1:]]
    assert len({b.split(b"HTTP/1.1")[0] for b in bodies}) == 1, "answers on one connection differ"
    yield


def wrong_keys():
    for key in ("", "x", "opensesam", "opensesame2", "OPENSESAME", "a" * 5000, "\xe9" * 20):
        for path in ("/v1/completions", "/v1/chat/completions"):
            s = connect()
            send(s, head(2, key, path).replace(b"Host: a", b"Host: a\r\nConnection: close") + b"{}")
            status = answers(s)
            assert status.startswith(b"HTTP/1.1 401"), (key[:20], status[:40])
            assert b"opensesame" not in status
    yield


expected = [ask(*q) for q in QUESTIONS]
before = peak_kb()
stop = threading.Event()
asked = 0


def honest():
    """The whole time, beside what is asked between two acts."""
    global asked
    while not stop.is_set():
        for q, want in zip(QUESTIONS, expected):
            assert ask(*q) == want, "an honest client got other bytes"
            asked += 1


with concurrent.futures.ThreadPoolExecutor(1) as pool:
    beside = pool.submit(honest)
    try:
        for harm in (slow_headers, slow_bodies, idle, cut_streams, many_values, never_read, large_bodies, nonsense, pipelining, wrong_keys):
            began = time.monotonic()
            for _ in harm():
                for q, want in zip(QUESTIONS, expected):
                    assert ask(*q) == want, f"{harm.__name__}: an honest client got other bytes"
            print(f"{harm.__name__}: {time.monotonic() - began:.1f} s, {peak_kb() >> 10} MiB", file=sys.stderr)
    finally:
        stop.set()
    beside.result()
grown = peak_kb() - before
assert grown < 400 << 10, f"the server has grown by {grown >> 10} MiB"
# the places of all those that went away are free again
for _ in range(int(WAIT / 0.05)):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
    c.request("GET", "/metrics")
    text = c.getresponse().read().decode()
    if "kveval_serve_running 0\n" in text and "kveval_serve_waiting 0\n" in text:
        break
    time.sleep(0.05)
else:
    raise AssertionError("completions of clients that went away go on")
print(f"{asked} honest answers beside, {grown >> 10} MiB more", file=sys.stderr)
