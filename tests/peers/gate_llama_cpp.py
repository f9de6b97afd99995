#!/usr/bin/env python3
"""The gate for an engine beside this program: llama-cpp-python's server with SmolLM2-135M-Instruct, the same file for many
nights, then a worse quantisation and a server that puts prompts into another form.

    gate_llama_cpp.py --kveval build/kveval --model models/SmolLM2-135M-Instruct --good Q8_0.gguf --worse Q2_K.gguf -o DIR

Needs llama-cpp-python with its server in this Python (pip install 'llama-cpp-python[server]'); GGUF files are made with
llama.cpp's convert_hf_to_gguf.py and llama_model_quantize(). Everything is on loopback. Each night is a new process of the
server. Prints a line a night, and ends with 1 when a night of the same file is an alarm or a planted fault is none.
"""
import argparse, json, os, shutil, socket, subprocess, sys, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
ap.add_argument("--kveval", required=True)
ap.add_argument("--model", required=True, help="folder of the tokenizer")
ap.add_argument("--good", required=True, help="GGUF file of the baseline and of the nights")
ap.add_argument("--worse", required=True, help="GGUF file of the planted loss")
ap.add_argument("--nights", type=int, default=20)
ap.add_argument("--problems", type=int, default=24, help="in the task")
ap.add_argument("--samples", type=int, default=16, help="of each problem in the baseline")
ap.add_argument("--no-scores", action="store_true", help="the server keeps no logits: no replays, and much faster")
ap.add_argument("--threads", type=int, default=2)
ap.add_argument("-o", "--out", required=True)
args = ap.parse_args()
os.makedirs(args.out, exist_ok=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Engine:
    """A server with one file, for as long as it is needed."""

    def __init__(self, gguf):
        self.port = free_port()
        log = open(os.path.join(args.out, "server.log"), "a")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "llama_cpp.server", "--model", gguf, "--model_alias", "smollm2", "--n_ctx", "256",
             "--logits_all", "false" if args.no_scores else "true", "--n_threads", str(args.threads), "--n_threads_batch", str(args.threads), "--port", str(self.port),
             "--verbose", "false"], stdout=log, stderr=log)

    def __enter__(self):
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/models", timeout=5).read()
                return self.port
            except OSError:
                time.sleep(0.2)
                if self.process.poll() is not None:
                    raise SystemExit("the server ended; see server.log")
        raise SystemExit("the server does not answer")

    def __exit__(self, *what):
        self.process.terminate()
        self.process.wait()


class WrongForm:
    """A proxy that gives the model's turn to the user: a template that was edited, with as many tokens as before (with fewer
    or more, kveval's count of them ends the night with 3)."""

    def __init__(self, port):
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *what):
                pass

            def pass_on(self, body=None):
                if body:
                    body = body.replace(b"<|im_start|>assistant", b"<|im_start|>user user")
                request = urllib.request.Request(f"http://127.0.0.1:{port}{self.path}", body, {"Content-Type": "application/json"})
                answer = urllib.request.urlopen(request, timeout=600).read()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                try:
                    self.wfile.write(answer)
                except OSError:  # who asked has gone
                    self.close_connection = True

            def do_GET(self):
                self.pass_on()

            def do_POST(self):
                self.pass_on(self.rfile.read(int(self.headers["Content-Length"])))

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self.server.server_address[1]

    def __exit__(self, *what):
        self.server.shutdown()


run = os.path.join(args.out, "run.json")
base = os.path.join(args.out, "base.jsonl")
rooms = ["garden", "cellar", "library", "kitchen", "harbor", "museum", "tower", "studio", "stable", "office"]
with open(os.path.join(args.out, "codes.jsonl"), "w") as f:
    for i in range(args.problems):
        first, other = (f"The code of the {rooms[(i + k) % len(rooms)]} is {(7919 * (2 * i + k + 1)) % 900 + 100}." for k in range(2))
        f.write(json.dumps({"problem": f"{first} {other} What is the code of the {rooms[i % len(rooms)]}? Answer in one sentence.",
                            "answer": (7919 * (2 * i + 1)) % 900 + 100}) + "\n")
with open(run, "w") as f:
    json.dump({"model": {"endpoint": "http://127.0.0.1:1/v1", "name": "smollm2", "tokenizer": os.path.abspath(args.model),
                         "max_context": 256, "prompt": "text", "stream": False, "concurrency": 4},
               "seed": 1000, "temperature": 0.3, "samples": 16, "max_new_tokens": 32, "policies": ["full"],
               "tasks": [{"kind": "math", "file": "codes.jsonl", "as": "codes", "prompts": {"plain": "{problem}"}}]}, f)


def gate(folder, port, *more):
    shutil.rmtree(folder, ignore_errors=True)
    begun = time.time()
    code = subprocess.run([args.kveval, "gate", "--run", run, "--base", base, "-o", folder, "-q", "--set",
                           f"model.endpoint=http://127.0.0.1:{port}/v1", *more]).returncode
    return code, time.time() - begun


def night(name, port, seed):
    folder = os.path.join(args.out, name)
    code, seconds = gate(folder, port, "--set", f"seed={seed}")
    g = json.load(open(os.path.join(folder, "gate", "gate.json")))
    kl = ", ".join("%.2g of %.2g" % (r["kl"], r["kl_limit"]) for r in g["replays"]) or "not scored"
    looks = [s["looks"][-1] for s in g["settings"] if s["looks"]]
    points = "; ".join("%.1f %% of %.1f after %d" % (100 * l["accuracy"], 100 * l["base_accuracy"], l["samples"]) for l in looks)
    turned = ", ".join("%s %s %.0f to %.0f %%" % (x["task"], x["problem"], 100 * x["base"], 100 * x["now"]) for x in g["largest_losses"][:3])
    print(f"{name}: {code} {g['verdict']}; KL {kl}; {points}; turned: {turned or 'none'}; {seconds:.0f} s", flush=True)
    return code


with Engine(args.good) as port:
    if os.path.exists(base):
        os.remove(base)
    code, seconds = gate(os.path.join(args.out, "base"), port, "--rebaseline", "--samples", str(args.samples))
print(f"baseline: {code}, {seconds:.0f} s", flush=True)
if code:
    sys.exit(1)
faults = []
for plant in ("worse", "form"):
    with Engine(args.worse if plant == "worse" else args.good) as port:
        if plant == "worse":
            code = night(plant, port, 1)
        else:
            with WrongForm(port) as through:
                code = night(plant, through, 1)
    if code != 1:
        faults.append(plant)
for i in range(args.nights):
    with Engine(args.good) as port:
        if night(f"night{i + 1}", port, i + 1) not in (0, 4):
            faults.append(f"night {i + 1}")
print("as it should be" if not faults else "not as it should be: " + ", ".join(faults))
sys.exit(bool(faults))
