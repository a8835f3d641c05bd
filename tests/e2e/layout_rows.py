#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layout_rows.py SEED ROWS SHUFFLED - a run as rows, twice, in two orders: few different times, so that many records
are of one time, and `monitored` spans that contradict each other. Prints a window within it."""
import random
import sys

seed, rows_path, shuffled_path = sys.argv[1:]
draw = random.Random(int(seed))
COLUMNS = "stream track begin_ns end_ns path op bytes weight metric value attributes".split()
SCALE = draw.choice([1, 7, 1000, 1000000])
END = 4000 * SCALE
times = [draw.randrange(END) for _ in range(draw.choice([5, 12, 60]))]
paths = ["main", "main;a", "main;b", "main;b;c", "main;a;c", "zeta", "zeta;a", "main;<partial>", "<thread root>;w", ""]
cpus = ["cpu:h/0/10.0/0", "cpu:h/0/10.0/1", "cpu:h/0/10.0/2", "cpu:h/1/11.0/0"]
gpus = ["gpu:h/0/10.0/0/0/0", "gpu:h/0/10.0/0/0/1", "gpu:h/0/10.0/1/0/0"]
ops = "sync sync blocked blocked runnable runnable kernel kernel copy copy set mpi io launch mark range".split()
ops += ["my op", "other op"] + (["lost", "unmonitored"] if not draw.randrange(6) else [])
rows = []


def maybe(share, text):
    return [text] if draw.random() < share else []


def row(**fields):
    rows.append("\t".join(str(fields.get(column, "")) for column in COLUMNS))


def stretch():
    a, b = draw.choice(times), draw.choice(times)
    return (a, b) if a < b else (b, a) if b < a else (a, a + SCALE)


def monitored(stream):
    begin, end = (0, END) if draw.randrange(2) else stretch()
    said = maybe(0.6, "metric=" + draw.choice(["CPUTIME", "cycles"]))
    said += maybe(0.6, "period_ns=%d" % draw.choice([SCALE, 9 * SCALE, 100 * SCALE]))
    said += maybe(0.3, "switches=%d" % draw.randrange(2))
    said += maybe(0.3, "name=" + draw.choice("xyz")) + maybe(0.2, "command=" + draw.choice(["c1", "c2"]))
    said += maybe(0.3, "device=" + draw.choice(["d1", "d2"]))
    row(stream=stream, track="spans", begin_ns=begin, end_ns=end, op="monitored", attributes=",".join(said))


def span(stream):
    begin, end = stretch()
    op = draw.choice(ops)
    said = maybe(0.6, "link=%d" % draw.randrange(1, 15)) if op in ("launch", "kernel", "copy", "sync") else []
    said += ["kind=" + draw.choice(["HtoD", "DtoH", "DtoD"])] if op == "copy" else []
    said += ["name=" + draw.choice(["m1", "m2", "m3"])] if op in ("mark", "range") else []
    said += maybe(0.3, "k=" + draw.choice("uvw")) + maybe(0.1, "grid=1:2:%d" % draw.randrange(1, 3))
    row(stream=stream, track="spans", begin_ns=begin, end_ns=end if draw.randrange(30) else "", op=op,
        path=draw.choice(paths), bytes=draw.choice(["", 1, 4096]), weight=draw.choice(["", "", 3]),
        attributes=",".join(said))


for stream in cpus + gpus:
    for _ in range(draw.choice([0, 1, 2, 3])):
        monitored(stream)
    for _ in range(draw.choice([0, 10, 80])):
        span(stream)
    for _ in range(draw.choice([0, 0, 20])):
        row(stream=stream, track="values", begin_ns=draw.choice(times), path=draw.choice(paths),
            metric=draw.choice(["power, W", "temp"]), value=draw.choice([0, 1, 2.5, 100]))
for stream in cpus:
    for _ in range(draw.choice([0, 5, 60, 300])):
        row(stream=stream, track="samples", begin_ns=draw.choice(times), path=draw.choice(paths[:-1]),
            weight=draw.choice([0, 1, 10, 1000]), metric=draw.choice(["CPUTIME", "CPUTIME", "cycles", "misses"]))
row(stream=cpus[0], track="samples", begin_ns=times[0], path="main", weight=5, metric="CPUTIME")
for path in rows_path, shuffled_path:
    with open(path, "w", encoding="ascii") as file:
        print("\n".join(["\t".join(COLUMNS)] + rows), file=file)
    draw.shuffle(rows)
begins = sorted(int(text.split("\t")[2]) for text in rows)
print("%dns..%dns" % (begins[len(begins) // 3], begins[2 * len(begins) // 3] + 1))
