#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What perf record wrote, as a run: perf script tells the samples, their functions and, of copied stacks, their callers.
# Cut short, through a pipe, packed, damaged.
. "$(dirname -- "$0")/expect.sh"
need perf
python=$(command -v python3)
export PERF_BUILDID_DIR=$work/.debug
perf record -q -o p.data -g --switch-events -F 997 -e cpu-clock:u -- "$samples/phases" 0.1 >/dev/null 2>err ||
	skip "perf record does not work here: $(head -n 1 err)"
code "import" 0 hpct-import p.data
hpct-info --check p.hpct >/dev/null || fail "check"
perf script -i p.data -F tid,time,period,ip,sym 2>/dev/null >script
same "samples" "$(grep -c '^ *[0-9]* *[0-9]*\.[0-9]*:' script)" "$(hpct-slice p.hpct --format tsv | tsv '$c["track"] == "samples"' | wc -l)"
same "weights" "$(awk '/^ *[0-9]+ +[0-9]+\.[0-9]+:/ { s += $3 } END { print s }' script)" \
	"$(hpct-profile p.hpct --view top-down --format tsv | tsv '$c["depth"] == 0 { print $c["cpu-clock:incl"] }')"
# What inlined calls are is a reader's business: the innermost function of the symbol table owns the sample.
for function in smooth assemble residual read_input; do
	same "samples in $function" \
		"$(awk -v f="$function" '/^ *[0-9]+ +[0-9]+\.[0-9]+:/ { period = $3; first = 1; next } NF && first { if ($2 == f) s += period; first = 0 } END { print s + 0 }' script)" \
		"$(hpct-slice p.hpct --format tsv | tsv 'BEGIN { f = "'"$function"'" } $c["track"] == "samples" { n = split($c["path"], p, ";"); for (i = n; i > 0; i--) if (p[i] ~ /^(smooth|assemble|residual|read_input|exchange|write_output)$/) break; if (p[i] == f) s += $c["weight"] } END { print s + 0 }')"
done
same "threads" "phases worker 1 worker 2 worker 3 worker 4" "$(hpct-info p.hpct --streams --format tsv | tsv '{ printf "%s%s", s, $c["name"]; s = " " }')"
check "waits are blocked time" calc "$(hpct-stats p.hpct --by op --format tsv | tsv '$c["key"] == "blocked" { print $c["time_ns"] }') > 0"
same "switches tell all waits" 0 "$(hpct-stats p.hpct --by op --format tsv | tsv '$c["key"] == "unknown" && $c["percent"] > 20' | wc -l)"

gzip -c p.data >g.data.gz
code "packed" 0 hpct-import g.data.gz
hpct-slice p.hpct --format tsv >want
hpct-slice g.hpct --format tsv | same_file "a packed file is the same" want /dev/stdin
# Compressed blocks of records: one stream, with records that lie in two blocks.
if perf record -q -z -o z.data -g -F 9997 -e cpu-clock:u -- "$samples/phases" 0.2 >/dev/null 2>&1; then
	code "compressed" 0 hpct-import z.data
	perf script -i z.data -F tid,time,period,ip,sym 2>/dev/null |
		awk '/^ *[0-9]+ +[0-9]+\.[0-9]+:/ { n++; s += $3 } END { print n, s }' >want.sum
	hpct-slice z.hpct --format tsv | tsv '$c["track"] == "samples" { n++; s += $c["weight"] } END { print n, s }' |
		same_file "compressed: samples and weights" want.sum /dev/stdin
	check "compressed: nothing is left out: $(cat err)" calc "$(grep -c compressed err) == 0"
	python3 - <<'END'
import struct
data = bytearray(open("z.data", "rb").read())
at, size = struct.unpack_from("<QQ", data, 40)
end, blocks = at + size, []
while at < end:
    kind, _, length = struct.unpack_from("<IHH", data, at)
    if kind in (81, 83):
        blocks.append((at, length))
    at += length
at, length = blocks[len(blocks) // 2]
for i in range(at + length // 2, at + length):
    data[i] ^= 0x5a
open("spoilt.data", "wb").write(data)
print(len(blocks))
END
	code "compressed and damaged" 0 hpct-import spoilt.data
	check "compressed and damaged: that is said: $(cat err)" grep -q 'compressed blocks of records' err
fi
perf record -q -o - -g -F 997 -e cpu-clock:u -- "$samples/phases" 0.05 2>/dev/null >pipe.data </dev/null
code "perf's pipe" 0 hpct-import - -o pipe.hpct <pipe.data
check "perf's pipe has samples" [ "$(hpct-slice pipe.hpct --format tsv | tsv '$c["track"] == "samples"' | wc -l)" -gt 10 ]
perf record -q -o two.data -g -F 997 -e cpu-clock:u,task-clock:u -- "$samples/phases" 0.05 >/dev/null 2>&1
code "two events" 0 hpct-import two.data
check "two events are two metrics" [ "$(hpct-profile two.hpct --view flat --format tsv | head -n 1 | grep -o '[a-z-]*-clock:incl' | paste -sd ' ')" = "cpu-clock:incl task-clock:incl" ]

# Copies of stacks: each sample's callers are those that perf's own unwinder finds, by the functions of the program.
perf record -q -o w.data --call-graph dwarf -F 997 -e cpu-clock:u -- "$samples/phases" 0.1 >/dev/null 2>&1
code "copies of stacks" 0 hpct-import w.data
functions='^(main|worker|step|solve|smooth|assemble|residual|read_input|exchange|write_output)$'
perf script --no-inline -i w.data -F tid,time,ip,sym 2>/dev/null | awk -v f="$functions" '/^ *[0-9]+ +[0-9]+\.[0-9]+:/ { path = ""; next }
	NF { if ($2 ~ f) path = $2 ";" path; next } { if (path != "") print path }' | sort | uniq -c >script.paths
hpct-slice w.hpct --format tsv | tsv 'BEGIN { f = "'"$functions"'" } $c["track"] == "samples" { n = split($c["path"], p, ";"); path = ""
	for (i = 1; i <= n; i++) if (p[i] ~ f) path = path p[i] ";"; if (path != "") print path }' | sort | uniq -c >our.paths
check "perf script finds callers" [ "$(wc -l <script.paths)" -ge 4 ]
same_file "call paths of copied stacks" script.paths our.paths
check "nearly all are whole" calc "$(hpct-slice w.hpct --format tsv | tsv '$c["path"] ~ /<partial>/' | wc -l) <= 2"
# The copies end early: what is missing is said, and the innermost callers stay.
perf record -q -o short.data --call-graph dwarf,64 -F 997 -e cpu-clock:u -- "$samples/phases" 0.05 >/dev/null 2>&1
code "short copies" 0 hpct-import short.data
check "short copies: what is left out is said" grep -q "samples' outermost callers" err
check "short copies: they are partial" [ "$(hpct-slice short.hpct --format tsv | tsv '$c["path"] ~ /<partial>.*smooth/' | wc -l)" -gt 0 ]

# Functions of the kernel: by its list of symbols, then by the copy that perf keeps, as after a boot with everything elsewhere,
# then without either. Of one address perf may take another name than we do.
if [ -n "$python" ] && grep -q '^ffff.* T _text$' /proc/kallsyms 2>/dev/null &&
	perf record -q -o k.data -g -F 4000 -e cpu-clock:k -- sh -c 'i=0; while [ $i -lt 60 ]; do cat /proc/self/maps /proc/self/smaps; i=$((i+1)); done' >/dev/null 2>&1 &&
	[ "$(perf script -i k.data -F ip,sym 2>/dev/null | grep -c '^[[:space:]]*ffffffff')" -gt 100 ]; then
	by_address='NR == FNR { if (!($3 in at)) at[$3] = $1; next } { a = $2 in at ? at[$2] : $2; s[a] += $1 } END { for (a in s) if (a ~ /^ffff/) print a, s[a] }'
	kernel_sums() { hpct-slice "$1" --format tsv | tsv '$c["track"] == "samples" && $c["weight"] > 0 { n = split($c["path"], p, ";"); print $c["weight"], p[n] }' | awk "$by_address" /proc/kallsyms - | LC_ALL=C sort; }
	code "the kernel's functions" 0 hpct-import k.data
	perf script -i k.data -F tid,time,period,ip,sym 2>/dev/null | awk '/^ *[0-9]+ +[0-9]+\.[0-9]+:/ { period = $3; first = 1; next } NF && first { if ($1 ~ /^ffff/) print period, $2; first = 0 }' |
		awk "$by_address" /proc/kallsyms - | LC_ALL=C sort >want
	check "perf script has some of the kernel" [ "$(wc -l <want)" -gt 10 ]
	kernel_sums k.hpct >got
	same_file "the kernel's functions" want got
	id=$(perf buildid-list -i k.data | sed -n 's/ \[kernel.kallsyms\]$//p') list="$PERF_BUILDID_DIR/[kernel.kallsyms]"
	mkdir -p "$list/$(printf '%040d' 7)"
	"$python" - "$id" "$list/$(printf '%040d' 7)/kallsyms" <<'END'
import sys
data = open("k.data", "rb").read()
open("other.data", "wb").write(data.replace(bytes.fromhex(sys.argv[1]), bytes.fromhex("%040d" % 7)))
with open(sys.argv[2], "w") as out:
    for line in open("/proc/kallsyms"):
        address, rest = line.split(" ", 1)
        out.write("%x %s" % (int(address, 16) + 0x2000000 if address.startswith("ffffffff") else int(address, 16), rest))
END
	code "the kernel's functions, by perf's copy" 0 hpct-import other.data
	kernel_sums other.hpct >got
	same_file "the kernel's functions, by perf's copy" want got
	rm -r "$list/$(printf '%040d' 7)"
	code "a kernel whose list is not here" 0 hpct-import other.data -o nolist.hpct
	check "that is said: $(cat err)" grep -q 'places in the kernel that have no name' err
else
	echo "the kernel's functions were not looked at: no python3, or perf or this user does not see them"
fi

size=$(stat -c %s p.data)
head -c $((size / 2)) p.data >c.data
code "cut short" 4 hpct-import c.data
check "cut short: what is kept is said" grep -q 'the [1-9][0-9]* records that are whole are in c.hpct' err
code "cut short: what is kept is sound" 0 hpct-info --check c.hpct
head -c $(($(stat -c %s g.data.gz) / 2)) g.data.gz >h.data.gz
code "packed and cut short" 4 hpct-import h.data.gz
check "packed and cut short: what is kept is said" grep -q 'the [1-9][0-9]* records that are whole are in h.hpct' err
code "packed and cut short: what is kept is sound" 0 hpct-info --check h.hpct
head -c 90 p.data >d.data
code "a head" 4 hpct-import d.data
check "a head makes nothing" [ ! -e d.hpct ]
sentence "a head"
if [ -x /usr/bin/python3 ]; then
	/usr/bin/python3 -c 'import struct
data = bytearray(open("p.data", "rb").read())
struct.pack_into("<Q", data, 40, 1 << 61)
open("far.data", "wb").write(data)'
	code "records where no file has any" 4 hpct-import far.data
	sentence "records where no file has any"
	# Through a pipe: the event, whose other records tell no time, an exec, a sample.
	/usr/bin/python3 - <<'END'
import struct
def record(type, misc, body): return struct.pack("<IHH", type, misc, 8 + len(body)) + body
event = struct.pack("<IIQQQQQ", 1, 112, 0, 1000, 0x107, 0, 0) + bytes(64)
open("timeless.data", "wb").write(b"PERFILE2" + struct.pack("<Q", 16) + record(64, 0, event)
    + record(3, 1 << 13, struct.pack("<II8s", 7, 7, b"prog")) + record(9, 2, struct.pack("<QIIQQ", 4096, 7, 7, 100, 5)))
END
	code "an exec without a time" 0 hpct-import timeless.data
	same "its name" prog "$(hpct-info timeless.hpct --streams --format tsv | tsv '{ print $c["name"] }')"
	/usr/bin/python3 - <<'END'
import random
random.seed(7)
whole = [bytearray(open(name, "rb").read()) for name in ("p.data", "w.data")]
for n in range(30):
    data = whole[n % 2]
    bad = bytearray(data)
    for i in range(1 + n * 8): bad[random.randrange(16, len(bad))] = random.randrange(256)
    open("bad%d.data" % n, "wb").write(bad)
END
	for n in $(seq 0 29); do
		hpct-import "bad$n.data" >/dev/null 2>err
		got=$?
		case $got in
		0 | 4) [ ! -e "bad$n.hpct" ] || hpct-info --check "bad$n.hpct" >/dev/null || fail "damage $n: the run is damaged" ;;
		*) fail "damage $n: exit code $got" ;;
		esac
	done
fi
