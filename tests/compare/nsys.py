#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nsys.py EXPORT.sqlite RUN.hpct - holds hpct's import of an Nsight Systems export to the export: kernels by name, copies,
queues, CUDA's calls, the C library's calls and NVTX ranges by count and time, as the reports of `nsys stats` sum them, which
are queries of the same file. hpct's programs are on the PATH. Prints a line for each; exits 1 if one differs."""
import collections
import csv
import re
import sqlite3
import subprocess
import sys

database, run = sqlite3.connect(sys.argv[1]), sys.argv[2]
tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
text = subprocess.run(["hpct-slice", run, "--format", "tsv"], stdout=subprocess.PIPE, text=True, check=True).stdout
rows = list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
differences = 0


def leaf(row):
    return re.sub(r"\\(.)", r"\1", re.split(r"(?<!\\);", row["path"])[-1])


def theirs(query):
    sums = collections.Counter()
    counts = collections.Counter()
    for name, begin, end in database.execute(query):
        counts[name] += 1
        sums[name] += end - begin
    return {name: (counts[name], sums[name]) for name in counts}


def ours(wanted, name):
    sums = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        if row["track"] == "spans" and row["end_ns"] and row["op"] != "monitored" and wanted(row):
            sums[name(row)][0] += 1
            sums[name(row)][1] += int(row["end_ns"]) - int(row["begin_ns"])
    return {key: tuple(value) for key, value in sums.items()}


def compare(what, want, got):
    global differences
    wrong = [name for name in set(want) | set(got) if want.get(name) != got.get(name)]
    differences += len(wrong)
    print(f"{what}: {sum(w[0] for w in want.values())} of {len(want)} names, {sum(w[1] for w in want.values())} ns, "
          f"{len(wrong)} names differ")
    for name in wrong[:5]:
        print(f"    {name}: {want.get(name)}, here {got.get(name)}")


def names_of(table, column, rest=""):
    return f"SELECT s.value, t.start, t.end FROM {table} t JOIN StringIds s ON s.id = t.{column} WHERE t.end >= t.start {rest}"


queues = [table for table in ("KERNEL", "MEMCPY", "MEMSET") if f"CUPTI_ACTIVITY_KIND_{table}" in tables]
if "KERNEL" in queues:
    compare("kernels", theirs(names_of("CUPTI_ACTIVITY_KIND_KERNEL", "demangledName")), ours(lambda r: r["op"] == "kernel", leaf))
if queues:
    compare("queues", theirs(" UNION ALL ".join(f"SELECT deviceId || '/' || streamId, start, end FROM CUPTI_ACTIVITY_KIND_{table}"
                                                for table in queues)),
            ours(lambda r: r["op"] in ("kernel", "copy", "set"),
                 lambda r: "{0}/{2}".format(*r["stream"].split("/")[-3:])))
if "MEMCPY" in queues:
    compare("bytes copied", {"bytes": (1, database.execute("SELECT sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY").fetchone()[0])},
            {"bytes": (1, sum(int(r["bytes"] or 0) for r in rows if r["op"] == "copy"))})
if "CUPTI_ACTIVITY_KIND_RUNTIME" in tables:
    calls = collections.defaultdict(lambda: [0, 0])
    for name, (count, time) in theirs(names_of("CUPTI_ACTIVITY_KIND_RUNTIME", "nameId")).items():
        calls[re.sub(r"_v\d+(_pt[ds]+z?)?$", "", name)][0] += count
        calls[re.sub(r"_v\d+(_pt[ds]+z?)?$", "", name)][1] += time
    compare("CUDA's calls", {name: tuple(value) for name, value in calls.items()},
            ours(lambda r: r["stream"].startswith("cpu:") and r["op"] != "blocked" and leaf(r) in calls, leaf))
if "OSRT_API" in tables:
    # A call that waits is itself blocked time here, and the kernel's switches within it are, too: those are left out by name.
    calls = theirs(names_of("OSRT_API", "nameId"))
    waits = {leaf(r) for r in rows if r["op"] == "blocked"} - {leaf(r) for r in rows if r["op"] == "osrt"}
    calls = {name: value for name, value in calls.items() if name not in waits}
    compare("the C library's calls", calls, ours(lambda r: r["op"] == "osrt", leaf))
if "NVTX_EVENTS" in tables:
    ranges = theirs("SELECT coalesce(t.text, s.value), t.start, t.end FROM NVTX_EVENTS t LEFT JOIN StringIds s ON s.id = t.textId "
                    "WHERE t.end IS NOT NULL AND t.eventType IN (59, 70)")
    compare("NVTX ranges", ranges, ours(lambda r: r["op"] == "nvtx" and leaf(r) in ranges, leaf))
if "COMPOSITE_EVENTS" in tables:
    compare("samples", {"samples": (database.execute("SELECT count(*) FROM COMPOSITE_EVENTS").fetchone()[0], 0)},
            {"samples": (sum(r["track"] == "samples" for r in rows), 0)})
sys.exit(differences != 0)
