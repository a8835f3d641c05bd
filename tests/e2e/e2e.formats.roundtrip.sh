#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What hpct-export writes for others hpct-import takes back: spans, paths, values, times by path, streams' identities.
. "$(dirname -- "$0")/expect.sh"
tab=$'\t'
row() { local IFS=$tab; echo "$*"; }
{
	row stream track begin_ns end_ns path op bytes weight metric value attributes
	row cpu:h/3/10.2/0 spans 0 1000 '' monitored '' '' '' '' name=solver,metric=CPUTIME,period_ns=300,switches=1
	row cpu:h/3/10.2/0 samples 0 '' main '' '' 0 CPUTIME '' ''
	row cpu:h/3/10.2/0 samples 300 '' 'main;so\;lve' '' '' 300 CPUTIME '' ''
	row cpu:h/3/10.2/0 spans 400 600 'main;so\;lve;wait' blocked '' '' '' '' ''
	row cpu:h/3/10.2/0 spans 650 660 '' runnable '' '' '' '' ''
	row cpu:h/3/10.2/0 spans 310 330 'main;so\;lve;launch' launch '' '' '' '' link=1
	row cpu:h/3/10.2/0 spans 700 900 main mpi 4096 '' '' '' 'call=MPI_Send,comm=world,peer=1,tag=7'
	row cpu:h/3/10.2/0 values 500 '' '' '' '' '' temperature 36.5 ''
	row cpu:h/3/10.2/0 values 600 '' '' '' '' '' level 7 ''
	row cpu:h/3/10.2/1 spans 0 1000 '' monitored '' '' '' '' name=helper,metric=CPUTIME,period_ns=300,switches=1
	row cpu:h/3/10.2/1 samples 0 '' '<thread root>;helper' '' '' 0 CPUTIME '' ''
	row gpu:h/3/10.2/1/2/7 spans 0 1000 '' monitored '' '' '' '' name=queue
	row gpu:h/3/10.2/1/2/7 spans 350 500 'main;so\;lve;launch;<gpu kernel>;k1' kernel '' '' '' '' link=1,grid=8
	row gpu:h/3/10.2/1/2/7 spans 450 560 'main;so\;lve;launch;<gpu copy>' copy 64 '' '' '' link=1
} >rows.tsv
hpct-import rows.tsv -o r.hpct || fail "rows"
spans() { # RUN : what a thread or queue logged, and values; times from the run's first record
	hpct-slice "$1" --format tsv | awk -F'\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["op"] == "monitored" || $c["track"] == "samples" { next }
		{ print $c["stream"], $c["track"], $c["begin_ns"], $c["end_ns"], $c["path"], $c["op"], $c["bytes"], $c["metric"], $c["value"], $c["attributes"] }' | sort
}
paths() { # RUN : wall time by call path
	hpct-profile "$1" --metric REALTIME --view top-down --all --format tsv | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ key = $c["parent"] == "" ? "" : path[$c["parent"]] }
		$c["kind"] !~ /^(loop|line)$/ { key = key ";" $c["name"]; sum[key] += $c["REALTIME:incl"] }
		{ path[$c["id"]] = key }
		END { for (key in sum) printf "%s\t%.0f\n", key, sum[key] }' | sort
}
spans r.hpct >r.spans
paths r.hpct >r.paths
# A wait that is nowhere lies where its thread was: there it comes back.
awk -F'\t' -v OFS='\t' '$6 == "runnable" { $5 = "main;so\\;lve" } { print }' r.spans >want.spans
check "the wait is there" grep -q 'lve.runnable' want.spans
record real -- "$samples/phases" 0.2 >/dev/null
mkdir gpu.hpct && xz -dc "$HPCT_SOURCE/samples/runs/torch_step.mdb.xz" >gpu.hpct/vm-0.mdb || skip "xz is not there"
formats=
hpct-import --help >help
for format in otf2 perfetto; do
	grep -q "from.*$format" help && formats+=" $format"
done
[ -n "$formats" ] || skip "built without libotf2 and protobuf-c"
for format in $formats; do
	code "$format: export" 0 hpct-export --to "$format" r.hpct -o "r.$format"
	code "$format: import" 0 hpct-import "r.$format" -o "r.$format.hpct"
	same "$format: all of it" "" "$(cat err)"
	spans "r.$format.hpct" >got.spans
	same_file "$format: spans and values" want.spans got.spans
	paths "r.$format.hpct" >got.paths
	same_file "$format: time by path" r.paths got.paths
	same "$format: names" "helper queue solver" "$(hpct-info --streams "r.$format.hpct" --format tsv | tsv '{ print $c["name"] }' | sort | paste -sd ' ')"
	check "$format: the run is sound" grep -q sound <(hpct-info --check "r.$format.hpct")
	# A recording: operations as they were; waits and time by state; what comes back is the same the next time.
	for run in real gpu; do
		hpct-export --to "$format" "$run.hpct" -o "$run.$format" 2>/dev/null || fail "$format: export of $run"
		hpct-import "$run.$format" -o "$run.$format.hpct" || fail "$format: import of $run"
		hpct-export --to "$format" "$run.$format.hpct" -o "$run-2.$format" 2>/dev/null || fail "$format: export of $run again"
		hpct-import "$run-2.$format" -o "$run-2.$format.hpct" || fail "$format: import of $run again"
		paths "$run.$format.hpct" >want
		paths "$run-2.$format.hpct" >got
		same_file "$format: time by path of $run, twice" want got
		same "$format: time by state of $run" \
			"$(hpct-stats "$run.hpct" --by op --format tsv | tsv '$c["key"] ~ /^(runnable|blocked|kernel|copy|set)$/ { print $c["key"], $c["time_ns"] }')" \
			"$(hpct-stats "$run.$format.hpct" --by op --format tsv | tsv '$c["key"] ~ /^(runnable|blocked|kernel|copy|set)$/ { print $c["key"], $c["time_ns"] }')"
	done
	spans gpu.hpct | grep '^gpu:' | cut -f 1,5- | sort >want
	spans "gpu.$format.hpct" | grep '^gpu:' | cut -f 1,5- | sort >got
	same_file "$format: operations of a GPU" want got
done
