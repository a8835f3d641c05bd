#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slice | import | slice gives the same bytes: a recorded run, and rows with odd names, late records, open spans.
. "$(dirname -- "$0")/expect.sh"
again() { # RUN
	hpct-slice "$1.hpct" --format tsv >"$1.1" || fail "$1: slice"
	hpct-import --from tsv -o "$1.again.hpct" "$1.1" || fail "$1: import"
	hpct-slice "$1.again.hpct" --format tsv >"$1.2" || fail "$1: slice of the import"
	same_file "$1: slice | import | slice" "$1.1" "$1.2"
	hpct-slice "$1.hpct" -o "$1.part.hpct" || fail "$1: slice -o"
	hpct-slice "$1.part.hpct" --format tsv >"$1.3"
	same_file "$1: slice -o of everything is the run" "$1.1" "$1.3"
}
record recorded -- "$samples/phases" 0.2 >/dev/null
again recorded
tab=$'\t'
{
	echo "stream${tab}track${tab}begin_ns${tab}end_ns${tab}path${tab}op${tab}bytes${tab}weight${tab}metric${tab}value${tab}attributes"
	cpu='cpu:h\x01o/3/17.0/0' gpu='gpu:h/-/17.0/0/1/7'
	row() { local IFS=$tab; echo "$*"; }
	row "$cpu" spans 100 9000 '' monitored '' '' '' '' 'metric=CPUTIME,name=a\,b\=c,period_ns=1000'
	row "$cpu" samples 100 '' 'main' '' '' 0 CPUTIME '' ''
	row "$cpu" samples 900 '' 'main;odd\;name;tab\there;back\\slash' '' '' 1000 CPUTIME '' ''
	row "$cpu" samples 900 '' 'main;newline\nhere;\x1b[31mred' '' '' 7 CPUTIME '' ''
	row "$cpu" samples 400 '' 'main;<partial>' '' '' 3 CPUTIME '' ''
	row "$cpu" samples 500 '' 'main;operator<<;a b;..;\xff\xfe' '' '' 18446744073709551615 CPUTIME '' ''
	row "$cpu" values 300 '' 'main' '' '' '' 'power, W' 12.5 ''
	row "$gpu" spans 200 '' 'main;launch;<gpu kernel>;k<a, b>' kernel '' '' '' '' 'link=5'
	row "$gpu" spans 150 250 'main;<gpu copy>' copy 4096 '' '' '' 'k=v'
	row "$gpu" spans 150 240 'main;<gpu copy>' copy 1 '' '' '' ''
	row "$gpu" spans 10 20 '' 'lost' '' 12 '' '' ''
} >odd.tsv
hpct-import --from tsv -o odd.hpct odd.tsv || fail "import of odd rows"
again odd
same "odd rows: as many come out as went in" "$(wc -l <odd.tsv)" "$(wc -l <odd.1)"
check "odd names come out as they went in" grep -qF 'main;newline\nhere;\x1b[31mred' odd.1
# A slice is as wide as its window, whatever lies outside: streams that are born later, or ended before.
{
	echo "stream${tab}track${tab}begin_ns${tab}end_ns${tab}path${tab}op"
	row cpu:h/-/1.0/0 spans 5000000000 6000000000 '' monitored
	row cpu:h/-/1.0/0 spans 5100000000 5900000000 main blocked
	row cpu:h/-/1.0/1 spans 9000000000 9500000000 main blocked
	row cpu:h/-/1.0/2 spans 1000000000 1500000000 main blocked
} >apart.tsv
hpct-import --from tsv apart.tsv || fail "import of streams far apart"
hpct-slice apart.hpct --time 5.2s..5.4s -o within.hpct || fail "a window of one stream of three"
same "a slice's begin and end" "5200000000 5400000000" "$(info within begin_ns) $(info within end_ns)"
# Any time that a record may have can be named, and sums that 64 bits do not hold are refused, not wrapped around.
{
	echo "stream${tab}track${tab}begin_ns${tab}end_ns${tab}path${tab}op"
	for thread in 0 1 2; do
		row cpu:h/-/1.0/$thread spans 5 18446744073709551600 '' monitored
		row cpu:h/-/1.0/$thread spans 9223372036854775808 9223372036854775908 main blocked
	done
} >wide.tsv
hpct-import --from tsv wide.tsv -o wide.hpct || fail "import of the widest times"
blocked() { hpct-stats wide.hpct --by op --format tsv "$@" | tsv '$c["key"] == "blocked" { print $c["time_ns"] }'; }
same "a window behind 2^63" 90 "$(blocked --time 9223372036854775838ns..9223372036854775868ns)"
same "a window to the end of time" 300 "$(blocked --time 9223372036.854775807s..9223372036.854776807s)"
same "one stream from end to end" 100 "$(blocked --streams thread=0 --time 5ns..18446744073709551600ns)"
for reader in "hpct-stats --by op" "hpct-blame --imbalance" "hpct-profile --metric REALTIME"; do
	# shellcheck disable=SC2086 # words
	code "$reader of 3 streams from end to end" 2 $reader wide.hpct
	sentence "$reader of 3 streams from end to end"
	check "$reader: what to do: $(cat err)" grep -q 'fewer --streams' err
done
code "late threads of them, which nobody adds up" 0 hpct-blame wide.hpct --late
code "a time that is none" 2 hpct-stats wide.hpct --time 18446744073709551616ns..
check "a run of the widest times is sound" hpct-info --check wide.hpct >out
# So are weights and values: what the store has summed up may have wrapped, and is not taken.
{
	echo "stream${tab}track${tab}begin_ns${tab}path${tab}weight${tab}metric${tab}value"
	for thread in 0 1 2; do
		row cpu:h/-/1.0/$thread samples 100 'main;f' 9223372036854775808 CPUTIME ''
		row cpu:h/-/1.0/$thread samples 200 'main;f' 5 CPUTIME ''
		row cpu:h/-/1.0/$thread samples 300 'main;g' 9223372036854775808 CPUTIME ''
	done
	row cpu:h/-/1.0/3 values 100 'main;f' '' bytes 9223372036854775808
	row cpu:h/-/1.0/3 values 200 'main;f' '' bytes 9223372036854775808
	for time in 100 200 300 400; do row cpu:h/-/1.0/4 values $time 'main;f' '' joules 9e18; done
} >heavy.tsv
hpct-import --from tsv heavy.tsv -o heavy.hpct && hpct-slice heavy.hpct -o part.hpct &&
	hpct-slice heavy.hpct --archive -o packed.hpct || fail "import of the greatest weights"
for run in heavy part packed; do
	for question in "hpct-profile" "hpct-profile --no-rollups" "hpct-profile --streams thread=0-2" "hpct-profile --streams thread=0" \
		"hpct-profile --view flat --streams thread=3" "hpct-export --to folded --streams thread=0-2"; do
		# shellcheck disable=SC2086 # words
		code "$run: $question" 2 $question $run.hpct
		sentence "$run: $question"
		check "$run: $question: what to do: $(cat err)" grep -q 'fewer --streams' err
	done
	for option in "" --no-rollups; do
		same "$run: what 64 bits hold $option" 9223372036854775813 "$(hpct-profile $run.hpct --streams thread=0 --time ..250ns \
			--format tsv $option | tsv '$c["depth"] == 0 { print $c["CPUTIME:incl"] }')"
		same "$run: doubles have room $option" 3.6e+19 "$(hpct-profile $run.hpct --streams thread=4 --format tsv $option |
			tsv '$c["depth"] == 0 { printf "%.1e", $c["joules:incl"] }')"
	done
	check "$run is sound" hpct-info --check $run.hpct >out
done
