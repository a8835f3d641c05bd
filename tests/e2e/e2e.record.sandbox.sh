#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that locks itself up by seccomp, so that it dies of any system call but its own, lives as it does
# bare, and so do its threads, its children and what these run; what came before is measured. A filter that
# refuses with an errno does not end the measurement.
. "$(dirname -- "$0")/expect.sh"
locked=$HPCT_BIN/../tests/locked

"$locked" prctl
case $? in
3) ;;
77) skip "no seccomp filters here" ;;
*) skip "this libc makes other system calls than the test's filter lets through" ;;
esac
for how in prctl syscall strict; do
	"$locked" $how
	[ $? != 77 ] || { echo "$how: not possible here, as in a container that has a filter of its own" && continue; }
	record locked-$how --summary summary -- "$locked" $how
	same "$how: exit code" 3 "$?"
	check "$how: the 100 ms that came before are measured" [ "$(info locked-$how sampled_cpu_ns)" -ge 90000000 ]
	same "$how: threads from then on" 1 "$(info locked-$how threads)"
	check "$how: its line says why: $(hpct-slice locked-$how.hpct --op unmonitored --format tsv | tail -n 1)" \
		grep -q 'unmonitored.*seccomp' <(hpct-slice locked-$how.hpct --op unmonitored --format tsv)
	same "$how: so does hpct-info" 1 "$(info locked-$how threads_unmonitored)"
	check "$how: the summary says so: $(cat summary)" grep -q '^unmonitored: 1 threads' summary
done
record refused -- "$locked" errno
same "errno: exit code" 3 "$?"
same "errno: threads" 2 "$(info refused threads)"

# A filter that kills for asking what a descriptor is: nothing is asked, the process stays measured.
record asks -- "$locked" descriptors
same "descriptors: exit code" 3 "$?"
same "descriptors: both threads are measured to their ends" 0 "$(info asks threads_unmonitored)"
