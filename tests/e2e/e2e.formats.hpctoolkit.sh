#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A database of HPCToolkit, made here as its description of the formats (version 4.0) has it: ranks with threads and a GPU
# stream, a tree of functions, loops and lines, traces with times off the core. Spoilt databases make no crash and no run
# that is not sound.
. "$(dirname -- "$0")/expect.sh"
need python3
cat >database.py <<'END'
import os, struct
os.makedirs("db", exist_ok=True)
def align(b, n=8): return b + bytes(-len(b) % n)
class File:
    def __init__(self, format, sections): self.format, self.at, self.body, self.headers = format, 0x10 + 0x10 * sections, b"", [(0, 0)] * sections
    def add(self, data):
        self.body = align(self.body)
        place = 0xc0 + len(self.body) if self.at > 0x90 else self.at + len(self.body)
        self.body += data
        return place
    def section(self, number, data):
        self.headers[number] = (len(data), self.add(data))
        return self.headers[number][1]
    def write(self, path, footer):
        head = b"HPCTOOLKIT" + self.format + bytes([4, 0]) + b"".join(struct.pack("<QQ", *h) for h in self.headers)
        open(path, "wb").write(head + self.body + footer)
# ---- meta.db
m = File(b"meta", 8)
text = lambda s: m.add(s.encode() + b"\0")
names = ["SUMMARY", "NODE", "RANK", "THREAD", "GPUCONTEXT", "GPUSTREAM"]
array = m.add(b"".join(struct.pack("<Q", p) for p in [text(n) for n in names]))
m.section(1, struct.pack("<QB", array, len(names)))
module = m.add(struct.pack("<IIQ", 0, 0, text("/opt/app/solver")))
def function(name, offset=0): return m.add(struct.pack("<QQQQII", text(name) if name else 0, module, offset, 0, 0, 0))
def context(id, kind, children=(), fn=0, flex=b""):
    flags, words = (1, struct.pack("<Q", fn)) if fn else (0, b"")
    body = b"".join(children)
    at = m.add(body) if body else 0
    return struct.pack("<QQIBBBBHxxxxxx", len(body), at, id, flags, 1, kind, len(words) // 8, 0) + words
FUNCTION, LOOP, LINE, INSTRUCTION = 0, 1, 2, 3
k1 = context(14, FUNCTION, fn=function("saxpy<float>"))
gpu = context(13, FUNCTION, [k1], fn=function("<gpu kernel>"))
copy = context(15, FUNCTION, fn=function("<gpu copy>"))
launch = context(12, FUNCTION, [gpu, copy], fn=function("cudaLaunchKernel"))
line = context(11, LINE, [launch])
loop = context(10, LOOP, [line])
anonymous = context(16, FUNCTION, fn=function("", 0x1234))
solve = context(5, FUNCTION, [loop], fn=function("solve;x"))
main = context(4, FUNCTION, [solve, anonymous], fn=function("main"))
worker = context(21, FUNCTION, fn=function("worker"))
lost = context(31, FUNCTION, fn=function("lost"))
def entry(id, kind, children): return struct.pack("<QQIHxxQ", len(children), m.add(children), id, kind, text("entry"))
entries = m.add(entry(1, 1, main) + entry(2, 2, worker) + entry(3, 0, lost))
m.section(3, struct.pack("<QHB", entries, 3, 32))
m.write("db/meta.db", b"_meta.db")
# ---- profile.db
p = File(b"prof", 2)
def ids(*pairs): return p.add(struct.pack("<Hxxxxxx", len(pairs)) + b"".join(struct.pack("<BxHIQ", k, f, l, ph) for k, f, l, ph in pairs))
node, rank, thread, ctx, stream = 1, 2, 3, 4, 5
tuples = [0, ids((node, 1, 0, 0xabcd), (rank, 0, 0, 0), (thread, 0, 0, 0)), ids((node, 1, 0, 0xabcd), (rank, 0, 0, 0), (thread, 0, 1, 1)),
    ids((node, 1, 1, 0xbeef), (rank, 0, 1, 1), (thread, 0, 0, 0)), ids((node, 1, 1, 0xbeef), (rank, 0, 1, 1), (ctx, 0, 2, 2), (stream, 0, 7, 7))]
infos = p.add(b"".join(struct.pack("<QQIxxxxQQIxxxx", 0 if i == 0 else 3, 0, 0, 0, t, 1 if i == 0 else 0) for i, t in enumerate(tuples)))
p.section(0, struct.pack("<QIB", infos, len(tuples), 48))
p.write("db/profile.db", b"_prof.db")
# ---- trace.db; times since 1970
T = 1_700_000_000_000_000_000
t = File(b"trce", 1)
def trace(profile, *elements):
    data = b"".join(struct.pack("<QI", T + time, c) for time, c in elements)
    at = t.add(data)
    return struct.pack("<IxxxxQQ", profile, at, at + len(data))
headers = [trace(1, (0, 4), (1000, 5), (2000, 11), (3000, 0), (5000, 16), (6000, 0)), trace(2, (500, 21), (1500, 99), (2500, 0)), trace(3, (0, 31), (100, 4), (4000, 0)),
    trace(4, (1000, 14), (1800, 0), (2000, 15), (2300, 14), (2500, 0))]
array = t.add(b"".join(headers))
t.section(0, struct.pack("<QIBxxxQQ", array, len(headers), 24, T, T + 6000))
t.write("db/trace.db", b"trace.db")
# One whose last trace ends behind the file.
at = 0x20 + t.body.rindex(headers[-1]) + 0x10
data = bytearray(open("db/trace.db", "rb").read())
data[at:at + 8] = struct.pack("<Q", len(data) + 12000)
open("cut.db", "wb").write(data)
END
python3 database.py || fail "the database cannot be made"
code "import" 0 hpct-import db -o r.hpct
same "what is left out" "hpct-import: left out: 12 metric values of profiles; 2 loops, lines and instructions of call paths; 1 times in contexts that the tree does not have" "$(cat err)"
code "by its trace" 0 hpct-import db/trace.db -o again.hpct
hpct-slice r.hpct --format tsv | tsv '$c["op"] != "monitored" { sub(/\/[0-9]+\.0/, "", $c["stream"]); print $c["stream"], $c["track"], $c["begin_ns"], $c["end_ns"], $c["path"], $c["op"], $c["weight"] }' |
	sed 's/  */ /g; s/ $//' | sort >got
cat >want <<'END'
cpu:0000abcd/0/0 samples 0 main 0
cpu:0000abcd/0/0 samples 1000 main 1000
cpu:0000abcd/0/0 samples 1000 main;solve\;x 0
cpu:0000abcd/0/0 samples 2000 main;solve\;x 0
cpu:0000abcd/0/0 samples 2000 main;solve\;x 1000
cpu:0000abcd/0/0 samples 3000 main;solve\;x 1000
cpu:0000abcd/0/0 samples 5000 main;solver+0x1234 0
cpu:0000abcd/0/0 samples 6000 main;solver+0x1234 1000
cpu:0000abcd/0/0 spans 3000 5000 blocked
cpu:0000abcd/0/1 samples 500 <thread root>;worker 0
cpu:0000abcd/0/1 samples 1500 0
cpu:0000abcd/0/1 samples 1500 <thread root>;worker 1000
cpu:0000abcd/0/1 samples 2500 1000
cpu:0000beef/1/0 samples 0 <partial>;lost 0
cpu:0000beef/1/0 samples 100 <partial>;lost 100
cpu:0000beef/1/0 samples 100 main 0
cpu:0000beef/1/0 samples 4000 main 3900
gpu:0000beef/1/0/2/7 spans 1000 1800 main;solve\;x;cudaLaunchKernel;<gpu kernel>;saxpy<float> kernel
gpu:0000beef/1/0/2/7 spans 2000 2300 main;solve\;x;cudaLaunchKernel;<gpu copy> copy
gpu:0000beef/1/0/2/7 spans 2300 2500 main;solve\;x;cudaLaunchKernel;<gpu kernel>;saxpy<float> kernel
END
sort -o want want
same_file "records" want got
same "the wall clock" 1 "$(hpct-info r.hpct | grep -c '2023-11-14')"
same "time by function" "2000" "$(hpct-profile r.hpct --view flat --format tsv | tsv '$c["kind"] == "function" && $c["name"] == "solve;x" { printf "%.0f", $c["time:incl"] }')"
check "the run is sound" grep -q sound <(hpct-info --check r.hpct)

cp -r db cut
cp cut.db cut/trace.db
code "a trace cut short" 4 hpct-import cut -o cut.hpct
check "it says so" grep -q 'damaged or cut short' err
check "what was whole is there" grep -q 'saxpy' <(hpct-slice cut.hpct --format tsv)
truncate -s -60 cut/trace.db
code "the traces' table is gone" 4 hpct-import cut -o none.hpct
sentence "the traces' table is gone"
rm cut/meta.db
code "a file is gone" 4 hpct-import cut -o gone.hpct
sentence "a file is gone"
check "no run is left" [ ! -e gone.hpct ]
code "a stream" 2 hpct-import --from hpctoolkit - <db/trace.db
sentence "a stream"
# A number of a context far beyond what the file has room for takes no memory.
sed 's/context(31, /context(67108863, /; s/"db/"far/' database.py >far.py
python3 far.py || fail "the database cannot be made"
peak=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' hpct-import far -o far.hpct 2>far.err) || fail "a far context: $(cat far.err)"
check "a far context takes no memory: $peak kB" [ "$peak" -lt 500000 ]
cat >spoil.py <<'END'
import os, random, shutil, subprocess
random.seed(35)
for turn in range(150):
    shutil.rmtree("h", True); shutil.rmtree("h.hpct", True); shutil.copytree("db", "h")
    path = "h/" + random.choice(("meta.db", "profile.db", "trace.db"))
    data = bytearray(open(path, "rb").read())
    for _ in range(random.randint(1, 4)): data[random.randrange(14, len(data))] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
    if turn % 6 == 0: del data[random.randrange(len(data)):]
    open(path, "wb").write(data)
    done = subprocess.run(["hpct-import", "--from", "hpctoolkit", "h/trace.db", "-o", "h.hpct"], capture_output=True, timeout=120)
    assert done.returncode in (0, 4), (turn, path, done.returncode, done.stderr)
    if os.path.exists("h.hpct"):
        check = subprocess.run(["hpct-info", "--check", "h.hpct"], capture_output=True)
        assert check.returncode == 0, (turn, path, check.stdout)
END
(ulimit -v 3000000 && python3 spoil.py) || fail "a spoilt database"
