#!/usr/bin/env python3
"""Measures how much faster a sweep gets with more GPUs: the same jobs on 1, 2, .. of them, in a fresh run each time.

Without --run the sweep is synthetic: random weights in the shape of --shape, and 400 jobs whose lengths follow a
lognormal distribution, as those of reasoning traces do. Prints one JSON line per number of GPUs: the wall time from
start to end, loading included, and the ratio to the first one; the seconds of decoding alone and their ratio; and the
parts of the wall time, in seconds:

loading   until the sweep says what it decodes: its first device is ready
decoding  until the last completion
tail      of these, the last ones in which fewer jobs are left than the devices decode together
idle      of these, how much earlier the first device ended than the last
ending    grades, report, and the end of the processes

`coordinator` is the share of one core that the sweep's own process took while it decoded (the workers are others), and
`jobs` the fewest and the most completions of a device.

With --step-ms the devices are workers on the CPU with a tiny model, each of whose decode steps takes so long, asleep
for most of it: that tells what a machine of so many GPUs asks of the process that gives out work, on a few cores.

Of a synthetic sweep also what decoding can be at best, longest jobs first, where each step takes the same time whatever
its batch (`possible_ratio`): places that stay empty in the tail are lost, and more so on more devices.
"""
import argparse
import collections
import heapq
import json
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

BATCH = 32
ROOT = pathlib.Path(__file__).resolve().parent.parent


def lognormal_lengths(n, mean, sigma, seed):
    """n different lengths whose distribution has this mean."""
    r, out = random.Random(seed), set()
    while len(out) < n:
        out.add(max(16, round(r.lognormvariate(math.log(mean) - sigma * sigma / 2, sigma))))
    out = list(out)
    r.shuffle(out)
    return out


def synthetic(args, folder):
    run = {
        "model": "pocket", "temperature": 1, "ignore_eos": True, "samples": 2, "policies": ["full"],
        "tasks": [{"name": "pocket.relay", "problems": 5}],
        "max_new_tokens": lognormal_lengths(args.jobs // 10, args.mean, 0.5, 1),
    }
    path = folder / "scaling.json"
    path.write_text(json.dumps(run))
    # Few sequences at a time per GPU: with as many as there are jobs, only the longest job would be measured.
    name = f"{args.jobs // 10 * 10} jobs, random weights of {pathlib.Path(args.shape).stem}"
    return [str(path), "--model", f"random:{args.shape}", "-b", str(BATCH)], name


def decoding_seconds(log):
    """Of the line "400 completions, 1000000 tokens in 1 min 20 s: 12500 tokens/s"; None without it."""
    m = re.search(r", (\d+) tokens in .*: (\d+) tokens/s$", log)
    return int(m[1]) / int(m[2]) if m else None


def possible_steps(lengths, devices):
    """Steps until the last job ends, the longest jobs first, each to the place that is free first."""
    places = [0] * (BATCH * devices)
    for n in sorted(lengths, reverse=True):
        heapq.heapreplace(places, places[0] + n)
    return max(places)


def watch(journals, seen, is_over):
    """Adds (clock, device) of every completion that comes into the journals, of a sweep that writes one."""
    files = {}
    while True:
        last = is_over.wait(0.02)
        for path in journals.glob("*.jsonl"):
            file = files.setdefault(path, open(path, "rb") if path not in files else None)
            while line := file.readline():
                if not line.endswith(b"\n"):  # the rest comes later
                    file.seek(-len(line), 1)
                    break
                seen.append((time.monotonic(), json.loads(line)["device"]))
        if last:
            return


def own_seconds(pid):
    """Processor time that the process itself has taken, without that of its children."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(command, out, places, env):
    """Runs a sweep. Its exit code, standard error, wall time and the parts of it."""
    start, seen, is_over, log, at = time.monotonic(), [], threading.Event(), [], {}
    watcher = threading.Thread(target=watch, args=(out / "journal", seen, is_over))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env=env)
    watcher.start()
    for line in process.stderr:
        log.append(line.strip())
        if " tokens to decode" in line:
            at["loaded"], used = time.monotonic(), own_seconds(process.pid)
        elif decoding_seconds(line.strip()):
            at["decoded"], used = time.monotonic(), own_seconds(process.pid) - used
    process.wait()
    end = time.monotonic()
    is_over.set()
    watcher.join()
    parts = {}
    if len(at) == 2 and seen:
        last = {device: clock for clock, device in seen}
        jobs = collections.Counter(device for _, device in seen).values()
        parts = {"loading": at["loaded"] - start, "tail": at["decoded"] - seen[max(0, len(seen) - places - 1)][0],
                 "idle": max(last.values()) - min(last.values()), "ending": end - at["decoded"]}
        parts = {k: round(v, 2) for k, v in parts.items()}
        parts |= {"coordinator": round(used / (at["decoded"] - at["loaded"]), 4), "jobs": [min(jobs), max(jobs)]}
    return process.returncode, "\n".join(log), end - start, parts


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--program", default=str(ROOT / "build/kveval"))
    p.add_argument("--counts", default="1,2", help="numbers of GPUs")
    p.add_argument("--backend", default="cuda", help="cuda or cpu")
    p.add_argument("--run", help="a run file instead of the synthetic sweep")
    p.add_argument("--shape", default=str(ROOT / "bench/shapes/qwen2_1.5b.json"))
    p.add_argument("--jobs", type=int, default=400)
    p.add_argument("--mean", type=int, default=1000, help="tokens of a job")
    p.add_argument("--step-ms", type=int, help="CPU workers whose steps take so long")
    args = p.parse_args()
    env = dict(os.environ)
    if args.step_ms:
        args.backend, args.shape = "cpu", str(ROOT / "bench/shapes/tiny.json")
        env["KVEVAL_CPU_FAULT"] = f"slow:{args.step_ms}"
    folder = pathlib.Path(tempfile.mkdtemp())
    base, base_decoding, base_steps, status = None, None, None, 0
    lengths = lognormal_lengths(args.jobs // 10, args.mean, 0.5, 1)
    try:
        what, name = ([args.run], pathlib.Path(args.run).stem) if args.run else synthetic(args, folder)
        for count in map(int, args.counts.split(",")):
            devices = f"{args.backend}:0" + (f"-{count - 1}" if count > 1 else "")
            command = [args.program, "sweep", *what, "-o", str(folder / f"out{count}"), "--devices", devices]
            code, log, seconds, parts = measure(command, folder / f"out{count}", BATCH * count, env)
            if code:
                print(f"{' '.join(command)} ended with {code}: {log[-300:]}", file=sys.stderr)
                status = 1
                break
            log = (log.splitlines() or [""])[-1]
            decoding = decoding_seconds(log)
            base, base_decoding = base or seconds, base_decoding or decoding
            line = {"name": f"sweep {name}, {devices}", "value": round(seconds, 2), "unit": "s",
                    "ratio": round(base / seconds, 3), "decoding": decoding and round(decoding, 2),
                    "decoding_ratio": decoding and round(base_decoding / decoding, 3)}
            if args.run:
                parts.pop("tail", None)  # its batch is the device's
            else:
                steps = possible_steps(lengths * 10, count)
                base_steps = base_steps or steps
                line["possible_ratio"] = round(base_steps / steps, 3)
            print(json.dumps({**line, **parts, "log": log}), flush=True)
    finally:
        shutil.rmtree(folder)
    return status


if __name__ == "__main__":
    sys.exit(main())
