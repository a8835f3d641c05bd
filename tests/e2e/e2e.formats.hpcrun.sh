#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measurements of HPCToolkit's hpcrun without hpcprof, made here as its files are laid out (profiles 04.00, traces 01.01):
# a rank's threads with traces, one of them out of order, a GPU stream, a thread without a trace. Names come from the
# program that was measured. Spoilt files make no crash and no run that is not sound.
. "$(dirname -- "$0")/expect.sh"
need python3 nm
cat >measure.py <<'END'
import os, struct, sys
os.makedirs("m/gpubins", exist_ok=True)
program, smooth, residual = sys.argv[1], int(sys.argv[2], 16), int(sys.argv[3], 16)
def text(s): return struct.pack(">I", len(s)) + s.encode()
def word(s): return struct.unpack(">Q", s.encode())[0]
KINDS = ["SUMMARY", "NODE", "RANK", "THREAD", "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE"]
MODULES = [(1, program), (2, "/there/m/gpubins/0123.gpubin"), (3, "/nowhere/libsolver.so")]
METRICS = [("CPUTIME (sec)", 2, 1, ""), ("cycles", 1, 1000, ""), ("derived", 1, 1, "$0+$1")]
def profile(nodes, ids, values=(), facts={}, metrics=METRICS):
    facts = {"program-name": "solver", "process-id": "4321", "job-id": "", "trace-disorder": "0", **facts}
    header = b"HPCRUN-profile____04.00b" + struct.pack(">I", len(facts)) + b"".join(text(k) + text(v) for k, v in facts.items())
    modules = struct.pack(">I", len(MODULES)) + b"".join(struct.pack(">H", i) + text(p) + struct.pack(">Q", 1) for i, p in MODULES)
    cct = struct.pack(">Q", len(nodes)) + b"".join(struct.pack(">IIHQB", *n, 1) for n in nodes)
    table = struct.pack(">I", len(metrics)) + b"".join(text(n) + text("what it is") + bytes([1, 0, form]) + bytes(13) + struct.pack(">Q", period) +
        text(formula) + text("") + struct.pack(">HHdQ", 0, 0, 0, 0) for n, form, period, formula in metrics)
    kinds = struct.pack(">H", len(KINDS)) + b"".join(struct.pack(">H", i) + text(k) for i, k in enumerate(KINDS))
    sparse = struct.pack(">H", len(ids)) + b"".join(struct.pack(">HQQ", kind | meaning << 14, a, b) for kind, meaning, a, b in ids)
    flat = [(v, m) for _, vs in values for v, m in vs]
    sparse += struct.pack(">QI", len(flat), len(values)) + b"".join((struct.pack(">d", v) if METRICS[m][1] == 2 else struct.pack(">Q", v)) + struct.pack(">H", m) for v, m in flat)
    at = 0
    for node, vs in values:
        sparse += struct.pack(">IQ", node, at); at += len(vs)
    sparse += struct.pack(">IQ", 0x656e6421, at)
    body, parts = b"", []
    for part in (header, modules, cct, table, kinds, sparse):
        body += bytes(-len(body) % 1024)
        parts += [len(body), len(body) + len(part)]
        body += part
    body += bytes(-len(body) % 1024)
    return body + struct.pack(">14Q", *parts, len(body), 0x48504352554e736d)
def trace(elements, flags=0): return b"HPCRUN-trace______01.01b" + struct.pack(">Q", flags) + b"".join(struct.pack(">QI", T + t, n) for t, n in elements)
T = 1_700_000_000_000_000_000
NODE, RANK, THREAD, DEVICE, CONTEXT, STREAM = 1, 2, 3, 4, 5, 6
host, rank = (NODE, 1, 0xabcd, 0), (RANK, 3, 0, 0)
main = [(1, 0, 0, word("^Primary")), (2, 1, 0, word("NoActvty")), (3, 1, 0, word("| Main  ")), (4, 3, 1, smooth), (5, 4, 3, 0x1234), (6, 3, 1, residual)]
worker = [(1, 0, 0, word("^Primary")), (3, 1, 0, word("| Thread")), (4, 3, 1, residual), (7, 1, 0, word("^Partial")), (8, 7, 1, smooth), (9, 4, 0, word("OMP Idle"))]
queue = [(1, 0, 0, word("^Primary")), (2, 1, 0, word("NoActvty")), (3, 1, 0, word("| Main  ")), (4, 3, 1, smooth), (5, 4, 0, word("GPUTrace")), (6, 5, 2, 0x2e00),
    (7, 4, 0, word("GPUCpH2D")), (8, 5, 65531, 0)]
def put(name, data): open("m/" + name, "wb").write(data)
put("solver-000000-000-abcd-4321-0.hpcrun", profile(main, [host, rank, (THREAD, 3, 0, 0)], [(5, [(0.5, 0), (7, 1)])]))
put("solver-000000-000-abcd-4321-0.hpctrace", trace([(0, 4), (1000, 5), (3000, 2), (5000, 6), (6000, 2)]))
put("solver-000000-001-abcd-4321-0.hpcrun", profile(worker, [host, rank, (THREAD, 3, 1, 1)], facts={"trace-disorder": "2"}))
put("solver-000000-001-abcd-4321-0.hpctrace", trace([(500, 4), (2500, 9), (1500, 8), (2000, 77), (3000, 4)]))
put("solver-000000-002-abcd-4321-0.hpcrun", profile(worker, [host, rank, (THREAD, 3, 2, 2)], [(4, [(0.25, 0), (3, 1)]), (8, [(0.125, 0)])]))
put("solver-000000-500-abcd-4321-0.hpcrun", profile(queue, [host, rank, (DEVICE, 3, 1, 1), (CONTEXT, 3, 2, 2), (STREAM, 3, 7, 7)]))
put("solver-000000-500-abcd-4321-0.hpctrace", trace([(1000, 6), (1800, 2), (2000, 7), (2300, 6), (2500, 2)], 4))
END
place() { nm "$samples/phases" | awk -v f="$1" '$3 == f { print $1; exit }'; }
smooth=$(place smooth) residual=$(place residual)
[ -n "$smooth" ] && [ -n "$residual" ] || fail "the sample has no symbols"
python3 measure.py "$samples/phases" "$smooth" "$residual" || fail "the measurements cannot be made"
code "import" 0 hpct-import m -o r.hpct
same "what is left out" "hpct-import: left out: 2 metric values of threads that have a trace, and of queues; 1 groups of PC samples; 1 times in contexts that the tree does not have" "$(cat err)"
code "by one of its files" 0 hpct-import m/solver-000000-001-abcd-4321-0.hpctrace -o again.hpct
rows() { hpct-slice "$1" --format tsv | tsv '$c["op"] != "monitored" { print $c["stream"], $c["track"], $c["begin_ns"], $c["end_ns"], $c["path"], $c["op"], $c["weight"], $c["metric"] }' | sed 's/  */ /g; s/ $//' | sort; }
rows r.hpct >got
cat >want <<'END'
cpu:0000abcd/0/4321.0/0 samples 0 smooth 0 time
cpu:0000abcd/0/4321.0/0 samples 1000 smooth 1000 time
cpu:0000abcd/0/4321.0/0 samples 1000 smooth;libsolver.so+0x1234 0 time
cpu:0000abcd/0/4321.0/0 samples 3000 smooth;libsolver.so+0x1234 2000 time
cpu:0000abcd/0/4321.0/0 samples 5000 residual 0 time
cpu:0000abcd/0/4321.0/0 samples 6000 residual 1000 time
cpu:0000abcd/0/4321.0/0 spans 3000 5000 blocked
cpu:0000abcd/0/4321.0/1 samples 500 <thread root>;residual 0 time
cpu:0000abcd/0/4321.0/1 samples 1500 <partial>;smooth 0 time
cpu:0000abcd/0/4321.0/1 samples 1500 <thread root>;residual 1000 time
cpu:0000abcd/0/4321.0/1 samples 2000 0 time
cpu:0000abcd/0/4321.0/1 samples 2000 <partial>;smooth 500 time
cpu:0000abcd/0/4321.0/1 samples 2500 500 time
cpu:0000abcd/0/4321.0/1 samples 2500 <thread root>;residual;<omp idle> 0 time
cpu:0000abcd/0/4321.0/1 samples 3000 <thread root>;residual 0 time
cpu:0000abcd/0/4321.0/1 samples 3000 <thread root>;residual;<omp idle> 500 time
gpu:0000abcd/0/4321.0/1/2/7 spans 1000 1800 smooth;<gpu kernel>;0123.gpubin+0x2e00 kernel
gpu:0000abcd/0/4321.0/1/2/7 spans 2000 2300 smooth;<gpu copy> copy
gpu:0000abcd/0/4321.0/1/2/7 spans 2300 2500 smooth;<gpu kernel>;0123.gpubin+0x2e00 kernel
END
sort -o want want
grep -v '4321.0/2 ' got | same_file "records" want /dev/stdin
# The thread without a trace begins where the traces do: one node behind the other, its metrics beside each other.
grep '4321.0/2 ' got | cut -d' ' -f2- | same_file "a profile without a trace" <(cat <<'END'
samples 0 <thread root>;residual 250000000 CPUTIME
samples 0 <thread root>;residual 3000 cycles
samples 250000000 <partial>;smooth 125000000 CPUTIME
samples 375000000 0 CPUTIME
END
) /dev/stdin
same "time by function" 3500 "$(hpct-profile r.hpct --streams kind=cpu --view flat --format tsv | tsv '$c["kind"] == "function" && $c["name"] == "smooth" { printf "%.0f", $c["time:incl"] }')"
same "the wall clock" 1 "$(hpct-info r.hpct | grep -c '2023-11-14')"
check "the run is sound" grep -q sound <(hpct-info --check r.hpct)

cp -r m cut
truncate -s 100 cut/solver-000000-001-abcd-4321-0.hpctrace
truncate -s -60 cut/solver-000000-500-abcd-4321-0.hpcrun
code "cut short" 4 hpct-import cut -o cut.hpct
check "it says so" grep -q 'damaged or cut short' err
check "and how many" grep -q '1 profiles that are cut short' err
check "what was whole is there" grep -q libsolver <(hpct-slice cut.hpct --format tsv)
mkdir none
head -c 5000 m/solver-000000-000-abcd-4321-0.hpcrun >none/a.hpcrun
code "nothing is whole" 4 hpct-import none -o none.hpct
sentence "nothing is whole"
check "no run is left" [ ! -e none.hpct ]
cat >spoil.py <<'END'
import os, random, shutil, subprocess
random.seed(35)
for turn in range(50):
    shutil.rmtree("h", True); shutil.rmtree("h.hpct", True); shutil.copytree("m", "h")
    path = "h/" + random.choice(sorted(n for n in os.listdir("m") if n.startswith("solver")))
    data = bytearray(open(path, "rb").read())
    for _ in range(random.randint(1, 6)): data[random.randrange(24, len(data))] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
    if turn % 6 == 0: del data[random.randrange(len(data)):]
    open(path, "wb").write(data)
    done = subprocess.run(["hpct-import", "h", "-o", "h.hpct"], capture_output=True, timeout=120)
    assert done.returncode in (0, 4), (turn, path, done.returncode, done.stderr)
    if os.path.exists("h.hpct"):
        check = subprocess.run(["hpct-info", "--check", "h.hpct"], capture_output=True)
        assert check.returncode == 0, (turn, path, check.stdout)
END
(ulimit -v 3000000 && python3 spoil.py) || fail "spoilt measurements"
