#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A trace as Perfetto's SDK and its service write it, made here by the field numbers of the published schema: sequences
# with names and clocks of their own, tracks told after their events, counters, switches of the scheduler in both spellings,
# packets that are deflated. What is not read is counted; a trace that is cut short or spoilt keeps what is whole.
. "$(dirname -- "$0")/expect.sh"
need python3
grep -q perfetto <(hpct-import --help) || skip "built without protobuf-c"
cat >trace.py <<'END'
import struct, sys, zlib
def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127: out += bytes([n & 127 | 128]); n >>= 7
    return out + bytes([n])
def f(number, value):
    if isinstance(value, bool): value = int(value)
    if isinstance(value, int): return varint(number << 3) + varint(value)
    if isinstance(value, float): return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, str): value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value
def m(*fields): return b"".join(f(n, v) for n, v in fields)
def packed(values): return b"".join(varint(v) for v in values)
def packet(*fields): return f(1, m(*fields))
CLEARED, NEEDS = 1, 2
def name(table, iid, text): return (table, m((1, iid), (2, text)))
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
out = []
# The service: both clocks, then a sequence of the SDK whose clock 64 counts microseconds from packet to packet.
out.append(packet((10, 1), (6, m((1, m((1, 6), (2, 5_000_000_000))), (1, m((1, 1), (2, 1_700_000_005_000_000_000)))))))
out.append(packet((10, 7), (13, CLEARED), (6, m((1, m((1, 6), (2, 5_000_000_000))), (1, m((1, 64), (2, 4_000_000), (3, True), (4, 1000)))))
    , (59, m((58, 64), (11, m((11, 111)))))))
def event(time, *fields, interned=None, seq=7, flags=NEEDS, clock=()):
    return packet((8, time), (10, seq), (13, flags), *clock, *([(12, m(*interned))] if interned else []), (11, m(*fields)))
out.append(event(1000, (9, BEGIN), (10, 1), (3, 1), interned=[name(1, 1, "rendering"), name(2, 1, "frame")]))       # 5.001 s
out.append(event(200, (9, BEGIN), (23, "draw<a, b>"), (22, "gpu"), (4, m((10, "size"), (3, 640))), (4, m((1, 1), (17, 1))), (36, 5)
    , interned=[name(3, 1, "shader"), name(29, 1, "blur,x")]))                                                     # 5.0012
out.append(event(300, (9, END)))                                                                                  # 5.0015
out.append(event(0, (9, COUNTER), (11, 300), (30, 42)))
out.append(event(100, (9, COUNTER), (11, 300), (30, -2)))                                                         # 5.0016, a difference
out.append(event(0, (9, COUNTER), (11, 301), (44, 1.5)))
out.append(event(100, (9, INSTANT), (23, "vsync"), (11, 222)))                                                    # 5.0017
out.append(event(300, (9, END)))                                                                                  # 5.002
out.append(event(0, (9, BEGIN), (23, "never ends"), (11, 333)))
out.append(event(0, (9, END), (11, 444)))
# Names begin anew.
out.append(packet((10, 7), (13, CLEARED), (59, m((58, 64), (11, m((11, 111))))), (6, m((1, m((1, 6), (2, 6_000_000_000))), (1, m((1, 64), (2, 9), (3, True), (4, 1000)))))))
out.append(event(10, (9, BEGIN), (10, 1), interned=[name(2, 1, "second")]))                                       # 6.00001
out.append(event(10, (9, END)))
out.append(event(0, (9, BEGIN), (10, 77)))                                                                        # a name that is missing
out.append(event(0, (9, END)))
# Another sequence, in the trace's clock, deflated.
inner = event(5_000_500_000, (9, BEGIN), (23, "load"), (11, 112), seq=8, flags=0) + event(5_000_900_000, (9, END), (11, 112), seq=8, flags=0)
out.append(packet((50, zlib.compress(inner))))
# Tracks are told behind their events.
out.append(packet((10, 7), (60, m((1, 100), (3, m((1, 10), (6, "app")))))))
out.append(packet((10, 7), (60, m((1, 111), (5, 100), (4, m((1, 10), (2, 10), (5, "main")))))))
out.append(packet((10, 7), (60, m((1, 112), (5, 100), (4, m((1, 10), (2, 12), (5, "io")))))))
out.append(packet((10, 7), (60, m((1, 222), (5, 100), (2, "display")))))
out.append(packet((10, 7), (60, m((1, 333), (5, 111), (2, "async")))))
out.append(packet((10, 7), (60, m((1, 300), (5, 100), (2, "memory"), (8, m((3, 3), (4, 1024), (5, True)))))))
out.append(packet((10, 7), (60, m((1, 301), (5, 100), (2, "load"), (8, m((6, "%")))))))
# The kernel: processes, switches on CPU 0 one by one, on CPU 1 packed.
out.append(packet((10, 9), (2, m((1, m((1, 10), (3, "/bin/app"))), (2, m((1, 12), (2, "worker"), (3, 10)))))))
def switch(time, before, state, after): return (2, m((1, time), (4, m((2, before), (4, state), (6, after)))))
out.append(packet((10, 9), (1, m((1, 0), switch(5_000_100_000, 12, 1, 0), switch(5_000_300_000, 0, 0, 12), switch(5_000_950_000, 12, 0, 99), switch(5_000_960_000, 99, 2, 12)))))
out.append(packet((10, 9), (1, m((1, 1), (4, m((1, packed([5_001_300_000, 40_000, 60_000])), (2, packed([0, 1, 0])), (3, packed([10, 0, 10]))))))))
# A thread that moves to another core, whose records come first.
out.append(packet((10, 9), (1, m((1, 3), switch(5_001_200_000, 0, 0, 12)))))
out.append(packet((10, 9), (1, m((1, 2), switch(5_001_100_000, 12, 1, 0)))))
# What is not read.
out.append(packet((10, 9), (37, b"\x08\x01")))
out.append(packet((10, 9), (37, b"\x08\x02")))
out.append(packet((10, 9), (66, b"\x08\x02")))
out.append(packet((10, 7), (8, 1), (11, m((6, m((2, 66)))))))
open("t.pftrace", "wb").write(b"".join(out))
open("cut.pftrace", "wb").write(b"".join(out)[:-3])
END
python3 trace.py || fail "the trace cannot be made"
code "import" 0 hpct-import t.pftrace -o t.hpct
same "what is left out" "hpct-import: left out: 2 packets of heap profiles; 1 packets of call stack samples; 1 ends of slices whose begin is missing; 1 events of Chrome's older kinds; 1 names that lost packets had" "$(cat err)"
rows() { # RUN : times since 5 s, of which the first record lies 100 us behind
	hpct-slice "$1" --format tsv | tsv '$c["op"] != "monitored" { gsub(/[^\/]*\/-\//, "", $c["stream"]); sub(/^cpu:/, "", $c["stream"])
		printf "%s %d %s %s %s %s %s %s\n", $c["stream"], ($c["begin_ns"] + 100000) / 1000, $c["end_ns"] == "" ? "" : ($c["end_ns"] + 100000) / 1000, $c["path"], $c["op"], $c["metric"], $c["value"], $c["attributes"] }' |
		sed 's/  */ /g; s/ $//' | sort
}
rows t.hpct >got
cat >want <<'END'
10.0/0 1000 2000 frame rendering
10.0/0 1200 1500 frame;draw<a, b> gpu size=640,shader=blur\,x
10.0/0 1340 1400 frame;draw<a, b> blocked
10.0/0 1000010 1000020 second call
10.0/0 1000020 1000020 slice call
10.0/1 100 300 blocked
10.0/1 500 900 load call
10.0/1 950 960 runnable
10.0/1 1100 1200 blocked
10.0/2 2000 1000020 never ends call
10.0/3 1500 memory 43008.0
10.0/3 1600 load 1.5
10.0/3 1600 memory 40960.0
10.0/4 1700 1700 mark name=vsync
END
sort -o want want
same_file "records" want got
same "names" "async counters display main worker" "$(hpct-info --streams t.hpct --format tsv | tsv '$c["name"] != "" { print $c["name"] }' | sort | paste -sd ' ')"
same "the wall clock" 1 "$(hpct-info t.hpct | grep -c '2023-11-14')"
check "the run is sound" grep -q sound <(hpct-info --check t.hpct)
code "cut short" 4 hpct-import cut.pftrace -o cut.hpct
check "it names the run" grep -q 'cut.hpct' err
rows cut.hpct >got.cut
same_file "what is whole of it" got got.cut
gzip -k t.pftrace
code "packed, through a pipe" 0 eval 'hpct-import --from perfetto - -o z.hpct <t.pftrace.gz'
rows z.hpct >got.z
same_file "the same" got got.z

# Spoilt bytes anywhere, of this trace and of hpct's own: no crash, no run that is not sound.
hpct-export --to perfetto t.hpct -o own.pftrace 2>/dev/null || fail "export"
cat >spoil.py <<'END'
import os, random, shutil, subprocess
random.seed(35)
for turn in range(160):
    shutil.rmtree("h.hpct", True)
    data = bytearray(open(("t.pftrace", "own.pftrace")[turn % 2], "rb").read())
    for _ in range(random.randint(1, 6)): data[random.randrange(len(data))] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
    if turn % 5 == 0: del data[random.randrange(len(data)):]
    open("h.pftrace", "wb").write(data)
    done = subprocess.run(["hpct-import", "--from", "perfetto", "h.pftrace", "-o", "h.hpct"], capture_output=True, timeout=120)
    assert done.returncode in (0, 4), (turn, done.returncode, done.stderr)
    if os.path.exists("h.hpct"):
        check = subprocess.run(["hpct-info", "--check", "h.hpct"], capture_output=True)
        assert check.returncode == 0, (turn, check.stdout)
END
(ulimit -v 2000000 && python3 spoil.py) || fail "a spoilt trace"
