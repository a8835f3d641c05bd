#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A debugger in the measured program: breakpoints and stacks are as ever, the program ends as it would, samples come.
. "$(dirname -- "$0")/expect.sh"
need gcc gdb
cat >debugged.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static volatile unsigned long x;
__attribute__((noipa)) void work(void) { for (int i = 0; i < 20000; i++) x += i; }
int main(int argc, char **argv)
{
	struct timespec now;
	do {
		work();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < (argc > 1 ? atoi(argv[1]) : 600));
	puts("done");
	return 5;
}
END
gcc -g -O1 -o debugged debugged.c || fail "debugged.c"
export HOME=$work
gdb=(gdb -nx -q -batch -ex "handle SIG61 nostop noprint pass" -ex "break work" -ex "ignore 1 50")

gdb -nx -q -batch -ex run ./debugged 2>&1 | grep -q 'exited with code 05' || skip "gdb may not trace here"
record started -e CPUTIME@f1000 -- "${gdb[@]}" -ex run -ex bt -ex "delete 1" -ex cont ./debugged >out 2>&1
check "started: its stack: $(tail -n 3 out)" grep -q '#1 .* in main (' out
check "started: its end: $(tail -n 3 out)" grep -q 'exited with code 05' out
check "started: no stop but the breakpoint" [ "$(grep -c '^Program received' out)" -eq 0 ]
hpct-slice started.hpct --format tsv | tsv '$c["track"] == "samples" && $c["path"] ~ /^main;work/ { n++ } END { print n + 0 }' >count
check "started: $(cat count) samples of it" [ "$(cat count)" -ge 50 ]

# One that comes later, looks and goes. Stopping takes no time of the program's.
hpct-record -o looked.hpct -e CPUTIME@f1000 -- ./debugged 2000 >out &
launcher=$!
for _ in $(seq 50); do
	program=$(pgrep -P "$launcher" -x debugged) && break
	sleep 0.05
done
sleep 0.1
gdb -nx -q -batch -p "$program" -ex bt -ex detach >stack 2>&1
check "looked: its stack: $(tail -n 3 stack)" grep -q ' main (' stack
code=0
wait "$launcher" || code=$?
same "looked: exit code and output" "5 done" "$code $(cat out)"
same "looked: lost" 0 "$(info looked lost)"
weights_agree looked
