#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that tries to call exec again and again as it begins, in vain, and goes on: whatever the collector found
# of its switch rings meanwhile, it is seen to wait from then on.
. "$(dirname -- "$0")/expect.sh"
need gcc
cat >vain.c <<'END'
#include <time.h>
#include <unistd.h>
int main(void)
{
	char *const words[] = {"none", NULL};
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		execv("/nonexistent/none", words);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 30000000);
	for (;;)
		usleep(10000);
}
END
gcc -O2 -o vain vain.c || skip "no program can be built"
record probe -- true || fail "true does not end well"
[ "$(info probe switches_refused)" = 0 ] || skip "the kernel allows no switch records here: $(info probe switches_refused)"

waits() { # it is seen to wait, by the kernel's word
	[ "$(hpct-slice vain.hpct --op blocked --format tsv 2>/dev/null | tsv '
		$c["end_ns"] != "" && $c["end_ns"] - $c["begin_ns"] > 5e6 { n++ } END { print n + 0 }')" -ge 5 ]
}
for attempt in {1..12}; do # one in five came in the middle of an exec
	rm -rf vain.hpct
	hpct-record -o vain.hpct -- ./vain &
	launcher=$!
	await waits
	told=$?
	kill "$launcher"
	wait "$launcher"
	[ "$told" = 0 ] || { fail "attempt $attempt: its waits are not told" && break; }
done
