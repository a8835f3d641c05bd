#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Profiles of other tools as runs: folded stacks, and pprof's as go tool pprof writes them. What comes in goes out again.
. "$(dirname -- "$0")/expect.sh"

# ---- folded
printf 'main;a;b 10\r\nmain;a 5\r\n\r\nmain;c d<int, x> 3.6\r\nmain;a;b 2\r\nmain 0\r\n' >f.folded
code "folded, guessed" 0 hpct-import f.folded
same "nothing is left out" "" "$(cat err)"
printf 'main;a 5\nmain;a;b 12\nmain;c d<int, x> 4\n' >want
hpct-export --to folded f.hpct | same_file "folded | import | folded" want /dev/stdin
same "time is the weight" 21 "$(hpct-stats f.hpct --by op --format tsv | tsv '{ s += $c["time_ns"] } END { print s }')"
same "own times" "a 5 b 12 c d<int, x> 4" "$(hpct-stats f.hpct --by function --format tsv | tsv '{ print $c["key"] " " $c["time_ns"] }' | sort | paste -sd ' ')"
printf '# a comment\nmain;a 5\nno number\n' >w.folded
code "wrong lines" 0 hpct-import --from folded w.folded
same "wrong lines are said" "hpct-import: left out: 2 lines that are no stack and a number" "$(cat err)"
printf 'a b c\n' >n.folded
code "no stacks" 4 hpct-import --from folded n.folded
sentence "no stacks"
printf 'a;b 999999999999999999\na;b 999999999999999999\na;b 999999999999999999\na;b 999999999999999999\na;b 999999999999999999\n' >l.folded
code "weights that are too large" 4 hpct-import --from folded l.folded
sentence "weights that are too large"
code "check" 0 hpct-info --check f.hpct
awk 'BEGIN { for (i = 0; i < 200000; i++) print "main;f" i % 1000 ";g" i % 7 " " i }' >m.folded
code "many" 0 hpct-import m.folded
same "the sum of many" "$(awk '{ s += $NF } END { printf "%.0f", s }' m.folded)" "$(hpct-profile m.hpct --view top-down --format tsv | tsv '$c["depth"] == 0 { print $c["weight:incl"] }')"
gzip m.folded && head -c 100000 m.folded.gz >c.folded.gz
code "cut short" 4 hpct-import c.folded.gz
check "cut short: what is kept is said" grep -q 'lines before it are in c.hpct' err
code "cut short: what is kept is sound" 0 hpct-info --check c.hpct

{
	echo 'a;b 3'
	head -c 400000000 /dev/zero | tr '\0' a
	printf ' 5\nc;d 4\n'
} | gzip -1 >long.folded.gz
(ulimit -v 300000 && hpct-import --from folded long.folded.gz 2>err)
same "a line without end takes no memory" 0 $?
same "it is said" "hpct-import: left out: 1 lines that are no stack and a number" "$(cat err)"
same "the others are there" "a;b 3 c;d 4" "$(hpct-export --to folded long.hpct | paste -sd ' ')"

# ---- pprof
code "formats" 2 hpct-import --from nosuch x
grep -q pprof err || skip "built without protobuf-c: hpct-import has no --from pprof"
mkdir gpu.hpct && xz -dc "$HPCT_SOURCE/samples/runs/torch_step.mdb.xz" >gpu.hpct/vm-0.mdb || skip "xz is not there"
hpct-export --to pprof gpu.hpct -o gpu.pb.gz || fail "export"
code "pprof, guessed" 0 hpct-import gpu.pb.gz -o p.hpct
code "check of pprof" 0 hpct-info --check p.hpct
hpct-export --to pprof p.hpct --metric CPUTIME,GPUTIME -o p.pb.gz || fail "export of the import"
for metric in CPUTIME GPUTIME; do
	same "sum of $metric" "$(hpct-profile p.hpct --metric $metric --view top-down --format tsv | tsv '$c["depth"] == 0 { print $c["'$metric':incl"] }')" \
		"$([ $metric = GPUTIME ] && hpct-stats gpu.hpct --streams kind=gpu --by op --format tsv | tsv '$c["key"] ~ /^(kernel|copy|set)$/ { s += $c["time_ns"] } END { print s }' ||
			hpct-profile gpu.hpct --view top-down --format tsv | tsv '$c["depth"] == 0 { print $c["CPUTIME:incl"] }')"
done
printf '\x0a\x04\x08\x01\x10\x02\x12\x06\x0a\x01\x01\x12\x01\x05\x22\x08\x08\x01\x22\x04\x08\x01\x10\x07\x2a\x04\x08\x01\x10\x03\x32\x00\x32\x03cpu\x32\x02ns\x32\x01f' >line.pb
code "a profile with a line" 0 hpct-import line.pb
same "lines are said" "hpct-import: left out: 1 lines of source files" "$(cat err)"
same "its stack" "f 5" "$(hpct-export --to folded line.hpct)"
{ gzip -c line.pb | head -c -8 && printf '\0\0\0\0\0\0\0\0'; } >sum.pb.gz
code "a wrong checksum" 4 hpct-import sum.pb.gz
check "of a profile that is not whole nothing is made" [ ! -e sum.hpct ]
zcat gpu.pb.gz | head -c 5000 >bad.pb
code "cut" 4 hpct-import --from pprof bad.pb
sentence "cut"
check "a cut profile makes nothing" [ ! -e bad.hpct ]
command -v go >/dev/null || skip "go is not installed: nothing else writes pprof's file"
export HOME=$work
stacks() { # FILE : its paths with their values, by go tool pprof
	go tool pprof -raw "$1" 2>/dev/null | awk '/^Locations/ { at = 2 } /^Mappings/ { exit } /^Samples/ { at = 1; next }
		at == 1 { lines[++n] = $0 }
		at == 2 && $1 ~ /:$/ { id = $1; sub(/:/, "", id); line = $0; sub(/^ *[0-9]+: 0x0( M=[0-9]+)? /, "", line); sub(/ [^ ]*:[0-9]+ s=[0-9]+.*$/, "", line); name[id] = line }
		END { for (i = 2; i <= n; i++) { c = split(lines[i], f, " "); v = f[1]; for (j = 2; j <= c && f[j - 1] !~ /:$/; j++) v = v " " f[j]; out = ""
			for (; j <= c; j++) out = out ";" name[f[j]]
			sub(/:/, "", v); print out " " v } }' | sort
}
go tool pprof -proto -output again.pb.gz gpu.pb.gz >/dev/null 2>&1 || fail "go tool pprof -proto"
code "what go writes" 0 hpct-import again.pb.gz -o again.hpct
hpct-export --to pprof again.hpct --metric CPUTIME,GPUTIME -o back.pb.gz
stacks gpu.pb.gz | awk '{ k = $0; sub(/ [0-9]+ [0-9]+$/, "", k); a[k] += $(NF - 1); b[k] += $NF } END { for (k in a) print k, a[k], b[k] }' | sort >want
stacks back.pb.gz | awk '{ k = $0; sub(/ [0-9]+ [0-9]+$/, "", k); a[k] += $(NF - 1); b[k] += $NF } END { for (k in a) print k, a[k], b[k] }' | sort >got
check "there are stacks" [ "$(wc -l <want)" -gt 20 ]
same_file "pprof | import | pprof" want got
