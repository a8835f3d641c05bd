#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to record Python programs, for each CPython given (by default the one on the PATH):

  the reader   CPU time of one reading of 30 frames in hot caches, line tables and names known, as a sample makes it
  start-up     python3 -c pass, and true, bare and recorded in turn: the names of the interpreter's and its libraries'
               functions are in it, as for any program; one that is not read (3.7) beside another tells them apart
  loops        small programs of the kind of pyperformance's, at the default rate, bare and recorded in turn: CPU time of
               all processes, whose fixed part a longer run has once, too, and of the program alone; perf with -X perf
               beside, where both are there

Ratios of the loops are of the least rounds and of the medians; "bare again" says how much the machine itself differs.

  python.py --build build [--rounds N] [--seconds S] [PYTHON...]
"""
import argparse
import ctypes
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

import bench as tools

LOOPS = r'''
import json, random, re, sys, time

class Body:
    def __init__(self, x, v):
        self.x, self.v = x, v

def nbody(n=300):
    bodies = [Body([i, i * 2 + 1.0, i * 3 - 1.0], [0.1 * i, 0.0, -0.1 * i]) for i in range(5)]
    for _ in range(n):
        for a in bodies:
            for b in bodies:
                if a is not b:
                    d = [p - q for p, q in zip(a.x, b.x)]
                    far = 0.01 / (sum(c * c for c in d) + 1) ** 1.5
                    a.v = [v - c * far for v, c in zip(a.v, d)]
        for a in bodies:
            a.x = [p + 0.01 * v for p, v in zip(a.x, a.v)]

def fannkuch(n=7):
    most, p, count = 0, list(range(n)), [0] * n
    i = 0
    while i < n:
        if count[i] < i:
            j = 0 if i % 2 == 0 else count[i]
            p[i], p[j] = p[j], p[i]
            q, flips = p[:], 0
            while q[0]:
                q[:q[0] + 1] = q[q[0]::-1]
                flips += 1
            most = max(most, flips)
            count[i] += 1
            i = 0
        else:
            count[i] = 0
            i += 1
    return most

def queens(n=7, row=0, cols=(), up=(), down=()):
    if row == n:
        return 1
    return sum(queens(n, row + 1, cols + (c,), up + (row + c,), down + (row - c,)) for c in range(n)
               if c not in cols and row + c not in up and row - c not in down)

def tree(depth=12):
    return (tree(depth - 1), tree(depth - 1)) if depth else ()

def texts():
    value = {str(i): [i, {"x": "y" * (i % 30)}] for i in range(400)}
    for _ in range(10):
        text = json.dumps(value)
        json.loads(text)
        re.sub(r"(\w+)", lambda m: m.group(1).upper(), text)

def sorts():
    chance = random.Random(1)
    for _ in range(10):
        sorted((chance.random() for _ in range(3000)), key=lambda x: -x)

rounds = int(sys.argv[1])
for _ in range(rounds):
    for work in (nbody, fannkuch, queens, tree, texts, sorts):
        work()
'''

READER = r'''
import ctypes, sys
oracle = ctypes.PyDLL(sys.argv[1])
oracle.oracle_open.argtypes = [ctypes.c_uint64]
oracle.oracle_cost.restype = ctypes.c_double
if oracle.oracle_open(ctypes.cast(ctypes.pythonapi.PyGILState_GetThisThreadState, ctypes.c_void_p).value):
    sys.exit("the interpreter is not known")
def down(n):
    return down(n - 1) if n else oracle.oracle_cost(100000)
def up(n):
    return down(14) if n == 0 else up(n - 1)
print(min(up(13) for _ in range(7)))
'''


def reader(args, python):
    done = subprocess.run([python, "-c", READER, os.path.join(args.build, "tests", "python_oracle.so")],
                          capture_output=True, text=True, check=False)
    value = f"{float(done.stdout):.0f}" if done.returncode == 0 else done.stderr.strip().split("\n")[-1]
    tools.line("reading and joining 30 frames, ns of CPU", value, "<= 1000")


def rounds_of(args, ways, place, each=lambda way: None):
    """{way: [CPU s of all processes]}, in a random order each round."""
    taken = {way: [] for way in ways}
    for _ in range(args.rounds):
        order = list(ways)
        random.shuffle(order)
        for way in order:
            taken[way].append(tools.run(ways[way])[1])
            tools.drain()
            each(way)
            shutil.rmtree(os.path.join(place, "r.hpct"), ignore_errors=True)
    return taken


def program_cpu(path):
    with open(path, encoding="utf-8") as file:
        return float(re.search(r"program ([0-9.]+) s CPU", file.read()).group(1))


def start_up(args, python, place):
    record = [os.path.join(args.build, "bin", "hpct-record"), "-o", os.path.join(place, "r.hpct"), "--"]
    true = shutil.which("true")
    ways = {"true": [true], "recorded true": record + [true], "python": [python, "-c", "pass"],
            "recorded python": record + [python, "-c", "pass"]}
    few = args.rounds
    args.rounds = 4 * few
    taken = rounds_of(args, ways, place)
    args.rounds = few
    middle = {way: 1e3 * statistics.median(cpu) for way, cpu in taken.items()}
    more = statistics.median(r - p - (t - b) for r, p, t, b in zip(
        taken["recorded python"], taken["python"], taken["recorded true"], taken["true"])) * 1e3
    tools.line("start-up of -c pass beyond that of true, ms of CPU", f"{more:.1f}", "",
               ", ".join(f"{way} {ms:.1f}" for way, ms in middle.items()))


def loops(args, python, place):
    program = os.path.join(place, "loops.py")
    with open(program, "w", encoding="ascii") as file:
        file.write(LOOPS)
    cpu = tools.run([python, program, "1"])[1]
    command = [python, program, str(max(1, round(args.seconds / cpu)))]
    summary, alone = os.path.join(place, "summary"), []
    record = [os.path.join(args.build, "bin", "hpct-record"), "-o", os.path.join(place, "r.hpct"), "--summary", summary, "--"]
    ways = {"bare": command, "bare again": command, "hpct": record + command}
    perf = shutil.which("perf")
    known = subprocess.run([python, "-X", "perf", "-c", "import sys; sys.exit(not sys.is_stack_trampoline_active())"],
                           capture_output=True, check=False).returncode == 0
    if perf and known:
        ways["perf record -F 200 -g, -X perf"] = [perf, "record", "-q", "-F", "200", "-g", "-o", place + "/p", "--", python,
                                                  "-X", "perf", *command[1:]]
    if shutil.which("py-spy"):
        ways["py-spy record -r 200"] = ["py-spy", "record", "-r", "200", "-o", place + "/s", "--", *command]
    taken = rounds_of(args, ways, place, lambda way: alone.append(program_cpu(summary)) if way == "hpct" else None)
    taken["hpct, the program alone"] = alone
    bare = taken.pop("bare")
    for way, values in taken.items():
        tools.line(f"loops of {min(bare):.1f} s: {way}, CPU / bare", f"{min(values) / min(bare):.3f}",
                   "<= 1.01" if way.startswith("hpct,") else "", f"medians {statistics.median(values) / statistics.median(bare):.3f}")
    if perf and not known:
        print("perf: this interpreter has no -X perf, before 3.12 and where it was built without")
    if "py-spy record -r 200" not in ways:
        print("py-spy is not installed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3, help="of CPU time of the loops, about")
    parser.add_argument("pythons", nargs="*", default=["python3"])
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    ctypes.CDLL(None).prctl(tools.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    place = tempfile.mkdtemp(prefix="hpct-python-")
    try:
        for name in args.pythons:
            python = shutil.which(name) or sys.exit(f"{name} is not installed")
            print(f"{python}: {subprocess.check_output([python, '-V'], text=True).strip()}, medians of {args.rounds} rounds")
            reader(args, python)
            start_up(args, python, place)
            loops(args, python, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
