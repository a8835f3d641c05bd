#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What ./build.sh package links with: a program asks for no symbol newer than glibc 2.28, needs no other library, and its
# constructors, its environment, its files and its threads are as ever.
. "$(dirname -- "$0")/expect.sh"
need gcc
portable=$HPCT_SOURCE/store/portable
python3 "$portable/glibc_stub.py" gcc stubs 2.28 || fail "no stubs"
same "loaders among them" "$([ "$(uname -m)" = aarch64 ] && echo ld-linux-aarch64.so.1)" "$(cd stubs && compgen -G 'ld-*.so.?')"
gcc -std=gnu11 -D_GNU_SOURCE -Wall -Werror -O2 -fPIE -c -o start.o "$portable/glibc_2_28.c" || fail "no start"
cat >program.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static int constructed;
__attribute__((constructor)) static void construct(int argc, char **argv) { constructed = argc + (argv[0] != NULL); }
__attribute__((destructor)) static void destruct(void) { puts("destructed"); }
static void *thread(void *argument) { return argument; }
int main(int argc, char **argv)
{
	struct stat status;
	pthread_t id;
	void *result = NULL;
	double wide = pow(2, argc + 9);
	setenv("SET_HERE", "1", 1);
	for (char **at = environ; *at; at++)
		result = *at;
	printf("%d %s %d %.0f %d ", constructed, (char *)result, stat(argv[0], &status) || !status.st_size, wide,
		fstat(1, &status) || lstat("/", &status));
	if (pthread_create(&id, NULL, thread, &status) || pthread_join(id, &result))
		return 1;
	printf("%d %d\n", result == &status, dlsym(RTLD_DEFAULT, "malloc") != NULL);
	return fflush(stdout) ? 2 : 3;
}
C
gcc -O2 -fPIE -c program.c &&
	gcc -pie -nodefaultlibs -Wl,--wrap=__libc_start_main -Lstubs program.o start.o -o program -Wl,--no-as-needed \
		stubs/libc.so.6 stubs/libdl.so.2 stubs/libpthread.so.0 -Wl,--as-needed stubs/libm.so.6 \
		"$(gcc -print-file-name=libc_nonshared.a)" -lgcc || fail "it does not link"
./program >out
same "exit code" 3 $?
same "what it prints" "2 SET_HERE=1 0 1024 0 1 1 destructed" "$(xargs <out)"
newest() { objdump -T "$1" | grep -o 'GLIBC_2[0-9.]*' | sort -Vu | tail -n 1; }
older() { [ "$(printf '%s\nGLIBC_2.28\n' "$1" | sort -V | tail -n 1)" = GLIBC_2.28 ]; }
check "its symbols are old: $(newest program)" older "$(newest program)"
check "the agent's are: $(newest "$HPCT_BIN/../lib/hpct/hpct-agent.so")" older "$(newest "$HPCT_BIN/../lib/hpct/hpct-agent.so")"
gcc -o here program.c -lm -ldl -pthread
check "this machine's own choice is newer, or is that old" [ "$(printf '%s\n%s\n' "$(newest here)" "$(newest program)" | sort -V | tail -n 1)" = "$(newest here)" ]
# The programs here are this machine's, but ask for no function that the archive's would not find (one that
# the compiler's own library asks for weakly aside).
{ nm -D --defined-only stubs/*.so*; nm --defined-only start.o; } | awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' | sort -u >there
for program in "$HPCT_BIN"/*; do
	objdump -T "$program" | awk '/\*UND\*.*GLIBC_/ && !/__x86_get_cpuid_feature_leaf/ { print $NF }' | sort -u >asked
	same "$(basename "$program"): functions of a newer glibc" "" "$(comm -23 asked there | xargs)"
done
# Thread-local memory of a preloaded library comes off every thread's stack, and dlopen has little of it left.
tls=$(($(readelf -lW "$HPCT_BIN/../lib/hpct/hpct-agent.so" | awk '$1 == "TLS" { print $6 }')))
check "the agent's thread-local memory: $tls bytes" [ "$tls" -gt 0 -a "$tls" -le 256 ]
