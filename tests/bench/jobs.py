#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What --jobs N spares: operators on simulated runs, with one process and with several, without rollups (with them
there is nothing to share). Prints TSV: seconds, the CPU of all processes and of the longest one, whose ratio to that
of --jobs 1 is the speed-up that cores of their own would give, whatever else the machine does.

  jobs.py --build build [--jobs N] [--records N]
"""
import argparse
import os
import shutil
import subprocess
import tempfile
import time

TICK = os.sysconf("SC_CLK_TCK")
RUNS = {"cpu": 50, "gpu": 32}  # shape: streams
QUESTIONS = [
    ["hpct-profile", "--no-rollups"],
    ["hpct-stats", "--no-rollups"],
    ["hpct-stats", "--no-rollups", "--by", "stream"],
    ["hpct-slice", "--format", "tsv", "--time", "0s..5s"],
    ["hpct-blame", "--no-rollups"],
]


def cpu_by_task(pid, known):
    """CPU seconds of each thread of the process and of its children, as far as they are still there."""
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        known[task] = (int(fields[11]) + int(fields[12])) / TICK
        with open(f"/proc/{pid}/task/{task}/children") as children:
            for child in children.read().split():
                try:
                    cpu_by_task(child, known)
                except (FileNotFoundError, ProcessLookupError):
                    pass


def ask(command):
    tasks, begin = {}, time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            cpu_by_task(process.pid, tasks)
        except (FileNotFoundError, ProcessLookupError):
            pass
        time.sleep(0.01)
    if process.returncode:
        raise SystemExit(f"jobs.py: {' '.join(command)} ended with {process.returncode}")
    return time.monotonic() - begin, sum(tasks.values()), max(tasks.values(), default=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2))
    parser.add_argument("--records", default="20000000")
    args = parser.parse_args()
    bin_at = os.path.join(args.build, "bin")
    place = tempfile.mkdtemp(prefix="hpct-jobs-")
    try:
        print("what\tshape\trecords\tjobs\tseconds\tcpu_s\tlongest_cpu_s\tspeed_up")
        for shape, streams in RUNS.items():
            run = os.path.join(place, shape + ".hpct")
            subprocess.run([os.path.join(bin_at, "hpct-simulate"), "-o", run, "--shape", shape, "--streams",
                            str(streams), "--records", args.records], check=True)
            for what, *options in QUESTIONS:
                alone = 0
                for jobs in (1, args.jobs):
                    seconds, cpu, longest = ask(
                        [os.path.join(bin_at, what), *options, "--jobs", str(jobs), run])
                    alone = alone or longest
                    print(f"{' '.join([what, *options])}\t{shape}\t{args.records}\t{jobs}\t{seconds:.2f}\t{cpu:.2f}\t"
                          f"{longest:.2f}\t{alone / max(longest, 0.01):.2f}", flush=True)
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
