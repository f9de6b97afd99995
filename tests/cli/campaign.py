#!/usr/bin/env python3
"""The fault campaign: campaign.py PROGRAM FAULT_LIBRARY, started by campaign.sh, in a folder that takes what failed.

The list of runs is drawn from the seed before the first of them starts, so that a number of a run names one fault. A run
is a fault, or damage to a folder at rest, then the same command without it. What is required afterwards is in Run.finish().

Not among the faults: a worker that decodes other tokens and sends them in sound messages (the library's "lie"). Nobody
can notice that in a worker's first life; after a restart its canary does (worker_restarts.sh). A job that ends every worker
that gets it (worker_restarts.sh, too) is an error by design, for which the same command does not exit with 0.
"""

import collections
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:3])
SEED = int(os.environ.get("CAMPAIGN_SEED", "1"))
RUNS = int(os.environ.get("CAMPAIGN_RUNS", "180"))
AT_A_TIME = 2
PATIENCE = 60  # seconds that a sweep of less than one may take, back-off of workers and a busy machine included
RUN_FILE = {
    "model": "pocket", "max_new_tokens": 24, "tasks": [{"name": "pocket.lookup", "steps": 3, "problems": 3}],
    "policies": ["full", {"name": "quest", "k_pages": 4}],
}
MODES = {"alone": [], "workers": ["--devices", "cpu:0-1", "--worker-timeout", "2"]}
END_OF_RECORD = re.compile(rb',"crc":"([0-9a-f]{8})"}\n$')

crc_table = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    crc_table.append(byte)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc_table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def records(folder):
    """How often each (key, digest of its tokens) has a whole record."""
    found = collections.Counter()
    for path in glob.glob(folder + "/journal/*.jsonl"):
        for line in read(path).splitlines(True):
            end = END_OF_RECORD.search(line)
            if end and crc32c(line[: end.start()]) == int(end.group(1), 16):
                record = json.loads(line)
                found[record["key"], record["ids_sha256"]] += 1
    return found


def living(group):
    """Processes of a group that have not ended."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return []
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            state, _, its_group = read(path).decode().rpartition(") ")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state not in "ZX":
            found.append(path.split("/")[2])
    return found


class Failed(Exception):
    pass


class Run:
    """A run folder and the command that fills it."""

    def __init__(self, place, mode):
        os.makedirs(place)
        self.place, self.mode, self.out, self.said = place, mode, place + "/out", ""
        self.command = [PROGRAM, "sweep", os.path.join(os.path.dirname(place), "run.json"), "-o", self.out,
                        "--threads", "1", "--max-batch", "2"] + MODES[mode]
        self.n_logs, self.noticed = 0, False

    def start(self, fault=None, once=False, more=()):
        environment = dict(os.environ)
        if fault:
            environment.update(LD_PRELOAD=LIBRARY, KV_FAULT=fault)
            if once:
                environment["KV_FAULT_ONCE"] = self.place + "/once"
        self.n_logs += 1
        with open("%s/said.%d" % (self.place, self.n_logs), "wb") as log:
            process = subprocess.Popen(self.command + list(more), env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, start_new_session=True)
        process.log = log.name
        return process

    def wait(self, process):
        """The exit code. Workers may not outlive the sweep."""
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise Failed("no end within %d s: %s" % (PATIENCE, read(process.log).decode(errors="replace")))
        give_up = time.monotonic() + 5
        while living(process.pid):
            if time.monotonic() > give_up:
                left = living(process.pid)
                os.killpg(process.pid, signal.SIGKILL)
                raise Failed("processes are left over: %s" % left)
            time.sleep(0.01)
        self.said = read(process.log).decode(errors="replace").strip()
        self.noticed |= code != 0 or "warning: " in self.said
        return code

    def sweep(self, *allowed, **how):
        code = self.wait(self.start(**how))
        if allowed and code not in allowed:
            raise Failed("exit %d: %s" % (code, self.said))
        return code

    def results(self):
        csv = self.place + "/export.csv"
        done = subprocess.run([PROGRAM, "export", self.out, "--format", "csv", "-o", csv], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=PATIENCE)
        if done.returncode:
            raise Failed("export exits %d: %s" % (done.returncode, done.stderr.decode()))
        paths = [self.out + "/report/" + name for name in ("accuracy.csv", "lengths.csv", "pairs.csv")] + [csv]
        return [read(path) for path in paths]

    def finish(self, want):
        """The same command: exit code 0, the results of the undisturbed sweep, a record for every job, no finished job
        decoded anew, and what killed processes left is cleared away once it is old enough."""
        before = records(self.out)
        for path in glob.glob(self.out + "/**/*.tmp", recursive=True):
            os.utime(path, (time.time() - 7200,) * 2)
        self.sweep(0)
        after = records(self.out)
        if set(after) != set(want["records"]):
            raise Failed("%d records, want %d; not wanted: %s" % (
                len(after), len(want["records"]), set(after) - set(want["records"])))
        for key, n in after.items():
            if n - before[key] != (0 if before[key] else 1):
                raise Failed("job %s has %d records, had %d" % (key[0], n, before[key]))
        if self.results() != want["results"]:
            raise Failed("the results are others")
        left = glob.glob(self.out + "/**/*.tmp", recursive=True)
        if left:
            raise Failed("temporary files stay: %s" % left)


# The faults. Each gets a Run, the campaign's Plan and random numbers of its own. Exit codes: 0, where the fault came too
# late or did no harm; 3, an error; 2 is a mistake of the caller, and no fault here is one.

def once_only(run):
    if any(n > 1 for n in records(run.out).values()):
        raise Failed("a job was decoded twice in one sweep")


def at_a_change(kind, *allowed):
    def fault(run, plan, rng, at):
        run.sweep(*allowed, fault="main %s %d" % (kind, at))
        once_only(run)
    return fault


def of_a_worker(kind):
    def fault(run, plan, rng, at):
        run.sweep(0, fault="worker %s %d" % (kind, at), once=True)
        once_only(run)
    return fault


def at_a_moment(number, whom, *allowed):
    def fault(run, plan, rng, at):
        process = run.start()
        time.sleep(rng.uniform(0, plan.seconds[run.mode]))
        try:
            (os.killpg if whom == "all" else os.kill)(process.pid, number)
        except ProcessLookupError:
            pass
        code = run.wait(process)
        if code not in allowed:
            raise Failed("exit %d: %s" % (code, run.said))
        once_only(run)
    return fault


def stopped_and_orphaned(run, plan, rng, at):
    """A stopped worker of a killed coordinator must be gone, too."""
    process = run.start(fault="worker stop %d" % at, once=True)
    time.sleep(rng.uniform(0.1, 0.5) + plan.seconds[run.mode])
    process.kill()
    run.wait(process)


def two_coordinators(run, plan, rng, at):
    """The first is held at one of its changes. The second is refused, unless the first does not hold the folder yet or
    does no longer."""
    first = run.start(fault="main pause %d" % at)
    give_up = time.monotonic() + PATIENCE
    while os.waitid(os.P_PID, first.pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() > give_up:
            raise Failed("the first sweep neither stops nor ends")
        time.sleep(0.005)
    is_held = "pid %d\n" % first.pid in (read(run.out + "/lock").decode() if os.path.exists(run.out + "/lock") else "")
    second = run.start()
    code = run.wait(second)
    is_refused = code == 3 and "out is in use by " in run.said
    os.kill(first.pid, signal.SIGCONT)
    of_first = run.wait(first)
    if of_first:
        raise Failed("the first sweep exits %d: %s" % (of_first, run.said))
    if not is_refused and (code or (is_held and at < plan.last_held)):
        raise Failed("the second sweep exits %d: %s" % (code, read(second.log).decode()))
    once_only(run)


def two_shards(run, plan, rng, at):
    """One of two shards that run at once is killed."""
    killed = run.start(fault="main kill %d" % at, more=["--shard", "0/2"])
    other = run.start(more=["--shard", "1/2"])
    run.wait(killed)
    code = run.wait(other)
    if code:
        raise Failed("the other shard exits %d: %s" % (code, run.said))
    once_only(run)


def clock_step(run, plan, rng, at):
    seconds = rng.choice([1, 60, 3600, 86400, 10 * 366 * 86400]) * rng.choice([-1, 1])
    run.sweep(0, fault="any clock %d" % seconds)
    once_only(run)


# Damage at rest, to a finished folder or to one whose sweep was killed in the middle.

def one_of(rng, pattern):
    found = sorted(path for path in glob.glob(pattern) if os.path.isfile(path))
    return rng.choice(found) if found else None


def cut(data, rng):
    return data[: rng.randrange(len(data))]


def flip(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def zeros(data, rng):
    """As after a power cut: the size is right, the bytes have not come."""
    at = rng.randrange(len(data))
    return data[:at] + bytes(len(data) - at)


def doubled(data, rng):
    lines = data.splitlines(True)
    for _ in range(rng.randint(1, 4)):
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"".join(lines)


def emptied(data, rng):
    return b""


def removed(data, rng):
    return None


def damage(pattern, *ways):
    def fault(run, plan, rng, at):
        plan.copy(run, rng)
        path = one_of(rng, run.out + "/" + pattern)
        changed = path and rng.choice(ways)(read(path), rng)
        if changed is not None:
            write(path, changed)
        elif path:
            os.remove(path)
    return fault


def copied(run, plan, rng, at):
    plan.copy(run, rng)
    path = one_of(rng, run.out + "/journal/*.jsonl")
    lines = read(path).splitlines(True)
    rng.shuffle(lines)
    write(run.out + "/journal/copy.1.2.jsonl", b"".join(lines))


def everywhere(change):
    """Of one record, which has to be decoded again: a journal for each of its bytes, damaged there."""
    def fault(run, plan, rng, at):
        plan.copy(run, rng)
        path = one_of(rng, run.out + "/journal/*.jsonl")
        lines = read(path).splitlines(True)
        line = lines.pop(rng.randrange(len(lines)))
        write(path, b"".join(lines))
        for byte in range(len(line)):
            write(run.out + "/journal/at.%d.jsonl" % byte, change(line, byte, rng))
    return fault


def cut_at(line, byte, rng):
    return line[:byte]


def flip_at(line, byte, rng):
    return line[:byte] + bytes([line[byte] ^ 1 << rng.randrange(8)]) + line[byte + 1 :]


DEAD, ERROR, ANY = -signal.SIGKILL, 3, (0, 3)
BOTH, WORKERS = ("alone", "workers"), ("workers",)
# Killed at a change: at every one, so their share of the runs is as many as there are.
KILLS = [
    ("main killed at a change", BOTH, at_a_change("kill", 0, DEAD)),
    ("all killed at a change", BOTH, at_a_change("killall", 0, DEAD)),
    ("main killed within a write", BOTH, at_a_change("short", 0, DEAD)),
]
# Name, share of the other runs, modes, what `at` counts up to, fault.
OTHERS = [
    ("main killed at a moment", 8, BOTH, 0, at_a_moment(signal.SIGKILL, "main", 0, DEAD)),
    ("all killed at a moment", 8, BOTH, 0, at_a_moment(signal.SIGKILL, "all", 0, DEAD)),
    ("terminated at a moment", 4, BOTH, 0, at_a_moment(signal.SIGTERM, "main", 0, 75, -signal.SIGTERM)),
    ("disk full at one change", 10, BOTH, "changes", at_a_change("full", *ANY)),
    ("disk full from a change on", 10, BOTH, "changes", at_a_change("filled", *ANY)),
    ("disk full within a write", 8, BOTH, "changes", at_a_change("part", *ANY)),
    ("EIO at one change", 10, BOTH, "changes", at_a_change("broken", *ANY)),
    ("EIO from a change on", 8, BOTH, "changes", at_a_change("dead", *ANY)),
    ("EINTR at a change", 6, BOTH, "changes", at_a_change("again", 0)),
    ("worker killed", 8, WORKERS, "messages", of_a_worker("sigkill")),
    ("worker exits early with 0", 6, WORKERS, "messages", of_a_worker("exit")),
    ("worker stopped", 5, WORKERS, "messages", of_a_worker("stop")),
    ("worker stops reporting", 5, WORKERS, "messages", of_a_worker("mute")),
    ("worker sends a wrong byte", 6, WORKERS, "messages", of_a_worker("garbage")),
    ("worker sends noise", 4, WORKERS, "messages", of_a_worker("noise")),
    ("worker ends within a message", 4, WORKERS, "messages", of_a_worker("half")),
    ("worker says a thing twice", 4, WORKERS, "messages", of_a_worker("twice")),
    ("worker stopped, main killed", 3, WORKERS, "messages", stopped_and_orphaned),
    ("two coordinators", 8, BOTH, "changes", two_coordinators),
    ("two shards, one killed", 4, BOTH, "changes", two_shards),
    ("clock step", 6, BOTH, 0, clock_step),
    ("journal torn", 8, BOTH, 0, damage("journal/*.jsonl", cut)),
    ("record torn at every byte", 4, BOTH, 0, everywhere(cut_at)),
    ("journal with a flipped bit", 8, BOTH, 0, damage("journal/*.jsonl", flip)),
    ("record flipped at every byte", 4, BOTH, 0, everywhere(flip_at)),
    ("journal with zeros at its end", 4, BOTH, 0, damage("journal/*.jsonl", zeros)),
    ("journal with lines twice", 5, BOTH, 0, damage("journal/*.jsonl", doubled)),
    ("journal there twice", 3, BOTH, 0, copied),
    ("journal emptied or removed", 2, BOTH, 0, damage("journal/*.jsonl", emptied, removed)),
    ("configuration damaged", 6, BOTH, 0, damage("config.resolved.json", cut, flip, zeros, emptied, removed)),
    ("grades damaged", 8, BOTH, 0, damage("grades/*", cut, flip, zeros, doubled, emptied, removed)),
    ("problems damaged", 5, BOTH, 0, damage("problems/*", cut, flip, zeros, emptied, removed)),
    ("another file damaged", 5, BOTH, 0, damage("[lms]*", cut, flip, zeros, emptied, removed)),
    ("report damaged", 3, BOTH, 0, damage("report/*", cut, flip, zeros, emptied, removed)),
]


class Plan:
    """What is measured of undisturbed sweeps, and the list of runs."""

    def __init__(self, top):
        self.top, self.seconds, self.changes, self.messages = top, {}, {}, 12
        write(top + "/run.json", json.dumps(RUN_FILE).encode())
        for mode in MODES:
            calm = Run("%s/calm.%s" % (top, mode), mode)
            calm.sweep(0, fault="main count 0")
            self.changes[mode] = int(re.search(r"^(\d+) calls$", calm.said, re.M).group(1))
            again = Run("%s/again.%s" % (top, mode), mode)
            began = time.monotonic()
            again.sweep(0)
            self.seconds[mode] = time.monotonic() - began
            found = {"records": records(calm.out), "results": calm.results()}
            if mode == "alone":
                self.want, self.finished = found, calm.out
            if found != self.want or {"records": records(again.out), "results": again.results()} != self.want:
                raise SystemExit("undisturbed sweeps differ")
        self.last_held = self.changes["alone"] - 2
        half = Run(top + "/half", "alone")
        for at in range(1, self.changes["alone"]):
            if len(records(half.out)) >= len(self.want["records"]) // 2:
                break
            shutil.rmtree(half.out, ignore_errors=True)
            half.sweep(DEAD, fault="main kill %d" % at)
        self.half = half.out

    def copy(self, run, rng):
        shutil.copytree(rng.choice([self.finished, self.half]), run.out)

    def draw(self):
        rng = random.Random(SEED)
        runs = []
        most = max(self.changes.values())
        for at in range(1, most + 1):
            name, modes, fault = KILLS[at % len(KILLS)]
            runs.append((name, "workers" if at > self.changes["alone"] else rng.choice(modes), fault, at))
        total = sum(share for _, share, _, _, _ in OTHERS)
        rest = max(RUNS - len(runs), 0)
        for name, share, modes, counts, fault in OTHERS:
            for _ in range(max(round(rest * share / total), 1)):
                mode = rng.choice(modes)
                most = self.changes[mode] if counts == "changes" else self.messages if counts else 0
                runs.append((name, mode, fault, rng.randint(1, most) if most else 0))
        rng.shuffle(runs)
        return runs


def perform(plan, number, name, mode, fault, at):
    run = Run("%s/%d" % (plan.top, number), mode)
    what = "run %d, %s, %s, at %d" % (number, name, mode, at)
    began = time.monotonic()
    problem = None
    try:
        fault(run, plan, random.Random("%d %d" % (SEED, number)), at)
        run.finish(plan.want)
        shutil.rmtree(run.place)
    except Exception as e:
        problem = "%s: %s" % (what, e if isinstance(e, Failed) else repr(e))
        shutil.copytree(run.place, "failed/%d" % number)
    return name, time.monotonic() - began, run.noticed, problem


def main():
    shutil.rmtree("failed", ignore_errors=True)
    began = time.monotonic()
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # syncing costs most of the time elsewhere
    with tempfile.TemporaryDirectory(prefix="kveval-campaign.", dir=where) as top:
        plan = Plan(top)
        print("an undisturbed sweep: %d jobs; " % len(plan.want["records"]) + "; ".join(
            "%s %d changes of files, %.2f s" % (mode, plan.changes[mode], plan.seconds[mode]) for mode in MODES), flush=True)
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            waiting = [pool.submit(perform, plan, i, *run) for i, run in enumerate(plan.draw())]
            done = []
            for job in concurrent.futures.as_completed(waiting):
                done.append(job.result())
                if done[-1][3]:
                    print("FAILED: " + done[-1][3], flush=True)
    show(done, time.monotonic() - began)
    kills = [noticed for name, _, noticed, _ in done if name in [kind[0] for kind in KILLS]]
    if sum(kills) < 0.9 * len(kills):  # the last changes may not come: how often a status is written depends on time
        raise SystemExit("only %d of %d kills hit a sweep: the faults do not work" % (sum(kills), len(kills)))
    sys.exit(1 if any(problem for _, _, _, problem in done) else 0)


def show(done, seconds):
    """Noticed: one of the run's sweeps warned or exited with another code than 0."""
    rows = [(kind[0], [run for run in done if run[0] == kind[0]]) for kind in KILLS + OTHERS] + [("all", done)]
    print("%-32s %6s %8s %6s %8s" % ("fault", "runs", "noticed", "sound", "seconds"))
    for name, runs in rows:
        print("%-32s %6d %8d %6d %8.1f" % (name, len(runs), sum(run[2] for run in runs), sum(not run[3] for run in runs),
                                           sum(run[1] for run in runs)))
    print("seed %d, %.1f s, %d at a time" % (SEED, seconds, AT_A_TIME))


main()
