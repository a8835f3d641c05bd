#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What PAPI counts is part of the run, exactly, whatever the samples were; PAPI stays out of the program's own way.
. "$(dirname -- "$0")/expect.sh"
program=$HPCT_BIN/../tests/kernel_frames
[ -e "$HPCT_BIN/../lib/hpct/hpct-agent-papi.so" ] || skip "this build is without PAPI"

hpct-record -L >list
check "presets are listed, with the reason where there are none" grep -qE '^PAPI_TOT_CYC +Total cycles' list
check "components are listed" grep -qE '^perf_event ' list
code "what PAPI cannot count is said" 0 hpct-record -o none.hpct -e PAPI_NO_SUCH -- true
sentence "what PAPI cannot count is said"
check "with PAPI's reason: $(cat err)" grep -q 'PAPI_NO_SUCH is not counted: PAPI says: ' err
code "and is an error where all must be had" 125 hpct-record -o none2.hpct --strict -e PAPI_NO_SUCH -- true

event=papi::perf::PAGE-FAULTS
hpct-record -o try.hpct -e $event -- true 2>err
! grep -q 'not counted' err || skip "PAPI counts nothing here: $(cat err)"
# count RUN FUNCTION : inclusive, by the top-down profile
count() {
	hpct-profile "$1.hpct" --format tsv | tsv '$c["name"] == "'"$2"'" { n += $c["'$event':incl"] } END { print n + 0 }'
}
"$program" works >bare
for run in first second; do
	code "$run" 0 hpct-record -o $run.hpct -e $event -- "$program" works
	same_file "$run: stdout" bare out
	near "$run: faults where the pages are touched" 131072 "$(count $run touches_pages)" 2000
	# Those since the last sample are with the record at the thread's end, which may be behind main.
	near "$run: faults in all" "$(count $run main)" "$(count $run '<program root>')" 2000
	weights_agree $run
done
code "threads" 0 hpct-record -o threads.hpct -e $event -- "$samples/threads8" 0.01
check "each thread counts for itself" [ "$(hpct-info threads.hpct --streams --format tsv |
	tsv '$c["values"] > 0 { n++ } END { print n + 0 }')" -ge 8 ]

# Its descriptors do not outlive an exec.
code "exec" 0 hpct-record -o exec.hpct -e $event -- sh -c 'exec ls -l /proc/self/fd'
same "behind an exec there is the new program's own event alone" 1 "$(grep -c 'perf_event' out)"
code "a child of fork" 0 hpct-record -o fork.hpct --summary summary -e $event -- sh -c '(:; :); true'
check "says that PAPI does not follow it: $(cat summary)" grep -q 'does not work in a fork child' summary
