#!/usr/bin/env python3
"""Runs the commands of a results file again, or new ones, and writes what they print in the same form.

    python3 bench/record.py bench/results/h200.json --only attention --machine "one H200" --out new.json
    python3 bench/record.py --add "kveval bench load --device cuda:0 --random-weights bench/shapes/llama_8b.json" --machine "one H200" --out load.json

Each figure is shown beside the one on file. If a command fails or takes longer than --limit, it is named, its figures are
left out, and the exit code is 1; the other commands still run. The file of --out is written after each command.
"""
import argparse
import datetime
import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def key(figure):
    """The name without the time that some names end with."""
    return re.sub(r", [0-9.]+ [um]s$", "", figure.get("name", ""))


def figures_of(text):
    out = []
    for line in text.splitlines():
        if line.startswith("{"):
            out.append({k: v for k, v in json.loads(line).items() if k != "command"})
    return out


def run(command, args):
    """Runs a command and returns its figures, or prints why it failed and returns None."""
    words = shlex.split(command)
    words[0] = {"kveval": args.program, "python3": sys.executable}.get(words[0], words[0])
    try:
        done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=args.limit)
    except subprocess.TimeoutExpired:
        print(f"FAILED after {args.limit} s: {command}", flush=True)
        return None
    if done.returncode:
        print(f"FAILED with {done.returncode}: {command}\n{done.stderr[-500:]}", flush=True)
        return None
    return figures_of(done.stdout)


def show(figures, before):
    old = {key(f): f["value"] for f in before if "value" in f}
    for f in figures:
        if "value" not in f:
            print(json.dumps(f), flush=True)
            continue
        was = old.get(key(f))
        share = "" if f.get("share") is None else f"{100 * f['share']:5.1f} %"
        ratio = "" if not was else f"{f['value'] / was:7.3f} of before"
        print(f"{f['value']:12g} {f['unit']:6} {share:8} {ratio:18} {f['name']}", flush=True)


def write(path, results):
    """One figure per line."""
    head = {k: v for k, v in results.items() if k != "runs"}
    lines = ["{"] + [f" {json.dumps(k)}: {json.dumps(v)}," for k, v in head.items()] + [' "runs": [']
    for i, r in enumerate(results["runs"]):
        about = ", ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in r.items() if k != "figures")
        lines.append(f'  {{{about}, "figures": [')
        lines += [f"    {json.dumps(f)}{',' if j + 1 < len(r['figures']) else ''}" for j, f in enumerate(r["figures"])]
        lines.append("  ]}" + ("," if i + 1 < len(results["runs"]) else ""))
    pathlib.Path(path).write_text("\n".join(lines + [" ]", "}", ""]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file", nargs="?", help="results to run again")
    p.add_argument("--out", required=True)
    p.add_argument("--only", action="append", help="commands that contain this text; may be repeated")
    p.add_argument("--add", action="append", default=[], help="a command that the file does not have; may be repeated")
    p.add_argument("--program", default=str(ROOT / "build/kveval"), help="in place of kveval")
    p.add_argument("--limit", type=float, default=600, help="seconds for each command")
    p.add_argument("--machine", required=True, help="what this runs on")
    args = p.parse_args()
    before = json.loads(pathlib.Path(args.file).read_text()) if args.file else {"runs": []}
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True).stdout.strip()
    results = {"machine": args.machine, "date": datetime.date.today().isoformat(), "commit": commit,
               "note": "One run each.", "runs": []}
    status = 0
    wanted = [r for r in before["runs"] if not r["command"].startswith("kveval sweep")  # prints no figures
              and (not args.only or any(t in r["command"] for t in args.only))]
    for r in wanted + [{"command": c, "figures": []} for c in args.add]:
        print(f"\n{r['command']}", flush=True)
        figures = run(r["command"], args)
        if figures is None:
            status = 1
            continue
        show(figures, r["figures"])
        results["runs"].append({"command": r["command"], "figures": figures})
        write(args.out, results)
    return status


if __name__ == "__main__":
    sys.exit(main())
