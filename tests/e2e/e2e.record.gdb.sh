#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A debugger in the measured program: breakpoints and stacks are as ever, the program ends as it would, samples come.
. "$(dirname -- "$0")/expect.sh"
need gcc gdb
cat >debugged.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long x;
__attribute__((noipa)) void work(void) { for (int i = 0; i < 20000; i++) x += i; }
int main(int argc, char **argv)
{
	struct timespec now;
	do {
		work();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while (argc > 1 ? access(argv[1], F_OK) : now.tv_sec * 1000 + now.tv_nsec / 1000000 < 600);
	puts("done");
	return 5;
}
END
gcc -g -O1 -o debugged debugged.c || fail "debugged.c"
export HOME=$work
gdb=(gdb -nx -q -batch -ex "handle SIG61 nostop noprint pass" -ex "break work" -ex "ignore 1 50")

grep -q 'exited with code 05' <(gdb -nx -q -batch -ex run ./debugged 2>&1) || skip "gdb may not trace here"
record started -e CPUTIME@f1000 -- "${gdb[@]}" -ex run -ex bt -ex "delete 1" -ex cont ./debugged >out 2>&1
check "started: its stack: $(tail -n 3 out)" grep -q '#1 .* in main (' out
check "started: its end: $(tail -n 3 out)" grep -q 'exited with code 05' out
check "started: no stop but the breakpoint" [ "$(grep -c '^Program received' out)" -eq 0 ]
hpct-slice started.hpct --format tsv | tsv '$c["track"] == "samples" && $c["path"] ~ /^main;work/ { n += $c["weight"] }
	END { printf "%.0f\n", n }' >weight
check "started: $(cat weight) ns of its 600 ms in samples of it" calc "$(cat weight) >= 0.4e9"

# Who has not told it of our signal is not stopped by it: what it debugs is left alone then, and that is said.
numbers() { sed 's/process [0-9]*/process N/' "$@"; }
gdb -nx -q -batch -ex run ./debugged 2>&1 | numbers >bare
record untold -e CPUTIME@f1000 -- gdb -nx -q -batch -ex run ./debugged 2>&1 | numbers >out
same_file "untold: output" bare out
check "untold: it is said" [ "$(info untold children_unmonitored)" -ge 1 ]
same "untold: samples of it" 0.000 "$(share untold work)"
# Nor is it where the timer is asked for by its name; then gdb was told elsewhere.
echo 'handle SIG61 nostop noprint pass' >.gdbinit
record told -e CPUTIME@f1000 --sampler timer -- gdb -q -batch -ex run ./debugged >out 2>&1
check "told: its end: $(tail -n 3 out)" grep -q 'exited with code 05' out
check "told: samples of it: $(share told work) %" calc "$(share told work) > 30"

# One that comes later, looks and goes. Stopping takes no time of the program's.
hpct-record -o looked.hpct -e CPUTIME@f1000 -- ./debugged looked >out &
launcher=$!
await sampled looked 10
program=$(pgrep -P "$launcher" -x debugged)
gdb -nx -q -batch -p "$program" -ex bt -ex detach >stack 2>&1
before=$(sample_count looked)
check "looked: it goes on, and is sampled" await sampled looked $((before + 10))
touch looked
check "looked: its stack: $(tail -n 3 stack)" grep -q ' main (' stack
code=0
wait "$launcher" || code=$?
same "looked: exit code and output" "5 done" "$code $(cat out)"
same "looked: lost" 0 "$(info looked lost)"
weights_agree looked
