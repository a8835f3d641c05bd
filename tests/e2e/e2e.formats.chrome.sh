#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Chrome's JSON as a run: Kineto's trace of PyTorch, pairs, asynchronous events, counters; packed, cut short, damaged.
. "$(dirname -- "$0")/expect.sh"
code "yajl" 2 hpct-import --from nosuch x
grep -q 'chrome' err || skip "built without yajl: hpct-import has no --from chrome"
rows() { hpct-slice "$1.hpct" --format tsv | tsv '{ print $c["stream"] " " $c["track"] " " $c["begin_ns"] " " $c["end_ns"] " " $c["path"] " " $c["op"] " " $c["bytes"] " " $c["metric"] $c["value"] " " $c["attributes"] }'; }
kineto=$HPCT_SOURCE/tests/formats/kineto.json

# ---- Kineto, guessed by its content
code "kineto" 0 hpct-import "$kineto" -o k.hpct
same "what is left out is said" "hpct-import: left out: 1 flow arrows other than those of launches" "$(cat err)"
rows k >k.rows
cat >k.want <<'END'
cpu:-/3/1234.0/0 spans 0 0  mark   name=Iteration Start: PyTorch Profiler
cpu:-/3/1234.0/0 spans 0 1000000  monitored   command=python,name=thread 1234 (python),tid=1234
cpu:-/3/1234.0/0 spans 0 1000000  range   name=PyTorch Profiler (0),Op count=0
cpu:-/3/1234.0/0 spans 0 1000000 ProfilerStep#3 user_annotation   
gpu:-/3/1234.0/0/1/7 spans 0 1000000  monitored   name=stream 7 
cpu:-/3/1234.0/0 spans 100 700600 ProfilerStep#3;aten::mm cpu_op   Input Dims=[32:784]:[784:128]:[]
cpu:-/3/1234.0/0 spans 100000 150000 ProfilerStep#3;aten::mm;cudaLaunchKernel launch   link=77
cpu:-/3/1234.0/0 spans 160000 180000 ProfilerStep#3;aten::mm;cudaMemcpyAsync launch   link=78
gpu:-/3/1234.0/0/1/7 spans 200250 500250 ProfilerStep#3;aten::mm;cudaLaunchKernel;<gpu kernel>;void gemm<float>(int) kernel   link=77,registers=80,shared=1024,grid=8:16:1,block=64:1:1,est. achieved occupancy %=30
cpu:-/3/1234.0/0 values 300000     Total Allocated:gpu0512.0 
cpu:-/3/1234.0/0 values 300000     Total Reserved:gpu02097152.0 
gpu:-/3/1234.0/0/1/7 spans 600000 610000 ProfilerStep#3;aten::mm;cudaMemcpyAsync;<gpu copy> copy 4096  link=78,kind=H2D
cpu:-/3/1234.0/0 spans 800000 950000 ProfilerStep#3;cudaDeviceSynchronize sync   
cpu:-/3/1234.0/0 spans 1000000 1000000  mark   name=Record Window End
END
same_file "the rows of Kineto's trace" k.want k.rows
code "kineto's check" 0 hpct-info --check k.hpct
same "busy time of the queue" 310000 "$(hpct-stats k.hpct --streams kind=gpu --by op --format tsv | tsv '$c["key"] == "kernel" || $c["key"] == "copy" { s += $c["time_ns"] } END { print s }')"
same "wall clock" 2023-07-22T04:26:41.200000000Z "$(info k origin_time)"

# ---- the same, packed and marked
gzip -c "$kineto" >g.json.gz
code "gzip" 0 hpct-import g.json.gz
rows g >g.rows && same_file "a packed trace is the same" k.want g.rows
{ printf '\xef\xbb\xbf'; sed 's/$/\r/' "$kineto"; } | gzip >m.json.gz
code "byte order mark, CR LF" 0 hpct-import m.json.gz
rows m >m.rows && same_file "a marked trace is the same" k.want m.rows
if command -v zstd >/dev/null; then
	zstd -q -c "$kineto" >z.json.zst
	code "zstd" 0 hpct-import z.json.zst
	rows z >z.rows && same_file "a trace packed by zstd is the same" k.want z.rows
fi
code "standard input" 0 hpct-import - -o i.hpct <"$kineto"
rows i >i.rows && same_file "a trace from a pipe is the same" k.want i.rows

# ---- pairs, threads, asynchronous events, counters; the list's end may be missing
cat >p.json <<'END'
[{"ph":"M","name":"process_name","pid":5,"args":{"name":"server"}},
{"ph":"M","name":"thread_name","pid":5,"tid":6,"args":{"name":"worker"}},
{"ph":"B","name":"outer","cat":"app","pid":5,"tid":5,"ts":10},
{"ph":"E","pid":5,"tid":5,"ts":30},
{"ph":"B","name":"inner","cat":"app","pid":5,"tid":5,"ts":12.5,"args":{"n":3,"what":"a,b"}},
{"ph":"E","pid":5,"tid":5,"ts":20},
{"ph":"X","name":"leaf","pid":5,"tid":5,"ts":13,"dur":2},
{"ph":"X","name":"beside","pid":5,"tid":6,"ts":10,"dur":4},
{"ph":"X","name":"overlaps","pid":5,"tid":6,"ts":12,"dur":4},
{"ph":"B","name":"unended","pid":5,"tid":6,"ts":20},
{"ph":"E","pid":5,"tid":7,"ts":20},
{"ph":"b","cat":"req","id":"0x1","name":"request","pid":5,"tid":6,"ts":11},
{"ph":"n","cat":"req","id":"0x1","name":"byte","pid":5,"tid":6,"ts":12},
{"ph":"e","cat":"req","id":"0x1","name":"request","pid":5,"tid":5,"ts":25},
{"ph":"e","cat":"req","id":"0x2","name":"request","pid":5,"tid":5,"ts":25},
{"ph":"C","name":"queue","pid":5,"tid":5,"ts":15,"args":{"in":1,"out":2.5}},
{"ph":"C","name":"load","pid":5,"tid":5,"ts":16,"args":{"value":"x"}},
{"ph":"i","name":"now","pid":5,"tid":5,"ts":17,"s":"t"},
{"ph":"O","name":"thing","pid":5,"tid":5,"ts":17,"id":1},
{"ph":"X","name":"before 1970","pid":5,"tid":5,"ts":-3,"dur":1},
END
code "pairs" 0 hpct-import p.json
same "what is left out of pairs" "hpct-import: left out: 1 events without a time that a run can hold; 1 object snapshots; 1 values that are no numbers; 1 ends of asynchronous events whose begin is missing; 1 ends of calls whose begin is missing" "$(cat err)"
rows p | grep -v monitored >p.rows
cat >p.want <<'END'
cpu:-/-/5.0/0 spans 0 20000 outer app   
cpu:-/-/5.0/1 spans 0 4000 beside call   
cpu:-/-/5.0/1 spans 1000 15000  range   name=request
cpu:-/-/5.0/1 spans 2000 2000  mark   name=byte
cpu:-/-/5.0/1 spans 2000 6000 overlaps call   
cpu:-/-/5.0/0 spans 2500 10000 outer;inner app   n=3,what=a\,b
cpu:-/-/5.0/0 spans 3000 5000 outer;inner;leaf call   
cpu:-/-/5.0/0 values 5000     queue:in1.0 
cpu:-/-/5.0/0 values 5000     queue:out2.5 
cpu:-/-/5.0/0 spans 7000 7000  mark   name=now
cpu:-/-/5.0/1 spans 10000 20000 unended call   
END
same_file "the rows of pairs" p.want p.rows
same "names of threads" "server worker " "$(hpct-info p.hpct --streams --format tsv | tsv '{ printf "%s%s", s, $c["name"]; s = " " }')"

# ---- what is cut short or damaged gives what was whole, and says so
for size in 400 1500 2500 3000; do
	head -c "$size" "$kineto" >"c$size.json"
	code "cut at $size" 4 hpct-import --from chrome "c$size.json"
	if [ "$size" -gt 1000 ]; then
		check "cut at $size says what is kept" grep -q "cut short at byte $size .*: the [1-9][0-9]* events before it are in c$size.hpct" err
		code "check of what was whole" 0 hpct-info --check "c$size.hpct"
	else
		check "nothing is made of a head" [ ! -e "c$size.hpct" ]
	fi
done
gzip -c p.json | head -c 300 >cg.json.gz
code "a packed trace that is cut" 4 hpct-import --from chrome cg.json.gz
check "a packed trace that is cut says what is kept" grep -q 'events before it are in cg.hpct' err
{ gzip -c "$kineto" | head -c -8 && printf '\0\0\0\0\0\0\0\0'; } >s.json.gz
code "a wrong checksum" 4 hpct-import s.json.gz
check "a wrong checksum: what is kept is said" grep -q 'damaged or cut short: .*; what was whole is in s.hpct' err
sed 's/"leaf"/leaf/' p.json >d.json
code "damaged" 4 hpct-import d.json
same "what was whole before the damage" 2 "$(rows d | grep -cv monitored)"
printf '{"a": 1}' >n.json
code "no trace" 4 hpct-import --from chrome n.json
sentence "no trace"
code "nothing that is known" 2 hpct-import n.json
sentence "nothing that is known"
printf '[%.0s' $(seq 100000) >deep.json
code "depth" 4 hpct-import --from chrome deep.json
check "depth is said" grep -q 'nests too deep' err
long=$(printf 'x%.0s' $(seq 600))
echo '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"long":["'"$long"'","'"$long"'"],"short":"y"}}]' >long.json
code "a long argument" 0 hpct-import long.json
same "that it is cut is said" "hpct-import: left out: 1 ends of texts that are too long or too many" "$(cat err)"
same "its beginning and the others stay" "long=${long:0:512},short=y" "$(hpct-slice long.hpct --format tsv | tsv '$c["op"] == "call" { print $c["attributes"] }')"
{
	printf '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1'
	yes ',"name":"'"$long"'"' | head -n 600000
	printf '}]'
} | gzip -1 >again.json.gz
(ulimit -v 200000 && hpct-import --from chrome again.json.gz 2>err)
check "a key again and again takes no memory" [ -e again.hpct ]
# ---- numbers that JSON has no word for, in the middle of a block and across two; in a text they are text
word() { # BYTES before the word
	head='[{"ph":"X","name":"a [nan, \"NaN\"] b","pid":1,"tid":1,"ts":1,"dur":2,"args":{"x":'
	printf '%s%*s%s' "$head" $(($1 - ${#head})) '' '-Infinity,"y":NaN}},{"ph":"X","name":"next","pid":1,"tid":1,"ts":5,"dur":1}]'
}
for at in 200 $(((1 << 20) - 1)) $(((1 << 20) - 5)) $(((1 << 20) - 9)) $(((1 << 20) - 15)) $(((1 << 20) - 16)); do
	word "$at" >w.json
	rm -rf w.hpct
	code "words that stand for numbers, at $at" 0 hpct-import --from chrome w.json -o w.hpct
	same "words that stand for numbers, at $at" 'a [nan, "NaN"] b 0 2000 next 4000 5000 ' \
		"$(hpct-slice w.hpct --format tsv | tsv '$c["path"] != "" { printf "%s %s %s ", $c["path"], $c["begin_ns"], $c["end_ns"] }')"
done
code "it exists" 2 hpct-import "$kineto" -o k.hpct

# Kineto's words until PyTorch 1.9; other programs' categories of these names stay what they are.
cat >old.json <<'END'
{"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 55, "tid": "55", "ts": 100, "dur": 60, "args": {"External id": 2}},
{"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 55, "tid": "55", "ts": 110, "dur": 5, "args": {"cbid": 211, "correlation": 9}},
{"ph": "X", "cat": "Runtime", "name": "cudaMemcpyAsync", "pid": 55, "tid": "55", "ts": 120, "dur": 5, "args": {"cbid": 41, "correlation": 10}},
{"ph": "s", "cat": "async", "name": "launch", "id": 9, "pid": 55, "tid": "55", "ts": 110},
{"ph": "f", "cat": "async", "name": "launch", "id": 9, "pid": 0, "tid": "stream 7", "ts": 130, "bp": "e"},
{"ph": "X", "cat": "Kernel", "name": "gemm", "pid": 0, "tid": "stream 7", "ts": 130, "dur": 20, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 9}},
{"ph": "X", "cat": "Memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": "stream 7", "ts": 150, "dur": 4, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 10, "bytes": 4096}},
{"ph": "X", "cat": "Memset", "name": "Memset (Device)", "pid": 0, "tid": "stream 7", "ts": 154, "dur": 1, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 11, "bytes": 64}},
{"ph": "X", "cat": "Kernel", "name": "no queue", "pid": 56, "tid": "56", "ts": 100, "dur": 1, "args": {}}
]}
END
code "an older Kineto" 0 hpct-import old.json -o old.hpct
same "an older Kineto: nothing is left out" "" "$(cat err)"
hpct-slice old.hpct --format tsv | tsv '$c["op"] != "monitored" { sub(/:[^\/]*\/[^\/]*\//, ":", $c["stream"]); print $c["stream"], $c["begin_ns"], $c["end_ns"], $c["path"], $c["op"], $c["bytes"] }' | sed 's/ $//' | sort >got
sort >want <<'END'
cpu:55.0/0 0 60000 aten::mm cpu_op
cpu:55.0/0 10000 15000 aten::mm;cudaLaunchKernel launch
cpu:55.0/0 20000 25000 aten::mm;cudaMemcpyAsync launch
cpu:56.0/0 0 1000 no queue Kernel
gpu:55.0/0/1/7 30000 50000 aten::mm;cudaLaunchKernel;<gpu kernel>;gemm kernel
gpu:55.0/0/1/7 50000 54000 aten::mm;cudaMemcpyAsync;<gpu copy> copy 4096
gpu:55.0/0/1/7 54000 55000 <gpu set> set 64
END
same_file "an older Kineto" want got
