#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Use of a GPU by samples of its instructions: those taken, of those that all multiprocessors would have given while
# kernels ran, by kernel, by launching path, in profiles; the clock is recorded over time, or the GPU's highest.
set -euo pipefail
. "$(dirname -- "$0")/expect.sh"
row() { printf '%s\t' "$@" | sed 's/\t$/\n/'; }
# A GPU of 100 multiprocessors at 1 GHz, a sample each 10,000 cycles: 10,000 samples in a ms. `full` uses all of it for
# 2 ms, `half` half for 4 ms, from two paths, `one` a single multiprocessor for 1 ms beside `full`.
{
	row stream track begin_ns end_ns path op weight metric attributes
	row gpu:h/-/7.0/0/1/pc spans 0 20000000 '' monitored '' '' 'period=10000,multiprocessors=100,clock_khz=1000000'
	row gpu:h/-/7.0/0/1/7 spans 1000000 3000000 'main;<gpu kernel>;full' kernel '' '' ''
	row gpu:h/-/7.0/0/1/8 spans 1500000 2500000 'main;<gpu kernel>;one' kernel '' '' ''
	row gpu:h/-/7.0/0/1/7 spans 4000000 5000000 'main;a;<gpu kernel>;half' kernel '' '' ''
	row gpu:h/-/7.0/0/1/7 spans 5000000 8000000 'main;b;<gpu kernel>;half' kernel '' '' ''
	row gpu:h/-/7.0/0/1/7 spans 9000000 9500000 'main;<gpu kernel>;unsampled' kernel '' '' ''
	row gpu:h/-/7.0/0/1/pc samples 10000000 '' '<gpu kernel>;full;00000000b9f63d8c+0x5c10' '' 200000000 GINST:STL_GMEM ''
	row gpu:h/-/7.0/0/1/pc samples 10000000 '' '<gpu kernel>;one;00000000b9f63d8c+0x5d10' '' 1000000 GINST:STL_NONE ''
	row gpu:h/-/7.0/0/1/pc samples 10000000 '' '<gpu kernel>;half;00000000b9f63d8c+0x5e10' '' 150000000 GINST:STL_GMEM ''
	row gpu:h/-/7.0/0/1/pc samples 10000000 '' '<gpu kernel>;half;00000000b9f63d8c+0x5e20' '' 50000000 GINST:STL_NONE ''
} >in.tsv
hpct-import --from tsv in.tsv -o run.hpct || fail "import"

use() { hpct-stats --metric GINST --format tsv "$@" | tsv '{ print $c["key"], $c["utilization_percent"] }' | sort; }
same "by kernel" "full 100.00
half 50.00
one 1.00" "$(use run.hpct)"
same "by launching path: those of one kernel share its samples by time" "main;<gpu kernel>;full 100.00
main;<gpu kernel>;one 1.00
main;a;<gpu kernel>;half 50.00
main;b;<gpu kernel>;half 50.00" "$(use run.hpct --by path)"
same "instructions have no time of their own" "" "$(use run.hpct --by instruction | awk '$2 != ""')"
# 6.5 ms in which some kernel ran: full and one at once.
line() { hpct-stats --metric GINST "$@" | grep '^utilization'; }
same "the whole" "utilization 61.7 %: 40100 samples, each of 10000 cycles, of 65000 that all multiprocessors give while kernels run; 0 lost" \
	"$(line run.hpct)"
same "in a window" "utilization 50.0 %: 10000 samples, each of 10000 cycles, of 20000 that all multiprocessors give while kernels run; 0 lost" \
	"$(line run.hpct --time 4ms..6ms)"
same "of launches that are chosen" "utilization 50.0 %: 15000 samples, each of 10000 cycles, of 30000 that all multiprocessors give while kernels run; 0 lost" \
	"$(line run.hpct --context '*b;*')"

# In the advice, and in profiles.
check "in words" grep -qx '  utilization 50.0 %: on average 50.0 of 100 multiprocessors had work' <(hpct-advise --kernel half run.hpct)
same "for scripts" "full 100.00
half 50.00
one 1.00" "$(hpct-advise --format tsv run.hpct | tsv '{ print $c["kernel"], $c["utilization_percent"] }' | sort -u)"
profile() { hpct-profile --format tsv --metric GINST,GSAMP:TOT,GSAMP:EXP,GSAMP:UTIL run.hpct "$@"; }
cells() { tsv '$c["name"] == "'"$1"'" { print $c["GINST:incl"], $c["GSAMP:TOT:incl"], $c["GSAMP:EXP:incl"], $c["GSAMP:UTIL:incl"] }'; }
profile >top || fail "profile"
same "profile: the whole" "401000000 40100 75000 53.47" "$(cells '<program root>' <top | awk '{ printf "%s %s %s %.2f", $1, $2, $3, $4 }')"
same "profile: a kernel" "200000000 20000 20000 100.00" "$(cells full <top)"
same "profile: a path" "150000000 15000 30000 50.00" "$(tsv '$c["name"] == "half" && $c["GSAMP:EXP:incl"] == 30000 { print $c["GINST:incl"], $c["GSAMP:TOT:incl"], $c["GSAMP:EXP:incl"], $c["GSAMP:UTIL:incl"] }' <top)"
same "profile: what was not sampled is expected, too" "0 0 5000 0.00" "$(cells unsampled <top)"
same "profile: all reasons of an instruction" "200000000 20000 0 0.00" "$(cells 00000000b9f63d8c+0x5c10 <top)"
same "profile: by name alone" 401000000 "$(hpct-profile --format tsv --metric GINST run.hpct | tsv 'NR == 2 { print $c["GINST:incl"] }')"
code "of profiles alone" 2 hpct-diff --metric GSAMP:TOT run.hpct run.hpct
sentence "of profiles alone"

# A recorded clock counts where kernels ran: 500 MHz, and 2 GHz while nothing ran.
{
	awk -F '\t' -v OFS='\t' 'NR == 1 { print $0, "value"; next } { print $0, "" }' in.tsv
	for at in 0:500000000 3000000:2000000000 4000000:500000000 9500000:2000000000; do
		row gauges:h/-/-.-/0 values "${at%:*}" '' '' '' '' gpu_clock '' "${at#*:}"
	done
} >clock.tsv
hpct-import --from tsv clock.tsv -o clock.hpct || fail "import of a clock"
same "by the recorded clock" "full 200.00
half 100.00
one 2.00" "$(use clock.hpct)"
# Without multiprocessors or clock nothing is said.
sed 's/,clock_khz=1000000//' in.tsv >unknown.tsv
hpct-import --from tsv unknown.tsv -o unknown.hpct || fail "import"
same "no clock, no use" "" "$(line unknown.hpct || true)"
same "nor in rows" "" "$(use unknown.hpct | awk '$2 != ""')"
# Of periods that differ no number of samples is the whole's.
{
	cat unknown.tsv
	row gpu:h/-/7.0/0/2/pc spans 0 20000000 '' monitored '' '' 'period=20000,multiprocessors=100'
	row gpu:h/-/7.0/0/2/pc samples 10000000 '' '<gpu kernel>;full;00000000b9f63d8c+0x5c10' '' 20000 GINST:STL_GMEM ''
} >periods.tsv
hpct-import --from tsv periods.tsv -o periods.hpct || fail "import of periods"
total() { hpct-profile --format tsv --metric GINST,GSAMP:TOT "$@" | tsv '$c["name"] == "<program root>" { print $c["GSAMP:TOT:incl"] }'; }
same "samples of one period" 40100 "$(total unknown.hpct)"
same "of two" 0 "$(total periods.hpct)"
