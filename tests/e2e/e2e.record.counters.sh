#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Events counted beside the time: exact, where they happen, side by side in a profile; and what is not to be had is
# said in a sentence, while the rest is recorded.
. "$(dirname -- "$0")/expect.sh"
tests=$HPCT_BIN/../tests

# counted RUN METRIC FUNCTION : inclusive, of the outermost row of that name
counted() {
	hpct-profile "$1.hpct" --format tsv | tsv '$c["name"] == "'"$3"'" { print $c["'"$2"':incl"]; exit }'
}

code "faults" 0 hpct-record -o faults.hpct --summary summary -e page-faults@1 -e minor-faults@1 -e context-switches@1 \
	-- "$tests/faults" 1000
! grep -q 'not counted' err summary || skip "no counters here: $(grep -h 'not counted' err summary | head -n 1)"
near "a page fault for each page that is touched" 1000 "$(counted faults page-faults touch)" 3
near "the same ones, by another event" 1000 "$(counted faults minor-faults touch)" 3
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 1 ] && [ "$(id -u)" -ne 0 ] ||
	near "faults in one system call are all counted" 16 "$(counted faults page-faults touch_in_kernel)" 3
check "counts are values, apart from samples" calc "$(info faults values) > 1000"
near "values are of their metric" 1 "$(hpct-slice faults.hpct --format tsv |
	tsv '$c["metric"] == "page-faults" && $c["track"] == "values" && $c["path"] ~ /touch$/ { print $c["value"]; exit }')" 0
check "one metric alone" grep -q '^depth.*page-faults:incl' <<<"$(hpct-profile faults.hpct --metric page-faults --format tsv)"
weights_agree faults
near "no time is counted as a fault" 0 "$(hpct-slice faults.hpct --format tsv |
	tsv '$c["track"] == "samples" && $c["metric"] != "CPUTIME" { n++ } END { print n + 0 }')" 0

code "a period of its own" 0 hpct-record -o tens.hpct -e page-faults@10 -- "$tests/faults" 1000
near "every tenth stands for ten" 1000 "$(counted tens page-faults touch)" 20
code "a rate for all" 0 hpct-record -o rate.hpct -c 50 -e page-faults -- "$tests/faults" 1000
near "every fiftieth" 1000 "$(counted rate page-faults touch)" 60

code "an event that nobody knows" 125 hpct-record -e no-such-event -- true
sentence "an event that nobody knows"
code "modifiers that there are not" 125 hpct-record -e page-faults:x -- true
sentence "modifiers that there are not"
code "too many" 125 hpct-record $(printf -- '-e page-faults@%d ' 1 2 3 4 5 6 7 8 9) -- true
sentence "too many"
code "the list" 0 hpct-record -L
for word in CPUTIME task-clock page-faults context-switches cycles gpu=auto gpu=nvidia gpu=opencl gpu=level0; do
	check "the list has $word" grep -q "^$word" out
done
if [ -e "$(ldconfig -p | sed -n 's/.*=> \(.*libpfm.so.4\)$/\1/p' | head -n 1)" ]; then # software events need no processor's counter
	check "the list has what libpfm4's unit of the kernel has here" grep -q '^  perf::PAGE-FAULTS [^;]*$' out
	code "and it counts" 0 hpct-record -o named.hpct -e perf::PAGE-FAULTS@1 -- "$tests/faults" 1000
	near "by that name" 1000 "$(counted named perf::PAGE-FAULTS touch)" 3
fi
check "the list has no GPU that the doctor has not" [ "$(grep -c '^gpu=opencl.*not available here' out)" = \
	"$(hpct-doctor --format tsv | tsv '$c["capability"] == "OpenCL" { print $c["state"] != "yes" }')" ]
if [ "$(id -u)" -eq 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ] && chmod 777 . &&
	setpriv --reuid=65534 --regid=65534 --clear-groups hpct-record -o user.hpct --summary said \
		-e page-faults:k@1 -- "$tests/faults" 10 2>err; then
	check "what lifts a refusal is said: $(grep 'not counted' said)" \
		grep -q 'not counted: page-faults:k (.*inside the kernel to 1 or less)' said
fi
if grep -q '^cycles.*not available here: ' out; then
	code "an event that this machine has not" 0 hpct-record -o none.hpct -e cycles@1000000 -- "$tests/faults" 10
	sentence "an event that this machine has not"
	check "time is recorded all the same" calc "$(sample_count none) > 0"
	code "strictly" 125 hpct-record --strict -e cycles@1000000 -- true
fi
