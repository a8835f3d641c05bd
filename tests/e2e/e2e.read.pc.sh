#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Streams of PC samples: rows carry them unchanged, copies too; no sum of time, no count of streams and no line of
# the view knows them; weights are a profile's when asked for.
set -euo pipefail
. "$(dirname -- "$0")/expect.sh"
row() { printf '%s\t' "$@" | sed 's/\t$/\n/'; }
{
	row stream track begin_ns end_ns path op bytes weight metric value attributes
	row gpu:h/-/7.0/0/1/pc spans 0 200000 '' monitored '' 0 '' '' period=16,sms=132
	row cpu:h/-/7.0/0 samples 1000 '' main '' '' 1000 CPUTIME '' ''
	row gpu:h/-/7.0/0/1/7 spans 50000 90000 'main;<gpu kernel>;spin' kernel '' 0 '' '' ''
	row gpu:h/-/7.0/0/1/pc samples 100000 '' '<gpu kernel>;spin;00000000b9f63d8c+0x5c10' '' '' 4096 GINST:STL_GMEM '' ''
	row gpu:h/-/7.0/0/1/pc samples 100000 '' '<gpu kernel>;spin;00000000b9f63d8c+0x5c20' '' '' 8192 GINST:STL_NONE '' ''
} >in.tsv
grep -v /pc in.tsv >without.tsv
"$HPCT_BIN/hpct-import" --from tsv in.tsv -o a.hpct
"$HPCT_BIN/hpct-import" --from tsv without.tsv -o without.hpct

# Rows, rows imported again, and a smaller run are the same.
"$HPCT_BIN/hpct-slice" --format tsv a.hpct >a.tsv
"$HPCT_BIN/hpct-import" --from tsv a.tsv -o b.hpct
"$HPCT_BIN/hpct-slice" a.hpct -o c.hpct
for run in b c; do
	"$HPCT_BIN/hpct-slice" --format tsv "$run.hpct" | diff - a.tsv
	"$HPCT_BIN/hpct-info" --check "$run.hpct" >check
done
[ "$(grep -c '/pc.samples.*00000000b9f63d8c+0x5c[12]0' a.tsv)" = 2 ]
"$HPCT_BIN/hpct-slice" --format tsv --streams kind=pc a.hpct | grep -c /pc | grep -qx 3

# Time is as without them.
for reader in "hpct-stats --by stream" "hpct-stats --by function" "hpct-stats --by op" "hpct-profile" "hpct-blame"; do
	# shellcheck disable=SC2086
	"$HPCT_BIN/"$reader --format tsv --time 0..95us a.hpct >with
	# shellcheck disable=SC2086
	"$HPCT_BIN/"$reader --format tsv --time 0..95us without.hpct | sed 's/without\.hpct/a.hpct/' | diff with - ||
		fail "$reader differs"
done
[ "$("$HPCT_BIN/hpct-info" --format tsv a.hpct | awk -F'\t' '$1 == "streams" { print $2 }')" = 2 ]
[ "$("$HPCT_BIN/hpct-info" --format tsv --streams a.hpct | awk -F'\t' '$2 == "pc" { print $12 }')" = 2 ]
"$HPCT_BIN/hpct-view" --print 100x20 a.hpct >screen
grep -q '1 process 1 thread 1 GPU ' screen
same "the view has no line for them" "" "$(grep '/pc\|q pc' screen)"

same "they are no thread of a process" "1 1" "$(hpct-info --processes --format tsv a.hpct | tsv '{ print $c["threads"], $c["queues"] }')"

# Weights are asked for by name. They are of a device, and of no thread.
hpct-profile a.hpct --metric CPUTIME,GINST:STL_GMEM --over thread --format tsv >over
same "the only thread has all of CPUTIME, and no instruction sample" "1000 0" \
	"$(tsv 'NR == 2 { print $c["CPUTIME:incl:mean"], $c["GINST:STL_GMEM:incl:sum"] }' <over)"
same "the device has them" 4096 \
	"$(hpct-profile a.hpct --metric GINST:STL_GMEM --over device --format tsv | tsv 'NR == 2 { print $c["GINST:STL_GMEM:incl:sum"] }')"
"$HPCT_BIN/hpct-profile" --format tsv --metric 'GINST*' --view flat a.hpct >flat
grep -q '00000000b9f63d8c+0x5c20' flat
# They stand below the call path that launched their kernel; of several they are shared by time, and whole numbers sum.
same "below the launching path" "main <gpu kernel> spin 00000000b9f63d8c+0x5c20 8192" \
	"$(hpct-profile --format tsv --metric 'GINST*' a.hpct | tsv '
		$c["name"] != "<program root>" && $c["GINST:STL_NONE:incl"] == 8192 { path = path $c["name"] " " } END { print path 8192 }')"
{
	cat in.tsv
	row gpu:h/-/7.0/0/1/7 spans 90000 110000 'main;again;<gpu kernel>;spin' kernel '' 0 '' ''
} >two.tsv
hpct-import --from tsv two.tsv -o two.hpct || fail "import"
profile() { hpct-profile --format tsv --metric GINST:STL_NONE two.hpct "$@" | tsv '$c["name"] ~ /5c20$/ { print $c["GINST:STL_NONE:incl"] }'; }
same "40 us and, until the read-out, 10 us" "6554
1638" "$(profile)"
same "below one of them" 1638 "$(profile --context '*again*')"
same "a window has the part that ran in it: 20 of 50 us" 3277 "$(profile --time 0..70us)"
# By function, path, instruction and stall; issued, and of latency: none is.
instructions() { hpct-stats --format tsv --metric GINST "$@" | tsv '{ print $c["key"], $c["weight"], $c["percent"], $c["issued_percent"], $c["stall"], $c["stall_percent"] }'; }
same "by function" "spin 12288 100.00 66.67 GMEM 33.33" "$(instructions a.hpct)"
same "by launching path" "main;<gpu kernel>;spin 9830 80.00 66.67 GMEM 33.33
main;again;<gpu kernel>;spin 2458 20.00 66.67 GMEM 33.33" "$(instructions two.hpct --by path)"
same "by instruction" "spin;00000000b9f63d8c+0x5c20 8192 66.67 100.00  0.00
spin;00000000b9f63d8c+0x5c10 4096 33.33 0.00 GMEM 100.00" "$(instructions a.hpct --by instruction)"
same "by stall" "NONE 8192 GMEM 4096" \
	"$(hpct-stats --format tsv --by stall a.hpct | tsv '{ print $c["key"], $c["weight"] }' | xargs)"
same "by binary" "00000000b9f63d8c 12288 100.00 66.67 GMEM 33.33" "$(instructions a.hpct --by module)"
same "in a window, below a path" "spin 983 100.00 66.67 GMEM 33.33" "$(instructions two.hpct --context '*again*' --time 0..94us)"
check "lines and loops are asked for by name" [ "$(instructions a.hpct --by line; instructions a.hpct --by loop)" = \
	"<unknown line> 12288 100.00 66.67 GMEM 33.33
<no loop> 12288 100.00 66.67 GMEM 33.33" ]
check "exact, or shared" grep -qx 'samples of launches: 0.0 % of one call path, exact; 100.0 % of several, shared by time' \
	<(hpct-stats --by stall two.hpct)
code "another key" 2 hpct-stats --metric GINST --by rank a.hpct
sentence "another key"
code "no samples" 3 hpct-stats --metric GINST without.hpct
sentence "no samples"
code "none of these launches" 3 hpct-stats --metric GINST --context nix a.hpct
check "the sentence tells" grep -q 'of launches that --context matches' err
code "operations are of time" 2 hpct-stats --by stall --op kernel a.hpct
sentence "operations are of time"
same "nothing of them in other profiles" "" "$(hpct-profile --format tsv a.hpct | head -1 | grep GINST)"
