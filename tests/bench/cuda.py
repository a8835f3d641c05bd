#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What hpct costs and finds on an NVIDIA GPU; needs nvcc, CUPTI and a GPU (docs/gpu.md).

Parts: check (the samples' own counts against the trace's), launch (a null launch beside CUPTI's floor),
train (a PyTorch step), clock (CPU and GPU times on one axis), size (bytes per span). Rounds are interleaved;
figures are medians of rounds in random order. Never fails because something is slow; `check` fails when counts differ.
"""
import argparse
import collections
import csv
import glob
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SAMPLES = ("streams", "graph", "copies", "sync", "phase", "churn", "jit", "devices", "launches")
GPU_OPS = ("kernel", "copy", "set", "graph")


def line(what, value, target=""):
    print(f"{what:<58} {value:>24}   {target}", flush=True)


class Bench:
    def __init__(self, arguments):
        self.bin = os.path.abspath(arguments.bin)
        self.samples = os.path.abspath(arguments.samples)
        self.work = tempfile.mkdtemp(prefix="hpct-cuda.")
        self.rounds = arguments.rounds
        self.keep = arguments.keep
        self.count = 0

    def sample(self, name):
        return os.path.join(self.samples, "cuda_" + name)

    def run(self, command, environment=None, limit=300):
        """(exit code, stdout, stderr)"""
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=limit, env={**os.environ, **(environment or {})}, text=True, errors="replace")
        return done.returncode, done.stdout, done.stderr

    def record(self, command, options=(), name=None):
        """(exit code, stdout, stderr, run, summary)"""
        self.count += 1
        run = f"{self.work}/{name or self.count}.hpct"
        code, out, err = self.run([f"{self.bin}/hpct-record", "-o", run, "--overwrite", "--summary", run + ".summary",
                                   *options, "--", *command])
        try:
            with open(run + ".summary", encoding="utf-8") as file:
                summary = file.read()
        except OSError:
            summary = ""
        return code, out, err, run, summary

    def rows(self, run, *options):
        _, out, _ = self.run([f"{self.bin}/hpct-slice", run, "--format", "tsv", *options])
        return list(csv.DictReader(out.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def operations(rows):
    return [row for row in rows if row["stream"].startswith("gpu:") and row["op"] in GPU_OPS]


def matched(row):
    return "<unknown>" not in row["path"] and "<gpu root>" not in row["path"]


def numbers(text):
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)\b", text)}


def counts(rows):
    found = collections.Counter(row["op"] for row in operations(rows))
    moments = collections.Counter(row["op"] for row in rows)
    return {"kernels": found["kernel"], "copies": found["copy"], "sets": found["set"],
            "allocations": moments["alloc"], "releases": moments["free"], "synchronizations": moments["sync"]}


def check(bench):
    failed, total, paths, partial = 0, 0, 0, 0
    for name in SAMPLES:
        command = [bench.sample(name)] + (["2000"] if name == "launches" else [])
        code, out, err, run, summary = bench.record(command, name="cuda_" + name)
        rows = bench.rows(run)
        asked, found = numbers(out), counts(rows)
        ours = operations(rows)
        good = [row for row in ours if matched(row)]
        total, paths = total + len(ours), paths + len(good)
        partial += sum(1 for row in good if "<partial>" in row["path"])
        wrong = [f"{key}: {found[key]}, not {value}" for key, value in asked.items()
                 if key in found and found[key] != value]
        if code or wrong:
            failed += 1
        line(f"check: {name}, {len(ours)} operations", "; ".join(wrong) or ("ok" if not code else f"exit {code}"))
        print("    " + " ".join(text for text in summary.splitlines() if text.startswith("gpu ")))
        if wrong or code:
            print(err[-500:], summary[-800:], sep="\n")
    line("share of operations with their launch's call path", f"{paths} of {total}", "all")
    line("  of them with a partial stack", str(partial), "0")
    return failed


def exits(bench):
    failed = 0
    for way in ("return", "_exit", "kill", "abort", "reset", "illegal", "fork", "running"):
        bare = bench.run([bench.sample("exits"), way])
        code, out, _, run, _ = bench.record([bench.sample("exits"), way], name="exits_" + way)
        kernels = sum(1 for row in operations(bench.rows(run)) if row["op"] == "kernel")
        good = code == bare[0] and out == bare[1] and kernels >= (20 if way == "reset" else 10)
        failed += not good
        line(f"check: exits {way}", f"{'ok' if good else 'FAILED'}, {kernels} kernels", f"exit {code}, {bare[0]} bare")
    return failed


def rounds(variants, count, pattern):
    """What each variant printed, by name, in an order of each round's own: whoever follows a recorder finds the machine
    busy with its last work, so each waits a little."""
    taken = {name: [] for name in variants}
    for number in range(count):
        order = list(variants)
        random.Random(number).shuffle(order)
        for name in order:
            time.sleep(0.25)
            found = re.search(pattern, variants[name]())
            taken[name].append(float(found.group(1)) if found else float("nan"))
    return taken


def quartile(values):
    return sorted(values)[len(values) // 4]


def launch(bench):
    floor = {"CUDA_INJECTION64_PATH": os.path.join(bench.samples, "cuda_floor.so")}
    command = [bench.sample("launches"), "20000"]
    variants = {
        "bare": lambda: bench.run(command)[1],
        "activity records alone": lambda: bench.run(command, floor)[1],
        "activity records alone, again": lambda: bench.run(command, floor)[1],
        "and an empty callback": lambda: bench.run(command, {**floor, "CUDA_FLOOR_CALLS": "1"})[1],
        "hpct": lambda: bench.record(command, ["-e", "gpu=nvidia"])[1],
    }
    taken = rounds(variants, 3 * bench.rounds, r"ns_per_launch ([0-9.]+)")
    base = taken["activity records alone"]
    for name, values in taken.items():
        ratio = statistics.median(values) / statistics.median(base)
        low = quartile(values) / quartile(base)
        line(f"launch: {name}, ns", f"{statistics.median(values):.0f}  {ratio:.3f}x  {low:.3f}x",
             "<= 1.10x with the call path; lower quartiles" if name == "hpct" else "")


def train(bench):
    script = os.path.join(bench.samples, "torch_step.py")
    for model in ("conv", "mlp"):
        command = [sys.executable, script, "--model", model, "--steps", "100"]
        floor = {"CUDA_INJECTION64_PATH": os.path.join(bench.samples, "cuda_floor.so")}
        variants = {
            "bare": lambda command=command: bench.run(command)[1],
            "activity records alone": lambda command=command: bench.run(command, floor)[1],
            "hpct": lambda command=command, model=model: bench.record(command, name="torch_" + model)[1],
        }
        taken = rounds(variants, bench.rounds, r"ms_per_step ([0-9.]+)")
        for name, values in taken.items():
            ratio = statistics.median(a / b for a, b in zip(values, taken["bare"]))
            line(f"train: {model}, {name}, ms a step", f"{statistics.median(values):.3f}  {ratio:.3f}x",
                 "<= 1.03x" if model == "conv" and name == "hpct" else "")
        share(bench, model, f"{bench.work}/torch_{model}.hpct")


def share(bench, model, run):
    rows = operations(bench.rows(run))
    good = [row for row in rows if matched(row)]
    partial = sum(1 for row in good if "<partial>" in row["path"])
    line(f"train: {model}, operations with a call path", f"{len(good)} of {len(rows)}", f"{partial} partial")


def size(bench):
    """Two runs that differ in their count of launches alone: each is a span of the call and one of the kernel."""
    sizes = []
    for count in (5000, 105000):
        _, _, _, run, _ = bench.record([bench.sample("launches"), str(count)], ["-e", "gpu=nvidia"], f"size_{count}")
        sizes.append(sum(os.stat(path).st_blocks * 512 for path in glob.glob(run + "/*.mdb")))
    line("size: bytes per span (a launch and its kernel are two)", f"{(sizes[1] - sizes[0]) / 200000:.2f}",
         "<= 4.2, rollups on top")


def clock(bench):
    _, out, _, run, _ = bench.record([bench.sample("clock"), "1500", "5"], name="clock")
    told = [tuple(int(n) for n in text.split()) for text in out.splitlines() if text.count(" ") == 7]
    _, told_of, _ = bench.run([f"{bench.bin}/hpct-info", run, "--format", "tsv"])
    info = dict(text.split("\t", 1) for text in told_of.splitlines())
    origin = int(info.get("origin_monotonic_ns", 0))
    spans = sorted((origin + int(r["begin_ns"]), origin + int(r["end_ns"]))
                   for r in operations(bench.rows(run)) if r["op"] == "kernel")
    if len(spans) != len(told) or not told:
        line("clock: kernels and handshakes differ", f"{len(spans)} {len(told)}")
        return
    bounds, slices = [allowed(span, row) for span, row in zip(spans, told)], {}
    errors = sorted(max(low, -high, 0) for low, high in bounds)
    line("clock: error of the axis, median / p99 / worst, us",
         " / ".join(f"{errors[int(q * (len(errors) - 1))] / 1e3:.2f}" for q in (0.5, 0.99, 1)), "0")
    for (low, high), row in zip(bounds, told):
        now = slices.get(row[0] // 10**8, (-10**9, 10**9))
        slices[row[0] // 10**8] = (max(now[0], low), min(now[1], high))
    line("clock: what all handshakes of 0.1 s allow, widest, us",
         f"{min(low for low, _ in slices.values()) / 1e3:.2f} .. "
         f"{max(high for _, high in slices.values()) / 1e3:.2f}", "within -2 .. 2")
    empty = sum(1 for low, high in slices.values() if low > high)
    line("clock: tenths of a second that allow none", f"{empty} of {len(slices)}", "0")
    likely(spans, told)


def allowed(span, row):
    """What may be added to a kernel's times: it began after the launch and before its first instruction, which the
    CPU heard of; it ended after its last one, and before the CPU saw its end."""
    (begin, end), (launched, running, let, ended, first, last, least, most) = span, row
    return max(launched - begin, let - end, last + least - end), min(running - begin, ended - end, first + most - begin)


def likely(spans, told):
    """As if words took as long to the GPU as back."""
    middles = [(row[6] + row[7]) // 2 for row in told]
    before = statistics.median(row[4] + middle - begin for (begin, _), row, middle in zip(spans, told, middles))
    after = statistics.median(end - row[5] - middle for (_, end), row, middle in zip(spans, told, middles))
    line("clock: begin to first instruction, last one to end, us", f"{before / 1e3:.2f}, {after / 1e3:.2f}",
         "not below 0")


PARTS = {"check": check, "exits": exits, "launch": launch, "train": train, "clock": clock, "size": size}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin", help="where hpct-record is")
    parser.add_argument("--samples", default="build/cuda", help="where the built samples are")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", help="copy the runs there")
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    arguments = parser.parse_args()
    bench = Bench(arguments)
    failed = sum(PARTS[part](bench) or 0 for part in arguments.parts)
    if arguments.keep:
        shutil.copytree(bench.work, arguments.keep, dirs_exist_ok=True)
    shutil.rmtree(bench.work, ignore_errors=True)
    return 1 if failed else 0


sys.exit(main())
