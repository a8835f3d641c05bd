#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Start, stop, marks and ranges of hpct.h and hpct.f90: nothing outside is measured, and the trace says so.
. "$(dirname -- "$0")/expect.sh"

# names RUN OP : the names of its spans of that operation, as rows `name count`
names() {
	hpct-slice "$1.hpct" --op "$2" --format tsv | tsv '
		$c["op"] == "'"$2"'" { print substr($c["attributes"], 6) }' | sort | uniq -c | awk '{ $1 = $1 } 1'
}

# off RUN : begin and end of each `unmonitored` span, with its stream's thread
off() {
	hpct-slice "$1.hpct" --format tsv | tsv '
		$c["op"] == "unmonitored" { sub(/.*\//, "", $c["stream"]); print $c["stream"], $c["begin_ns"], $c["end_ns"] }'
}

time_in() { # RUN FUNCTION : ns of its weights
	hpct-slice "$1.hpct" --format tsv | tsv '
		$c["track"] == "samples" && index(";" $c["path"] ";", ";'"$2"';") { n += $c["weight"] }
		END { printf "%.0f\n", n }'
}

"$samples/control" 0.02 >bare || fail "control does not end well by itself"
record delayed -ds -- "$samples/control" 0.3 twice >moments || fail "control does not end well"
read -r -a moments <moments
edge=$(edge delayed 45e6)
same "delayed: time in read_input" 0 "$(time_in delayed read_input)"
same "delayed: time in write_output" 0 "$(time_in delayed write_output)"
near "delayed: time in solve" 0.3e9 "$(time_in delayed solve)" "$edge"
near "delayed: time in check" 0.3e9 "$(time_in delayed check)" "$edge"
check "delayed: no time in help" [ "$(time_in delayed help)" -gt 50000000 ]
weights_agree delayed
same "delayed: ranges" "3 step" "$(names delayed range)"
printf '%s\n' '1 checked\, \\ \= done' '1 solve' >wanted
names delayed mark >got
same_file "delayed: marks" wanted got
same "delayed: lost" 0 "$(info delayed lost)"

# The same moments in every stream that lived then, to the nanosecond, between those that the program saw.
mark=$(hpct-slice delayed.hpct --format tsv | tsv '$c["op"] == "mark" { print $c["begin_ns"]; exit }')
off delayed >off
same "threads with an end of sampling each" "0 1 2" "$(awk '$1 != 3 { print $1 }' off | sort -u | xargs)"
same "one stretch in between, the same for all" 1 "$(awk '$1 != 3 && !first[$1]++ { next } $1 != 3 && n[$1]++ == 0 { print $2, $3 }' off | sort -u | wc -l)"
awk -v seen="${moments[*]}" -v mark="$mark" -v origin="$(info delayed origin_monotonic_ns)" '
	$1 == 0 { n++; begin[n] = $2; end[n] = $3 }
	END {
		for (i = split(seen, at, " "); i > 0; i--)
			at[i] -= origin
		ok = n == 3 && end[1] >= at[1] && end[1] <= at[2] && mark >= end[1] && begin[2] >= at[3] && begin[2] <= at[4] &&
			end[2] >= at[5] && end[2] <= at[6] && begin[3] > end[2]
		for (i = 1; !ok && i <= 6; i++)
			print i, begin[i], end[i], at[i]
		exit !ok
	}' off || fail "delayed: sampling was off at other times than ${moments[*]}"
same "the thread that lived while it was off has no samples but its first" 1 "$(hpct-slice delayed.hpct --streams thread=3 \
	--format tsv | tsv '$c["track"] == "samples" && $c["weight"] > 0 { bad++ } $c["track"] == "samples" { n++ }
	END { print bad ? "some" : (n > 0) }')"

# What each step's threads did: work in solve and help, a sleep in nap.
hpct-blame delayed.hpct --by mark --format tsv >steps || fail "hpct-blame --by mark without a GPU"
same "--by mark: steps" 3 "$(tsv '$c["key"] == "step"' <steps | grep -c .)"
same "--by mark: busy + idle + unknown = wall x groups" '' "$(tsv '
	$c["busy_ns"] + $c["idle_ns"] + $c["unknown_ns"] != $c["wall_ns"] * $c["groups"]' <steps)"
check "--by mark: the steps work and wait" [ "$(tsv '$c["key"] == "step" && $c["busy_ns"] > 0 && $c["idle_ns"] > 0' <steps |
	grep -c .)" -eq 3 ]

# Readers: unmonitored time is neither idle nor covered; the sums are those of the records.
hpct-slice delayed.hpct --format tsv | tsv '
	$c["op"] == "monitored" { lived += $c["end_ns"] - $c["begin_ns"] }
	$c["op"] == "unmonitored" { n += $c["end_ns"] - $c["begin_ns"] }
	END { printf "%.3f\n", 100 * (lived - n) / lived }' >covered
near "coverage" "$(cat covered)" "$(info delayed coverage_percent)" 0.02
hpct-stats delayed.hpct --by function --format tsv >with
hpct-stats delayed.hpct --by function --format tsv --no-rollups >without
same_file "statistics from rollups and records" without with
code "a window without monitored time" 3 hpct-profile delayed.hpct --time ..20ms
hpct-profile delayed.hpct --time @solve --streams thread=0 --view flat --format tsv | tsv '
	$c["kind"] == "function" { n[$c["name"]] = $c["CPUTIME:incl"] } END { printf "%.0f %.0f\n", n["solve"], n["check"] }' >row
read -r solve rest <row
near "--time @solve" 0.3e9 "$solve" "$edge"
same "--time @solve: check" 0 "$rest"
check "the view says so" grep -q '?' <(hpct-view delayed.hpct --print 120x20)

# Measured from the begin without -ds; a program that never starts is said to be unmeasured.
record plain -- "$samples/control" 0.1 >moments || fail "control, not delayed"
edge=$(edge plain 45e6)
near "not delayed: time in read_input" 0.1e9 "$(time_in plain read_input)" "$edge"
same "not delayed: time in write_output" 0 "$(time_in plain write_output)"
weights_agree plain
record never --delay-sampling --summary summary -- "$samples/sleepy" 2 || fail "--delay-sampling"
check "the summary says that nothing was measured" grep -q 'hpct_start' summary
code "-d and -s alone are no options" 125 hpct-record -s true
code "-d and -s alone are no options" 125 hpct-record -d -- true

# A source that keeps to the thread's clock does not make up for what was off.
record fast -ds -e CPUTIME@1000 -- "$samples/control" 0.3 >moments || fail "control at a high rate does not end well"
same "at a high rate: time in write_output" 0 "$(time_in fast write_output)"
near "at a high rate: time in solve" 0.3e9 "$(time_in fast solve)" "$(edge fast 45e6)"
weights_agree fast

# Children: a fork goes on as its parent was.
cat >forks.c <<'END'
#include <unistd.h>
#include <sys/wait.h>
#include <time.h>
#include "record/program/hpct.h"
static void burn(void)
{
	for (clock_t until = clock() + CLOCKS_PER_SEC / 10; clock() < until;)
		;
}
int main(void)
{
	hpct_stop();
	if (!fork()) {
		burn();
		hpct_start();
		burn();
		_exit(0);
	}
	wait(0);
	return hpct_is_recorded() ? 7 : 8;
}
END
if command -v cc >/dev/null; then
	cc -O1 -I"$HPCT_SOURCE" forks.c -o forks || fail "hpct.h does not compile"
	code "without hpct-record" 8 ./forks
	record forked -- ./forks
	same "fork: exit code" 7 "$?"
	edge=$(edge forked 45e6)
	near "fork: time in the child" 0.1e9 "$(time_in forked burn)" "$edge"
	weights_agree forked
	for how in "-no-pie" "-fPIE -pie -O0" "-static"; do
		# shellcheck disable=SC2086 # several words
		cc $how -I"$HPCT_SOURCE" forks.c -o linked || fail "hpct.h does not link with $how"
		code "$how without hpct-record" 8 ./linked
		[ "$how" = -static ] || code "$how, recorded" 7 hpct-record -o "linked.hpct" --overwrite -- ./linked
	done
fi

# Who was calm between its ranges fills a ring with them in less time than rings of a calm program are left alone.
code "bursts" 0 hpct-record -o bursts.hpct -- "$HPCT_BIN/../tests/bursts" read
same "bursts: ranges, one more than reads" "$(($(cat out) + 1))" "$(hpct-slice bursts.hpct --op range --format tsv | grep -c 'name=read')"
same "bursts: lost" 0 "$(info bursts lost)"

[ -x "$samples/control_fortran" ] || { echo "built without a Fortran compiler: hpct.f90 is not tried"; exit; }
same "Fortran without hpct-record" F "$("$samples/control_fortran" 0.01)"
same "Fortran, recorded" T "$(record fortran -ds -- "$samples/control_fortran" 0.2)"
edge=$(edge fortran 45e6)
near "Fortran: time in work" 0.2e9 "$(time_in fortran 'phases::work')" "$edge"
same "Fortran: time in prepare" 0 "$(time_in fortran 'phases::prepare')"
same "Fortran: ranges" "3 step" "$(names fortran range)"
same "Fortran: marks" "1 done 1 solve" "$(names fortran mark | xargs)"
weights_agree fortran
