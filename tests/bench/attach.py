#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What measuring a running process costs: the same work bare, under hpct-record -p and under perf record -p --call-graph
dwarf, in turns. Prints TSV, medians of the rounds: the program's
CPU by that of the bare run, the recorder's CPU and the program's additional CPU for each sample, bytes for each sample.

  attach.py --build build [--rounds N] [--rates 200,1000]
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import tempfile

WORK = r"""
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void deep(int depth, long n)
{
	if (depth) deep(depth - 1, n); else for (long i = 0; i < n; i++) sink += i;
	sink++;
}
static long turns;
static void *work(void *what) { for (long i = 0; i < turns; i++) deep(24, 100000); return what; }
int main(int argc, char **argv)
{
	pthread_t thread;
	turns = atol(argv[argc - 1]);
	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	pthread_join(thread, NULL);
	return 0;
}
"""


def cpu_of(process):
    """Waits for it; its CPU seconds."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def size_of(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(top, name)) for top, _, names in os.walk(path) for name in names)


def hpct(bin_, rate, pid, out):
    return [f"{bin_}/hpct-record", "-p", str(pid), "-e", f"CPUTIME@f{rate}", "-o", out, "--overwrite"]


def hpct_counts(bin_, out):
    rows = subprocess.run([f"{bin_}/hpct-info", out, "--format", "tsv"], capture_output=True, text=True).stdout
    info = dict(line.split("\t", 1) for line in rows.splitlines())
    samples = int(info["signals"])
    return samples, int(info["collector_cpu_ns"]) / 1e9, 100 - 100 * int(info["partial_stacks"]) / max(1, samples)


def perf(bin_, rate, pid, out):
    return ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(rate), "--call-graph", "dwarf", "-p", str(pid), "-o", out]


def perf_counts(bin_, out):
    text = subprocess.run(["perf", "report", "-i", out, "--stats"], capture_output=True, text=True).stdout
    found = re.search(r"SAMPLE events:\s+(\d+)", text)
    return int(found.group(1)) if found else 0, 0.0, float("nan")


TOOLS = {"hpct": (hpct, hpct_counts, "run.hpct"), "perf-dwarf": (perf, perf_counts, "perf.data")}


def once(args, tool, rate, program):
    """(program's CPU, recorder's CPU, samples, bytes, whole stacks)"""
    target = subprocess.Popen(program, stdout=subprocess.DEVNULL)
    if not tool:
        return cpu_of(target), 0.0, 0, 0, 0.0
    command, counts, name = TOOLS[tool]
    out = os.path.join(args.folder, name)
    recorder = subprocess.Popen(command(args.bin, rate, target.pid, out), stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
    target_cpu = cpu_of(target)
    recorder_cpu = cpu_of(recorder)
    samples, more_cpu, whole = counts(args.bin, out)
    return target_cpu, recorder_cpu + more_cpu, samples, size_of(out), whole


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rates", default="200,1000")
    parser.add_argument("--turns", type=int, default=8000)
    args = parser.parse_args()
    args.bin = os.path.join(args.build, "bin")
    tools = [tool for tool in TOOLS if tool == "hpct" or shutil.which("perf")]
    with tempfile.TemporaryDirectory() as args.folder:
        source, program = os.path.join(args.folder, "work.c"), os.path.join(args.folder, "work")
        with open(source, "w") as file:
            file.write(WORK)
        subprocess.run(["gcc", "-O1", "-fno-optimize-sibling-calls", "-o", program, source, "-pthread"], check=True)
        print("rate\ttool\tprogram_cpu_ratio\tprogram_us_per_sample\trecorder_us_per_sample\tbytes_per_sample\tsamples"
              "\twhole_percent")
        for rate in args.rates.split(","):
            bare, rows = [], {tool: [] for tool in tools}
            for _ in range(args.rounds):
                bare.append(once(args, None, rate, [program, str(args.turns)])[0])
                for tool in tools:
                    rows[tool].append(once(args, tool, rate, [program, str(args.turns)]))
            base = statistics.median(bare)
            for tool in tools:
                middle = [statistics.median(row[i] for row in rows[tool]) for i in range(5)]
                samples = max(1, middle[2])
                print(f"{rate}\t{tool}\t{middle[0] / base:.4f}\t{1e6 * (middle[0] - base) / samples:.1f}"
                      f"\t{1e6 * middle[1] / samples:.1f}\t{middle[3] / samples:.1f}\t{middle[2]:.0f}\t{middle[4]:.1f}",
                      flush=True)


if __name__ == "__main__":
    main()
