#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Profiles for other tools: what go tool pprof reads has our sums; speedscope's file is what its schema says, and each
# frame's own time is hpct-stats'.
. "$(dirname -- "$0")/expect.sh"
tab=$'\t'
row() { local IFS=$tab; echo "$*"; }
{
	row stream track begin_ns end_ns path op weight metric attributes
	row cpu:h/0/10.0/0 spans 0 1000 '' monitored '' '' name=solver,metric=CPUTIME,period_ns=300,switches=1
	row cpu:h/0/10.0/0 samples 0 '' main '' 0 CPUTIME ''
	row cpu:h/0/10.0/0 samples 100 '' 'main;solve;step<a, b>' '' 90 CPUTIME ''
	row cpu:h/0/10.0/0 samples 300 '' 'main;solve' '' 210 CPUTIME ''
	row cpu:h/0/10.0/0 spans 400 600 'main;solve;wait' blocked '' '' ''
	row cpu:h/0/10.0/0 spans 310 330 'main;solve;launch' launch '' '' link=1
	row gpu:h/0/10.0/0/1/7 spans 0 1000 '' monitored '' '' name=queue
	row gpu:h/0/10.0/0/1/7 spans 350 500 'main;solve;launch;<gpu kernel>;k1' kernel '' '' link=1
	row gpu:h/0/10.0/0/1/7 spans 500 560 'main;solve;launch;<gpu copy>' copy '' '' link=1
} >rows.tsv
hpct-import rows.tsv -o r.hpct || fail "rows"

# ---- what has no place is said
{ cat rows.tsv; printf 'cpu:h/0/10.0/0\tvalues\t500\t\tmain\t\t9\t\t\n'; } >v.tsv
awk -F'\t' -v OFS='\t' 'NR == 1 { print $0, "value"; next } $2 == "values" { print $1, $2, $3, $4, "", "", "", "load", "", 5; next } { print $0, "" }' v.tsv >v.rows
{ cat v.rows; printf 'gpu:h/0/10.0/0/1/pc\tsamples\t500\t\tk1\t\t9\tstall\t\t\n'; } >v2.rows
hpct-import --from tsv v2.rows -o v.hpct || fail "rows with values"
code "folded without values" 0 hpct-export --to folded v.hpct
same "folded says what it leaves out" "hpct-export: left out: 1 samples of GPU instructions; 1 streams' values over time" "$(cat err)"
code "chrome with values" 0 hpct-export --to chrome v.hpct
same "chrome says what it leaves out" "hpct-export: left out: 1 samples of GPU instructions" "$(cat err)"
# Causes of waits and regions: where a format has spans with attributes they travel, else they are counted.
{ cat v2.rows; printf 'cpu:h/0/10.0/0\tspans\t700\t720\tmain\twait\t\t\tcause=pipe,from=pipe:1\t\n'
	printf 'cpu:h/0/10.0/0\tspans\t730\t740\tmain\twake\t\t\twakes=pipe:1\t\n'
	printf 'cpu:h/0/10.0/0\tspans\t0\t900\t\trange\t\t\tname=epoch\t\n'
	printf 'cpu:h/0/10.0/0\tspans\t800\t800\t\tmark\t\t\tname=saved\t\n'; } >v3.rows
hpct-import --from tsv v3.rows -o all.hpct || fail "rows with all kinds of data"
gpu="1 samples of GPU instructions" values="1 streams' values over time" spans="2 causes of waits; 2 ranges and marks"
while IFS='|' read -r format left; do
	grep -q "$format: " <(hpct-export --help) || continue # built without its library
	rm -rf all.out
	code "$format of all kinds" 0 hpct-export --to "$format" all.hpct -o all.out
	same "$format says what it leaves out" "${left:+hpct-export: left out: }$left" "$(grep 'left out' err)"
	case $format in # they travel
	chrome | firefox) for word in cause=pipe wakes=pipe:1 epoch saved load; do check "$format has $word" grep -q "$word" all.out; done ;;
	pprof | callgrind | html) check "$format has GPU instructions" grep -q stall <(gzip -dc all.out 2>/dev/null || cat all.out) ;;
	esac
done <<END
folded|$gpu; $values; $spans
speedscope|$gpu; $values; $spans
svg|$gpu; $values; $spans
svg-chart|$gpu; $values; $spans
callgrind|$values; $spans
pprof|$values; $spans
html|$values; $spans
csv|$gpu; 3 samples; 4 calls, operations and states; 1 amounts at moments; $spans
chrome|$gpu
firefox|$gpu
perfetto|$gpu
otf2|$gpu
tsv|
END
code "nothing is left out of rows" 0 hpct-export --to tsv v.hpct
same "rows leave out nothing" "" "$(cat err)"

# ---- speedscope
code "speedscope" 0 hpct-export --to speedscope r.hpct
cp out s.json
code "speedscope of a metric" 2 hpct-export --to speedscope --metric CPUTIME r.hpct
record real -- "$samples/phases" 0.2 >/dev/null
hpct-export --to speedscope real.hpct -o real.json || fail "speedscope of a recording"
cat >read.py <<'END'
import json, sys
file = json.load(open(sys.argv[1]))
assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
frames = file["shared"]["frames"]
own = {}
for profile in file["profiles"]:
    assert profile["type"] == "evented" and profile["unit"] == "nanoseconds", profile["type"]
    stack, last = [], profile["startValue"]
    for event in profile["events"]:
        assert profile["startValue"] <= last <= event["at"] <= profile["endValue"], event
        if stack:
            name = frames[stack[-1]]["name"]
            own[name] = own.get(name, 0) + event["at"] - last
        last = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            assert stack.pop() == event["frame"], event
    assert not stack, stack
for name, ns in sorted(own.items()):
    if ns: print(name, ns, sep="\t")
END
if [ -x /usr/bin/python3 ]; then
	/usr/bin/python3 read.py s.json >s.own || fail "speedscope's file is not what its schema says"
	same "own times" "<gpu copy> 60 [blocked] 200 k1 150 main 100 solve 500 step<a, b> 200" "$(tr '\t\n' '  ' <s.own | sed 's/ $//')"
	/usr/bin/python3 read.py real.json >real.own || fail "speedscope's file of a recording"
	hpct-stats real.hpct --by function --format tsv | tsv '{ print $c["key"] "\t" $c["time_ns"] }' | grep '^smooth' >want
	grep '^smooth' real.own >got
	same_file "time of a function in speedscope's file" want got
fi

# ---- pprof
code "does it" 2 hpct-export --to nosuch r.hpct
grep -q pprof err || skip "built without protobuf-c: hpct-export has no --to pprof"
code "pprof" 0 hpct-export --to pprof r.hpct -o r.pb.gz
code "pprof is not for terminals" 0 hpct-export --to pprof r.hpct
command -v go >/dev/null || skip "go is not installed: nothing reads pprof's file"
export HOME=$work
raw() { go tool pprof -raw "$1" 2>/dev/null; }
raw r.pb.gz >raw
cat >want <<'END'
0 150 k1 <gpu kernel> launch solve main
0 60 <gpu copy> launch solve main
210 0 solve main
90 0 step<a, b> solve main
CPUTIME/nanoseconds GPUTIME/nanoseconds
END
awk '/^Locations/ { at = 2 } /^Mappings/ { at = 0 } /^Samples/ { at = 1; next }
	at == 1 && NR == FNR { lines[++n] = $0 }
	at == 2 && $1 ~ /:$/ { id = $1; sub(/:/, "", id); line = $0; sub(/^ *[0-9]+: 0x0( M=[0-9]+)? /, "", line); sub(/ [^ ]*:[0-9]+ s=[0-9]+.*$/, "", line); name[id] = line }
	END { for (i = 1; i <= n; i++) { c = split(lines[i], f, " "); out = ""
		for (j = 1; j <= c; j++) { sub(/:$/, "", f[j]); out = out (j > 1 ? " " : "") (i > 1 && j > 2 ? name[f[j]] : f[j]) }
		print out } }' raw | sort >got
same_file "pprof reads what the run has" want got
hpct-export --to pprof --metric REALTIME,BLOCKED r.hpct -o w.pb.gz || fail "pprof of wall time"
same "wall time in pprof" "BLOCKED/nanoseconds REALTIME/nanoseconds" "$(raw w.pb.gz | grep -A 1 ^Samples | tail -n 1 | tr ' ' '\n' | sort | paste -sd ' ')"
hpct-export --to pprof real.hpct -o real.pb.gz || fail "pprof of a recording"
same "CPU time in pprof" "$(hpct-profile real.hpct --view top-down --format tsv | tsv '$c["depth"] == 0 { s += $c["CPUTIME:incl"] } END { print s }')" \
	"$(raw real.pb.gz | awk '/^Locations/ { exit } on && $1 ~ /^[0-9]+:?$/ { s += $1 } /^Samples/ { on = 1 } END { print s }')"
check "pprof knows lines" grep -q 'smooth .*phases.*:[1-9]' <(raw real.pb.gz)
