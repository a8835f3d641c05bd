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
same "nothing of them in other profiles" "" "$(hpct-profile --format tsv a.hpct | head -1 | grep GINST)"
