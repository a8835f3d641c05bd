#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs under sanitizers: the address sanitizer's library refuses to run behind another, wherever it comes from, and
# keeps its place; what was put there for one program is not there for the next. The thread sanitizer's are left alone.
. "$(dirname -- "$0")/expect.sh"
need gcc
export ASAN_OPTIONS=detect_leaks=0 # it stops the program like a debugger, which not every container allows
cat >work.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static void *spend(void *bad)
{
	volatile char *room = malloc(100);
	struct timespec t;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_nsec < 100000000);
	free((void *)room);
	return bad ? (void *)(long)room[3] : NULL;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	(void)argv;
	puts("works");
	pthread_create(&thread, NULL, spend, NULL);
	pthread_join(thread, NULL);
	fflush(stdout);
	spend(argc > 1 ? &thread : NULL);
	return 3;
}
END
gcc -g -fsanitize=address -o asan work.c -pthread 2>err && ./asan >bare.out 2>&1
[ $? -eq 3 ] || skip "no program with gcc's address sanitizer runs here: $(head -n 1 err)"
library=$(ldd asan | awk '/libasan/ { print $3 }')
both asan ./asan
same "asan: exit code" 3 "$measured"
same "asan: threads" 2 "$(info asan threads)"
weights_agree asan
code "asan: what it finds" 1 record found -- ./asan found
check "asan: it says so: $(head -n 3 err)" grep -q 'ERROR: AddressSanitizer: heap-use-after-free' err

# What counts of a script is its interpreter.
printf '#!%s\n' "$work/asan" >script && chmod +x script
code "a script's interpreter, measured" 1 record script -- ./script # which is an argument: asan finds something
check "a script's interpreter: it runs" grep -q '^works' out
code "a script's below a shell" 1 record below -- sh -c './script; exit $?'
check "a script's below a shell: it runs" grep -q '^works' out

# A shell between, which is not linked with it: what it starts is as it was.
record shell -- sh -c './asan; sh -c "echo \$LD_PRELOAD"; LD_PRELOAD=$0 sh -c "cat /proc/self/maps; echo \$LD_PRELOAD"' \
	"$library" >measured.out
same "a shell's: exit code" 0 "$?"
same "a shell's: the next has no sanitizer" 0 "$(sed -n 2p measured.out | grep -c asan)"
check "a shell's: its own is loaded" grep -q "r-x.*libasan" measured.out
check "a shell's: its own is first: $(tail -n 1 measured.out)" grep -q "^$library:" <(tail -n 1 measured.out)
LD_PRELOAD=$library code "the user's own" 7 record user -- "$samples/exits" return 7
same "the user's own: stderr" "" "$(cat err)"
weights_agree user

gcc -g -fsanitize=thread -o tsan work.c -pthread 2>err && ./tsan >bare.out 2>&1
if [ $? -eq 3 ]; then
	code "tsan" 3 record tsan -- ./tsan
	sentence "tsan"
	check "tsan: it says why: $(cat err)" grep -q 'thread sanitizer' err
	record inside -- sh -c './tsan; exit $?' >measured.out
	same "tsan below a shell: exit code" 3 "$?"
	same_file "tsan below a shell: stdout" bare.out measured.out
	library=$(gcc -print-file-name=libtsan.so)
	LD_PRELOAD=$library "$samples/threads8" >bare.out 2>bare.err
	bare=$?
	record preloaded -- env LD_PRELOAD="$library" "$samples/threads8" >measured.out 2>measured.err
	same "tsan preloaded: exit code" "$bare" "$?"
	same "tsan preloaded: races" "$(grep -c WARNING bare.err)" "$(grep -c WARNING measured.err)"
else
	echo "no program with gcc's thread sanitizer runs here: $(head -n 1 err)"
fi
if command -v clang-14 >/dev/null && clang-14 -fsanitize=thread -o ctsan work.c -pthread 2>err; then
	./ctsan >bare.out 2>&1
	code "clang's tsan" "$?" record ctsan -- ./ctsan
	check "clang's tsan: it says why: $(cat err)" grep -q 'thread sanitizer' err
fi
