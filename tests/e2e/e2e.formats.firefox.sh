#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Firefox Profiler's processed profile: its tables agree, samples last as long as the run says, operations are
# markers, values counters. Held to the run by Python; e2e.formats.npm opens it with the profiler's own code.
. "$(dirname -- "$0")/expect.sh"
need python3
tab=$'\t'
row() { local IFS=$tab; echo "$*"; }
{
	row stream track begin_ns end_ns path op bytes weight metric value attributes
	row cpu:h/3/10.0/0 spans 0 1000 '' monitored '' '' '' '' name=solver,metric=CPUTIME,period_ns=300,switches=1,tid=10
	row cpu:h/3/10.0/0 samples 0 '' main '' '' 0 CPUTIME '' ''
	row cpu:h/3/10.0/0 samples 300 '' 'main;so"lve' '' '' 300 CPUTIME '' ''
	row cpu:h/3/10.0/0 spans 400 600 'main;so"lve;wait' blocked '' '' '' '' ''
	row cpu:h/3/10.0/0 spans 310 330 'main;so"lve;launch' launch '' '' '' '' link=1
	row cpu:h/3/10.0/0 values 500 '' '' '' '' '' temperature 36.5 ''
	row cpu:h/3/10.0/0 values 700 '' '' '' '' '' temperature 30.5 ''
	row cpu:h/3/10.0/0 values 600 '' '' '' '' '' level 7 ''
	row gpu:h/3/10.0/0/1/7 spans 0 1000 '' monitored '' '' '' '' name=queue
	row gpu:h/3/10.0/0/1/7 spans 350 500 'main;launch;<gpu kernel>;k1' kernel '' '' '' '' link=1,grid=8
	row gpu:h/3/10.0/0/1/7 spans 450 560 'main;launch;<gpu copy>' copy 64 '' '' '' link=1
	row gpu:h/3/10.0/0/1/7 spans 600 600 '' mark '' '' '' '' name=now
} >rows.tsv
hpct-import rows.tsv -o r.hpct || fail "rows"
code "export" 0 hpct-export --to firefox r.hpct
same "nothing is left out" "" "$(cat err)"
mv out r.json
cat >read.py <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
meta = d["meta"]
assert meta["preprocessedProfileVersion"] == 48
def check(table, name):
    for key, column in table.items():
        if isinstance(column, list): assert len(column) == table["length"], (name, key, len(column), table["length"])
mains = {}
for index, t in enumerate(d["threads"]):
    for name in "samples markers stackTable frameTable funcTable resourceTable nativeSymbols".split(): check(t[name], name)
    text, frames, funcs, stacks, samples = t["stringArray"], t["frameTable"], t["funcTable"], t["stackTable"], t["samples"]
    assert samples["weightType"] == "tracing-ms"
    if t["isMainThread"]:
        assert t["pid"] not in mains
        mains[t["pid"]] = index
    def name(stack):
        assert stacks["category"][stack] < len(meta["categories"])
        prefix = stacks["prefix"][stack]
        assert prefix is None or prefix < stack
        own = text[funcs["name"][frames["func"][stacks["frame"][stack]]]]
        return own if prefix is None else name(prefix) + ";" + own
    assert samples["time"] == sorted(samples["time"])
    for stack, time, weight in zip(samples["stack"], samples["time"], samples["weight"]):
        print(t["name"], "sample", round(time * 1e6), round(weight * 1e6), name(stack), sep="\t")
    m = t["markers"]
    for i in range(m["length"]):
        payload = m["data"][i]
        assert payload.pop("type") == meta["markerSchema"][0]["name"] and (m["endTime"][i] is None) == (m["phase"][i] == 0)
        assert not set(payload) - {f["key"] for f in meta["markerSchema"][0]["data"]}
        print(t["name"], "marker", round(m["startTime"][i] * 1e6), round((m["endTime"][i] or m["startTime"][i]) * 1e6),
            text[m["name"][i]], *("%s=%s" % pair for pair in sorted(payload.items())), sep="\t")
for c in d["counters"]:
    check(c["samples"], "counter")
    assert mains[c["pid"]] == c["mainThreadIndex"]
    print("counter", c["name"], *("%d:%g" % (round(t * 1e6), n) for t, n in zip(c["samples"]["time"], c["samples"]["count"])), sep="\t")
END
python3 read.py r.json >got || fail "the profile's tables"
{
	row solver sample 0 300 main
	row solver sample 300 100 'main;so"lve'
	row solver sample 400 200 'main;so"lve;wait;[blocked]'
	row solver sample 600 400 'main;so"lve'
	row solver marker 310 330 launch link=1 op=launch 'path=main;so"lve;launch'
	row queue sample 350 150 'main;launch;<gpu kernel>;k1'
	row queue sample 450 110 'main;launch;<gpu copy>'
	row queue marker 350 500 k1 attributes=grid=8 link=1 op=kernel 'path=main;launch;<gpu kernel>;k1'
	row queue marker 450 560 copy bytes=64 link=1 op=copy 'path=main;launch;<gpu copy>'
	row queue marker 600 600 mark attributes=name=now op=mark path=
	row counter 'temperature solver' 500:36.5 700:-6
	row counter 'level solver' 600:7
} >want
same_file "the profile" want got

# A recording, and one of a GPU: sums are the run's.
record real -- "$samples/phases" 0.2 >/dev/null
hpct-export --to firefox real.hpct -o real.json || fail "a recording"
python3 read.py real.json >got || fail "a recording's tables"
same "time of a function" "$(hpct-profile real.hpct --metric REALTIME --view flat --format tsv | tsv '$c["kind"] == "function" && $c["name"] == "smooth" { s += $c["REALTIME:incl"] } END { printf "%.0f", s }')" \
	"$(awk -F'\t' '$2 == "sample" && $5 ~ /;smooth(;|$)/ { s += $4 } END { printf "%.0f", s }' got)"
mkdir gpu.hpct && xz -dc "$HPCT_SOURCE/samples/runs/torch_step.mdb.xz" >gpu.hpct/vm-0.mdb || skip "xz is not there"
hpct-export --to firefox --streams kind=gpu gpu.hpct -o gpu.json || fail "a GPU's run"
python3 read.py gpu.json >got || fail "tables of a GPU's run"
same "busy time of the queue" "$(hpct-stats gpu.hpct --streams kind=gpu --by op --format tsv | tsv '$c["key"] ~ /^(kernel|copy|set)$/ { s += $c["time_ns"] } END { print s }')" \
	"$(awk -F'\t' '$2 == "sample" { s += $4 } END { print s }' got)"
same "kernels" "$(hpct-slice gpu.hpct --op kernel --format tsv | tail -n +2 | wc -l)" "$(grep -c 'op=kernel' got)"
