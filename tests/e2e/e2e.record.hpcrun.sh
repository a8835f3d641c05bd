#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What hpcrun's users type works here, or is taken with a sentence that says why it has no effect: no option and no
# variable of HPCToolkit's is passed over in silence, and none ends in a sentence about something else.
. "$(dirname -- "$0")/expect.sh"
samples=$HPCT_SAMPLES
takes() { # LABEL SENTENCE WORD... : recorded with these options, and the sentence is said
	local label=$1 sentence=$2
	shift 2
	rm -rf taken.hpct
	hpct-record -o taken "$@" -- true >out 2>err || fail "$label: exit code $?: $(cat err)"
	check "$label: $sentence" grep -q -- "$sentence" err
	same "$label: one sentence" 1 "$(wc -l <err)"
	check "$label: recorded" test -d taken.hpct
}
takes "-ms" "--memsize has no effect" -ms 4M
takes "--memsize" "--memsize has no effect" --memsize 4M
takes "-lm" "--low-memsize has no effect" -lm 80K
takes "-ck" "--control-knob has no effect" -ck HPCRUN_CUDA_DEVICE_BUFFER_SIZE=8388608
takes "two knobs" "--control-knob has no effect" -ck A=1 -ck B=2
takes "-dd" "--dynamic-debug has no effect" -dd MEMLEAK_NO_HEADER
takes "--debug" "gdb -p" --debug
for option in disable-auditor enable-auditor disable-auditor-got-rewriting namespace-single namespace-multiple; do
	takes "--$option" "--$option has no effect" "--$option"
done
for variable in MEMSIZE LOW_MEMSIZE CONTROL_KNOBS AUDIT_FAKE_AUDITOR AUDIT_DISABLE_PLT_CALL_OPT; do
	export HPCRUN_$variable=1
	takes "HPCRUN_$variable" "HPCRUN_$variable has no effect"
	unset HPCRUN_$variable
done

# -mp has its value behind it, as --memleak-prob.
hpct-record -o half -mp 0.5 -e MEMLEAK -- "$samples/leaks" 10 || fail "-mp: exit code $?"
check "-mp is the share of allocations" grep -qi "MEMLEAK=80000000" <(hpct-info half.hpct --format tsv)
hpct-record -o bad -mp 7 -e MEMLEAK -- true 2>err
same "-mp 7" 125 $?

# The name of the run and the rate of counters by variables; the command line comes first.
HPCRUN_OUT_PATH=named hpct-record -- true || fail "HPCRUN_OUT_PATH: exit code $?"
check "HPCRUN_OUT_PATH names the run" test -d named.hpct
HPCRUN_OUT_PATH=not hpct-record -o this -- true && check "-o before HPCRUN_OUT_PATH" test -d this.hpct -a ! -e not.hpct
events() { hpct-info "$1.hpct" --format tsv | tsv '$c["key"] == "events" { print $c["value"] }'; }
HPCRUN_PERF_COUNT=7 hpct-record -o counted -e page-faults -- true || fail "HPCRUN_PERF_COUNT: exit code $?"
check "HPCRUN_PERF_COUNT is a counter's period" grep -q 'page-faults=[^ ]*:7:' <(events counted)
check "... and not the clock's" grep -q 'CPUTIME@5000' <(events counted)
HPCRUN_PERF_COUNT=7 hpct-record -o own -e page-faults@3 -- true
check "a counter's own period comes first" grep -q 'page-faults=[^ ]*:3:' <(events own)
HPCRUN_PERF_COUNT=many hpct-record -o none -e page-faults -- true 2>err
same "HPCRUN_PERF_COUNT=many" "125 hpct-record: HPCRUN_PERF_COUNT=many: give a period, or f and samples a second" "$? $(cat err)"

# Without samples: spans and operations are there, weights are not, and threads read as unmonitored.
works="for ((i = 0; i < 200000; i++)); do :; done"
for way in option variable; do
	if [ $way = option ]; then
		hpct-record -o $way -e NONE --summary $way.summary -- bash -c "$works" 2>err
	else
		HPCRUN_EVENT_LIST=NONE hpct-record -o $way --summary $way.summary -- bash -c "$works" 2>err
	fi
	same "NONE by $way: nothing to say" "0 " "$? $(cat err)"
	same "NONE by $way: no weight" 0 "$(hpct-slice $way.hpct --format tsv | tsv '$c["track"] == "samples" { n += $c["weight"] } END { print n + 0 }')"
	check "NONE by $way: unmonitored" [ "$(hpct-slice $way.hpct --format tsv --op unmonitored | wc -l)" -gt 1 ]
	check "NONE by $way: the summary says so" grep -q 'no CPU time was sampled' $way.summary
done

# A debugger triggers what REALTIME@0 samples: by hpct_start() here.
takes "REALTIME@0" "call hpct_start()" -e REALTIME@0

# A launcher that copies the program: it finds the rest by PATH, or says where it has looked.
mkdir copied && cp "$HPCT_BIN/hpct-record" copied
copied/hpct-record -o copied -- true 2>err
same "a copy, with another on PATH" "0 " "$? $(cat err)"
check "a copy records" [ "$(hpct-info copied.hpct --format tsv | tsv '$c["key"] == "streams" { print $c["value"] }')" -ge 1 ]
PATH=/usr/bin:/bin copied/hpct-record -o alone -- true 2>err
check "a copy alone says where it has looked: $(cat err)" grep -q "$PWD/copied/../lib/hpct.*PATH" err
