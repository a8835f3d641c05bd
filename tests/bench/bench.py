#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what hpct costs, beside the bare program and, where they are installed, perf and hpcrun (peers.py).

Each round runs every recorder on a program once, in a new random order, and ratios are taken within the
round, so that what else the machine does hits all alike; the table shows their medians. CPU time is that
of everything that was started, hpct's collector included (this process adopts it and waits for it).
Prints the targets of the design beside; never fails because something is slow.
"""
import argparse
import ctypes
import glob
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import peers
import structure

PR_SET_CHILD_SUBREAPER = 36
SQL = """create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 1200000)
insert into t select i, (i * 7919) % 104729, printf('%x', i * 2654435761 % 4294967296) from n;
create index tb on t(b);
select count(*), sum(x.b * y.b % 97) from t x join t y on x.a = y.b where x.c < y.c;
"""


def wait_all(process, begin):
    """Waits for the process and all that it left behind: (wall s of the process, CPU s of all)."""
    cpu, wall = 0.0, None
    while True:
        try:
            pid, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return wall, cpu
        cpu += usage.ru_utime + usage.ru_stime
        if pid == process.pid:
            wall = time.monotonic() - begin
            process.returncode = 0


def drain():
    """Waits for collectors that earlier commands left behind, so that nobody else is charged for them."""
    while True:
        try:
            os.wait4(-1, 0)
        except ChildProcessError:
            return


def run(command, stdin=None):
    """(wall s, CPU s, stdout, stderr) of a command and its descendants."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        source = open(stdin, "rb") if stdin else subprocess.DEVNULL
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=source, stdout=out, stderr=err)
        wall, cpu = wait_all(process, begin)
        if stdin:
            source.close()
        out.seek(0)
        err.seek(0)
        return wall, cpu, out.read().decode(errors="replace"), err.read().decode(errors="replace")


def info(bench, path, *options):
    """hpct-info as {key: value} or, with --streams, rows by column."""
    text = subprocess.run([bench.bin + "/hpct-info", path, "--format", "tsv", *options], stdout=subprocess.PIPE,
                          text=True, check=True).stdout.splitlines()
    header = text[0].split("\t")
    rows = [dict(zip(header, line.split("\t"))) for line in text[1:]]
    return rows if options else {row["key"]: row["value"] for row in rows}


def sample_count(bench, path):
    return sum(int(row["samples"] or 0) for row in info(bench, path, "--streams"))


class Bench:
    def __init__(self, arguments):
        self.build = os.path.abspath(arguments.build)
        self.bin = os.path.join(self.build, "bin")
        self.load = os.path.abspath(os.path.join(arguments.build, "bench", "load"))
        self.floor = os.path.abspath(os.path.join(arguments.build, "bench", "floor.so"))
        self.rounds = arguments.rounds
        self.library = arguments.library
        self.work = tempfile.mkdtemp(prefix="hpct-bench.")
        self.perf = shutil.which("perf")
        self.serial = 0

    def path(self, suffix):
        self.serial += 1
        return os.path.join(self.work, f"{self.serial}{suffix}")

    def perf_record(self, rate):
        def wrap(command):
            path = self.path(".perf")
            return [self.perf, "record", "-q", "-F", str(rate), "-g", "-o", path, "--", *command], path
        return wrap

    def run(self, command, stdin=None):
        return run(command, stdin)

    def sample_count(self, path):
        return sample_count(self, path)


def line(what, value, target="", beside=""):
    print(f"{what:<50} {value:>22}   {target:<16} {beside}")


def tree_bytes(path):
    if not os.path.isdir(path):
        return os.stat(path).st_size
    return sum(os.stat(os.path.join(top, name)).st_blocks * 512
               for top, _, names in os.walk(path) for name in names)


def start_up(bench):
    times = {"true": [], "hpct-record true": [], "perf record true": []}
    true = shutil.which("true")
    for _ in range(max(10, 4 * bench.rounds)):
        path = bench.path(".hpct")
        times["true"].append(run([true])[0])
        times["hpct-record true"].append(run([bench.bin + "/hpct-record", "-o", path, "--", true])[0])
        shutil.rmtree(path, ignore_errors=True)
    if bench.perf:
        times["perf record true"].append(run(bench.perf_record(200)([true])[0])[0])
    for what, values in times.items():
        if values:
            line(f"start-up: {what}, ms", f"{statistics.median(values) * 1e3:.1f}",
                 "<= 5" if what.startswith("hpct") else "", f"min {min(values) * 1e3:.1f}")


def first_screen(bench):
    """From the last act of the program to a screen drawn: the recorder's end, then hpct-view."""
    ends, screens = [], []
    for _ in range(bench.rounds):
        path = bench.path(".hpct")
        process = subprocess.Popen([bench.bin + "/hpct-record", "-o", path, "--", bench.load, "many", "2000"],
                                   stdout=subprocess.PIPE, text=True)
        end_ns = int(process.communicate()[0])
        ends.append((time.monotonic_ns() - end_ns) / 1e9)
        subprocess.run([bench.bin + "/hpct-view", path, "--print", "120x36"], stdout=subprocess.DEVNULL, check=False)
        screens.append((time.monotonic_ns() - end_ns) / 1e9)
        drain()
        shutil.rmtree(path, ignore_errors=True)
    line("end of the program -> hpct-record has ended, ms", f"{statistics.median(ends) * 1e3:.0f}", "")
    line("end of the program -> first screen, ms", f"{statistics.median(screens) * 1e3:.0f}", "<= 200")


def bytes_per_sample(bench):
    """What a longer run of the same program adds, so that its fixed part (names, contexts) does not count: samples,
    and the spans of its switches, of which a busy machine makes several for each."""
    found = []
    for turns in ("1000", "8000"):
        path = bench.path(".hpct")
        run([bench.bin + "/hpct-record", "-o", path, "--", bench.load, "many", turns])
        facts = info(bench, path)
        found.append((int(facts["records"]), int(facts["bytes"])))
    (few, small), (many, large) = found
    if many > few:
        line("bytes per record that a longer run adds", f"{(large - small) / (many - few):.2f}", "",
             f"{many - few} more samples and spans; a run of {few} has {small} bytes")
    for shape, what, target in (("cpu", "sample", "<= 2.8"), ("gpu", "GPU span", "<= 4.2")):
        path = bench.path(".hpct")
        run([bench.bin + "/hpct-simulate", "-o", path, "--shape", shape, "--records", "1000000", "--streams", "8"])
        facts = info(bench, path)
        line(f"bytes per {what}, simulated, a million", f"{int(facts['bytes']) / int(facts['records']):.2f}", target)
        part = {row["part"]: int(row["bytes"]) for row in info(bench, path, "--sizes")}
        line("  of which records", f"{part['chunk'] / int(facts['records']):.2f}", target,
             f"rollups {100 * part['roll'] / part['chunk']:.1f} % on top (<= 20)")
        line("  file / payload", f"{part['file'] / part['payload']:.3f}", "<= 1.15")
        shutil.rmtree(path, ignore_errors=True)
    if bench.perf:
        path = bench.path(".perf")
        _, _, _, err = run([bench.perf, "record", "-F", "200", "-g", "-o", path, "--", bench.load, "many", "4000"])
        count = re.search(r"\((\d+) samples\)", err)
        if count and int(count.group(1)):
            line("bytes per sample, perf record -g", f"{tree_bytes(path) / int(count.group(1)):.0f}")


def blame(bench):
    """Idle GPUs of a simulated run: two queues of one process and the threads that feed them."""
    path = bench.path(".hpct")
    records = os.environ.get("HPCT_BENCH_RECORDS", "16000000")
    run([bench.bin + "/hpct-simulate", "-o", path, "--shape", "gpu", "--records", records, "--streams", "4"])
    streams = info(bench, path, "--streams")
    spans = sum(int(row["spans"] or 0) for row in streams if row["kind"] == "gpu")
    beside = sum(int(row["spans"] or 0) + int(row["samples"] or 0) for row in streams if row["kind"] == "cpu")
    command = [bench.bin + "/hpct-blame", path, "--format", "tsv"]
    idle = command + ["--of", "gpu-idle"]
    queues = ["--streams", "gpu:*"]
    for what, options in (("swept", idle + ["--no-rollups"]),
                          ("swept, queues alone", idle + ["--no-rollups", *queues]),
                          ("swept, --busy kernel", idle + ["--busy", "kernel"]),
                          ("swept, gaps", command + ["--gaps", "--top", "1"]), ("page", command)):
        cpu = statistics.median(run(options)[1] for _ in range(bench.rounds))
        threads = "" if options[-2:] == queues else f", {beside / 1e6:.1f} M records of threads"
        line(f"idle blame, whole run, {what}, M GPU spans/s/core", f"{spans / cpu / 1e6:.1f}",
             "" if what == "page" else ">= 50",
             f"{spans / 1e6:.1f} M spans{threads}")
    made = run(idle)[1]
    kept = sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path) if name.startswith("cache-idle"))
    line("idle blame, sums of stretches made, M GPU spans/s/core", f"{spans / made / 1e6:.1f}", "",
         f"{kept / 1e6:.1f} MB kept")
    cpu = statistics.median(run(idle)[1] for _ in range(bench.rounds))
    line("idle blame, whole run, by kept sums, M GPU spans/s/core", f"{spans / cpu / 1e6:.1f}", ">= 50")
    for window in ("5s..6s", "3.3s..", "-100s..-7s"):
        wall = statistics.median(run(idle + ["--time", window])[0] for _ in range(bench.rounds))
        line(f"idle blame, window {window}, by kept sums, ms", f"{wall * 1e3:.0f}", "<= 100")
    shutil.rmtree(path, ignore_errors=True)


def with_pandas():
    """A Python that has pandas: this one, else the system's, if it does."""
    for python in (sys.executable, "/usr/bin/python3"):
        if not subprocess.run([python, "-c", "import pandas"], capture_output=True, check=False).returncode:
            return python
    return sys.executable


def scripts(bench):
    """Questions by script to ten million records: a report, SQL beside hpct-stats, a DataFrame."""
    path = bench.path(".hpct")
    run([bench.bin + "/hpct-simulate", "-o", path, "--shape", "mixed", "--records", "10000000", "--streams", "64"])
    for what in ("tsv", "html"):
        report = [run([bench.bin + "/hpct-report", path, "--format", what])[:2] for _ in range(bench.rounds)]
        wall, cpu = (statistics.median(column) for column in zip(*report))
        line(f"hpct-report of 1e7 records, {what}, s", f"{wall:.2f}", "<= 2", f"{cpu:.2f} s of CPU time")
    shutil.rmtree(path, ignore_errors=True)
    run([bench.bin + "/hpct-simulate", "-o", path, "--records", "10000000", "--streams", "8"])
    window = ["--time", "100s..900s"]
    ratios, frames = [], []
    for _ in range(bench.rounds):
        stats = run([bench.bin + "/hpct-stats", path, "--format", "tsv", *window])[1]
        sql = run([bench.bin + "/hpct-sql", path, "SELECT * FROM stats('100s', '900s')", "--format", "tsv"])[1]
        ratios.append(sql / stats)
    line("a window's sums by hpct-sql over hpct-stats", f"{statistics.median(ratios):.2f}", "<= 1.2")
    code = """import hpct, sys, time
run = hpct.open(sys.argv[1])
wall, cpu = time.monotonic(), time.process_time()
frame = run.slice()
print(len(frame), time.monotonic() - wall, time.process_time() - cpu, type(frame).__name__)"""
    package = os.path.join(os.path.dirname(__file__), "../../formats/python")
    command = ["env", "PYTHONPATH=" + package, "HPCT_LIBRARY=" + bench.build + "/lib/libhpct.so", with_pandas(), "-c", code, path]
    for _ in range(bench.rounds):
        answer = run(command)[2].split()
        if len(answer) == 4:
            frames.append([float(took) / int(answer[0]) * 1e7 for took in answer[1:3]] + answer[3:])
    if frames:
        wall, cpu = (statistics.median(column) for column in list(zip(*frames))[:2])
        line(f"1e7 samples into a {frames[0][2]}, s", f"{wall:.2f}", "<= 1", f"{cpu:.2f} s of CPU time")
    shutil.rmtree(path, ignore_errors=True)


def archive(bench):
    """Bytes of archives beside those of the runs they were made of."""
    runs = {"recorded, 2 s": [bench.bin + "/hpct-record", "-o", None, "--", bench.load, "many", "2000"]}
    for shape in ("cpu", "gpu", "mixed"):
        runs[f"simulated {shape}, a million"] = [bench.bin + "/hpct-simulate", "-o", None, "--shape", shape,
                                                 "--records", "1000000", "--streams", "8"]
    for what, command in runs.items():
        path, kept = bench.path(".hpct"), bench.path(".kept.hpct")
        run([path if word is None else word for word in command])
        run([bench.bin + "/hpct-slice", path, "-o", kept, "--archive"])
        before, after = int(info(bench, path)["bytes"]), int(info(bench, kept)["bytes"])
        line(f"archive, {what}, share of the bytes", f"{after / before:.2f}", "", f"{before} to {after}")
        shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(kept, ignore_errors=True)


def shared(bench):
    """Sums over many streams by one process and by as many as there are cores, records and rollups."""
    path, cores = bench.path(".hpct"), len(os.sched_getaffinity(0))
    run([bench.bin + "/hpct-simulate", "-o", path, "--shape", "mixed", "--records", "8000000", "--streams", "400"])
    for what, options in (("rollups", []), ("records", ["--no-rollups"])):
        command = [bench.bin + "/hpct-stats", path, "--format", "tsv", "--time", "1s..20s", *options]
        alone, together = [], []
        for _ in range(bench.rounds):
            alone.append(run([*command, "--jobs", "1"])[0])
            together.append(run([*command, "--jobs", str(cores)])[0])
        ratio = statistics.median(alone) / statistics.median(together)
        line(f"stats of a window, {what}, one process over {cores}", f"{ratio:.2f}", f"{cores}",
             f"{statistics.median(alone) * 1e3:.0f} ms alone")
    shutil.rmtree(path, ignore_errors=True)
    ranks(bench, cores)


STORES = 16


def ranks(bench, cores):
    """The same over a run of many stores, by forked processes and by the ranks of each MPI that is here."""
    path, one = bench.path(".hpct"), bench.path(".hpct")
    os.mkdir(path)
    for host in range(STORES):
        run([bench.bin + "/hpct-simulate", "-o", one, "--shape", "mixed", "--records", "500000", "--streams", "40",
             "--seed", str(host)])
        store, = glob.glob(one + "/*.mdb")
        os.rename(store, f"{path}/node{host:02}-{host}.mdb")
        shutil.rmtree(one)
    command = [bench.bin + "/hpct-profile", path, "--format", "tsv", "--no-rollups"]
    ways = {f"{cores} processes": [*command, "--jobs", str(cores)]}
    for mpi, options in (("openmpi", ["--allow-run-as-root", "--oversubscribe"]), ("mpich", [])):
        if shutil.which("mpirun." + mpi) and os.path.exists(f"{bench.build}/lib/hpct/hpct-ranks-{mpi}.so"):
            ways[f"{cores} ranks of {mpi}"] = ["mpirun." + mpi, *options, "-n", str(cores), *command]
    alone, together = [], {way: [] for way in ways}
    for _ in range(bench.rounds):
        alone.append(run([*command, "--jobs", "1"])[0])
        for way, words in ways.items():
            together[way].append(run(words)[0])
    for way, seconds in together.items():
        line(f"profile of {STORES} stores, one process over {way}",
             f"{statistics.median(alone) / statistics.median(seconds):.2f}", f"{cores}",
             f"{statistics.median(alone) * 1e3:.0f} ms alone")
    shutil.rmtree(path, ignore_errors=True)


def structure_of(bench):
    known = bench.build + "/lammps/usr/lib/x86_64-linux-gnu/liblammps.so.0", "/usr/lib/x86_64-linux-gnu/liblammps.so.0"
    library = bench.library or next((path for path in known if os.path.exists(path)), None)
    if library:
        structure.measure(line, bench.bin + "/hpct-names", library, bench.rounds)
    else:
        line("structure of samples in liblammps", "not here")


def overheads(bench, wanted):
    script = bench.path(".sql")
    with open(script, "w", encoding="ascii") as file:
        file.write(SQL)
    peers.table(bench, script, wanted)


def main():
    parser = argparse.ArgumentParser(description="measure what hpct costs")
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="overhead, start, screen, bytes, archive, shared, structure, blame or scripts")
    parser.add_argument("--library", help="of the structure of samples: another than Debian's liblammps")
    parser.add_argument("--programs", help="of the table of overheads: one,eight,short,sqlite3,lammps")
    arguments = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    bench = Bench(arguments)
    parts = {
        "start": lambda: start_up(bench),
        "screen": lambda: first_screen(bench),
        "bytes": lambda: bytes_per_sample(bench),
        "structure": lambda: structure_of(bench),
        "archive": lambda: archive(bench),
        "shared": lambda: shared(bench),
        "blame": lambda: blame(bench),
        "scripts": lambda: scripts(bench),
        "overhead": lambda: overheads(bench, arguments.programs and arguments.programs.split(",")),
    }
    print(f"{bench.rounds} rounds, medians; perf {'beside' if bench.perf else 'is not installed'}")
    line("what", "measured", "target", "")
    try:
        for name, part in parts.items():
            if arguments.only in (None, name):
                part()
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
