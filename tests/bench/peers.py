# SPDX-License-Identifier: Apache-2.0
"""What recorders cost, side by side: hpct, perf and hpcrun, at each rate, on programs of several kinds.

A row is a recorder at a rate, or what the kernel's signals alone cost at it (floor.c), a column a program; a cell is the median of what the rounds gave: CPU time and
wall time as ratios to the bare run of the same round, and the CPU time that a sample cost, all of it counted,
with the share of the samples that the program's CPU time and the rate promised.
"""
import glob
import os
import random
import re
import shutil
import statistics
import subprocess

ROWS = {  # name: (recorder, rate in 1/s, options, ratio that the design allows)
    "bare again": ("bare", 0, [], None),
    "interrupts alone, 1 kHz": ("floor", 1000, ["FLOOR_NS=1000000", "FLOOR_SILENT=1"], None),
    "interrupts alone, 10 kHz": ("floor", 10000, ["FLOOR_NS=100000", "FLOOR_SILENT=1"], None),
    "signals into an empty handler, 1 kHz": ("floor", 1000, ["FLOOR_NS=1000000"], None),
    "signals into an empty handler, 10 kHz": ("floor", 10000, ["FLOOR_NS=100000"], None),
    "hpct, default (200/s)": ("hpct", 200, [], 1.01),
    "hpct CPUTIME@f1000": ("hpct", 1000, ["-e", "CPUTIME@f1000"], 1.015),
    "hpct CPUTIME@f10000": ("hpct", 10000, ["-e", "CPUTIME@f10000"], 1.25),
    "perf record -F 200 -g": ("perf", 200, ["-g"], None),
    "perf record -F 1000 -g": ("perf", 1000, ["-g"], None),
    "perf record -F 10000 -g": ("perf", 10000, ["-g"], None),
    "perf record -F 1000 --call-graph dwarf": ("perf", 1000, ["--call-graph", "dwarf"], None),
    "hpcrun -t -e CPUTIME@5000": ("hpcrun", 200, ["-e", "CPUTIME@5000"], None),
    "hpcrun -t -e REALTIME@1000": ("hpcrun", 1000, ["-e", "REALTIME@1000"], None),
    "hpcrun -t -e REALTIME@100": ("hpcrun", 10000, ["-e", "REALTIME@100"], None),
}
TRACE_RECORD_BYTES = 12  # of hpcrun


def programs(bench, sql):
    """{column: (command, file for its stdin)}"""
    found = {
        "one": ([bench.load, "one", "2000"], None),
        "eight": ([bench.load, "many", "2000"], None),
        "short": ([bench.load, "short", "2000"], None),
    }
    if shutil.which("sqlite3"):
        found["sqlite3"] = ([shutil.which("sqlite3"), ":memory:"], sql)
    melt = next(iter(glob.glob("/usr/share/lammps/examples/melt/in.melt")), None)
    if melt and shutil.which("lmp") and shutil.which("mpirun"):
        found["lammps"] = (["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", shutil.which("lmp"),
                            "-log", "none"], melt)
    return found


def command_of(bench, row, command):
    """(command that records it, what it writes); None: this recorder is not here."""
    recorder, rate, options, _ = ROWS[row]
    if recorder == "bare":
        return command, None
    if recorder == "hpct":
        path = bench.path(".hpct")
        return [bench.bin + "/hpct-record", "-o", path, *options, "--", *command], path
    if recorder == "floor":
        path = bench.path(".floor")
        return ["env", "LD_PRELOAD=" + bench.floor, "FLOOR_OUT=" + path, *options, *command], path
    if not shutil.which(recorder):
        return None
    path = bench.path("." + recorder)
    if recorder == "perf":
        return ["perf", "record", "-q", "-F", str(rate), *options, "-o", path, "--", *command], path
    return ["hpcrun", "-o", path, "-t", *options, *command], path


def count_of(bench, row, path):
    recorder = ROWS[row][0]
    if recorder == "hpct":
        return bench.sample_count(path)
    if recorder == "perf":
        text = subprocess.run(["perf", "report", "--stats", "-i", path], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, check=False).stdout
        return sum(int(n) for n in re.findall(r"^\s*SAMPLE events:\s*(\d+)", text, re.M)[:1])
    if recorder == "floor":
        with open(path, encoding="ascii") as file:
            return int(file.read())
    if recorder == "hpcrun":
        return sum(os.stat(f).st_size // TRACE_RECORD_BYTES for f in glob.glob(path + "/*.hpctrace"))
    return 0


def remove(path):
    if path and os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
    elif path and os.path.exists(path):
        os.remove(path)


def one_round(bench, rows, command, stdin):
    """{row: (wall s, CPU s, samples)}, the bare program's too, in a random order."""
    order = ["bare", *rows]
    random.shuffle(order)
    got = {}
    for row in order:
        wrapped, path = command_of(bench, row, command) if row != "bare" else (command, None)
        wall, cpu = bench.run(wrapped, stdin)[:2]
        got[row] = (wall, cpu, count_of(bench, row, path) if path else 0)
        remove(path)
    return got


def measure(bench, command, stdin):
    """{row: [(CPU ratio, wall ratio, us of CPU per sample or None, share of the samples)]}"""
    taken = {row: [] for row in ROWS if command_of(bench, row, command)}
    for _ in range(bench.rounds):
        try:
            got = one_round(bench, list(taken), command, stdin)
        except KeyboardInterrupt:  # the rounds that were whole are worth their table
            break
        bare_wall, bare_cpu, _ = got.pop("bare")
        for row, (wall, cpu, count) in got.items():
            rate = ROWS[row][1]
            each = (cpu - bare_cpu) / count * 1e6 if count else None
            taken[row].append((cpu / bare_cpu, wall / bare_wall, each, count / (bare_cpu * rate) if rate else 0))
    return taken


def cell(values):
    cpu, wall = (statistics.median(v[i] for v in values) for i in (0, 1))
    text = f"{cpu:.3f}/{wall:.3f}"
    each = [v[2] for v in values if v[2] is not None]
    if each:
        text += f" {statistics.median(each):.0f} us {statistics.median(v[3] for v in values):.2f}"
    return text


def table(bench, sql, wanted=None):
    columns = {name: what for name, what in programs(bench, sql).items() if not wanted or name in wanted}
    for peer in ("perf", "hpcrun"):
        if not shutil.which(peer):
            print(f"{peer} is not installed")
    measured = {name: measure(bench, command, stdin) for name, (command, stdin) in columns.items()}
    rounds = min(len(next(iter(rows.values()))) for rows in measured.values())
    if not rounds:
        raise SystemExit("bench.py: stopped before the first round of each program was whole")
    print("CPU/wall as ratios to bare, CPU time per sample, share of the samples promised; "
          f"medians of {rounds} rounds")
    print(f"{'':<39}{'target':<8}" + "".join(f"{name:<26}" for name in columns))
    for row in ROWS:
        if all(row in rows for rows in measured.values()):
            target = f"{ROWS[row][3]}" if ROWS[row][3] else ""
            print(f"{row:<39}{target:<8}" + "".join(f"{cell(rows[row]):<26}" for rows in measured.values()))
