#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to record why threads wait: tests/bench/causes.c, bare and recorded in turn, and a ping-pong of MPI
where a library is there, and regions of OpenMP with each runtime there is. Prints TSV: nanoseconds of a round by the program's own clock
(medians), their ratio, that of the CPU time, how much the bare rounds differ among each other, the spans and losses of the
last recording, and how many nanoseconds a round takes more.

Then what questions about a run of 1e7 spans cost: CPU seconds and seconds.

  causes.py --build build [--rounds N] [--only KIND,...]
"""
import argparse
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

KINDS = {"free": 3000000, "own": 300000, "hot": 300000, "condition": 30000, "pipe": 30000, "stream": 300000}
QUESTIONS = {"critical path": ["--critical-path"], "causes": ["--of", "waiting", "--by", "cause"]}
REGIONS = {"libgomp": "gcc", "libomp": "clang"}
BODIES = {"0": 300000, "50000": 4000}  # nanoseconds of work in a region, and how many regions
MPI = {"openmpi": ["--allow-run-as-root", "--oversubscribe"], "mpich": []}


def measure(command):
    """Its own nanoseconds of a round, and the CPU seconds of all its processes but the collector."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(done.stdout.split()[0]), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fact(tool, run, key):
    done = subprocess.run([tool, run, "--format", "tsv"], capture_output=True, text=True, check=True)
    facts = dict(line.split("\t")[:2] for line in done.stdout.splitlines())
    return facts.get(key, "-")


def compare(name, bare, recorded, args, place):
    times = {"bare": [], "recorded": []}
    run = os.path.join(place, "run.hpct")
    for _ in range(args.rounds):
        shutil.rmtree(run, ignore_errors=True)
        times["bare"].append(measure(bare))
        times["recorded"].append(measure(recorded(run)))
    middle = {which: statistics.median(ns for ns, _ in list_) for which, list_ in times.items()}
    cpu = {which: statistics.median(seconds for _, seconds in list_) for which, list_ in times.items()}
    spread = max(times["bare"])[0] / min(times["bare"])[0]
    info = os.path.join(args.build, "bin", "hpct-info")
    print(f"{name}\t{middle['bare']:.0f}\t{middle['recorded']:.0f}\t{middle['recorded'] / middle['bare']:.3f}\t"
          f"{cpu['recorded'] / max(cpu['bare'], 0.001):.3f}\t{spread:.2f}\t{fact(info, run, 'records')}\t{fact(info, run, 'lost')}\t{middle['recorded'] - middle['bare']:.1f}", flush=True)


def ask(args, place):
    """The best of the rounds: readers have nothing to wait for."""
    run = os.path.join(place, "questions.hpct")
    tool = lambda name: os.path.join(args.build, "bin", name)
    subprocess.run([tool("hpct-simulate"), "-o", run, "--shape", "waits", "--streams", "8", "--records", "10000000"], check=True)
    print("question\tspans\tcpu_s\twall_s")
    for name, options in QUESTIONS.items():
        times = []
        for _ in range(args.rounds):
            before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            subprocess.run([tool("hpct-blame"), run, *options], stdout=subprocess.DEVNULL, check=True)
            after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            times.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ended - begun))
        print(f"{name}\t{fact(tool('hpct-info'), run, 'spans')}\t{min(times)[0]:.2f}\t{min(wall for _, wall in times):.2f}", flush=True)


def build(compiler, source, place, *options):
    program = os.path.join(place, os.path.basename(compiler) + "." + os.path.basename(source)[:-2])
    subprocess.run([compiler, "-O2", "-g", "-o", program, source, *options], check=True)
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join([*KINDS, *REGIONS, *MPI, "questions"]))
    args = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    record = os.path.join(args.build, "bin", "hpct-record")
    place = tempfile.mkdtemp(prefix="hpct-causes-")
    print("what\tbare_ns\trecorded_ns\tratio\tcpu_ratio\tbare_spread\trecords\tlost\tmore_ns")
    try:
        program = build("cc", os.path.join(here, "causes.c"), place, "-pthread")
        for kind in (kind for kind in KINDS if kind in args.only.split(",")):
            command = [program, kind, str(KINDS[kind])]
            compare(kind, command, lambda run, c=command: [record, "-o", run, "--", *c], args, place)
        for runtime, compiler in REGIONS.items():
            if runtime not in args.only.split(",") or not shutil.which(compiler):
                continue
            program = build(compiler, os.path.join(here, "regions.c"), place, "-fopenmp")
            for body, count in BODIES.items():
                command = [program, body, str(count)]
                compare(f"regions of {body} ns, {runtime}", command, lambda run, c=command: [record, "-o", run, "--", *c], args, place)
        for library, options in MPI.items():
            if library not in args.only.split(",") or not shutil.which("mpicc." + library):
                continue
            pingpong = build("mpicc." + library, os.path.join(here, "pingpong.c"), place)
            launch = ["mpirun." + library, *options, "-n", "2"]
            compare("ping-pong " + library, [*launch, pingpong],
                    lambda run, l=launch, p=pingpong: [*l, record, "-o", run, "--", p], args, place)
        if "questions" in args.only.split(","):
            ask(args, place)
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
