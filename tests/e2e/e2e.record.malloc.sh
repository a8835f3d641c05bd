#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sampling handlers allocate nothing: with a malloc that ends the program if one did, programs that allocate all the time,
# throw, load libraries and make threads end as ever.
. "$(dirname -- "$0")/expect.sh"
strict=$HPCT_BIN/../tests/strict_malloc.so
cat >blocked.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	unsigned long mask = 1ul << 60;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, 8);
	free(malloc(100));
	return 0;
}
END
if command -v cc >/dev/null; then
	cc -O0 blocked.c -o blocked || fail "blocked.c"
	code "strict_malloc sees a handler" 134 env LD_PRELOAD="$strict" bash -c './blocked; exit $?'
fi
strictly() { # RUN PROGRAM... : recorded ten thousand times a second, as far as the kernel goes
	local run=$1 got=0
	shift
	rm -f count
	LD_PRELOAD=$strict STRICT_MALLOC=$PWD/count record "$run" -e CPUTIME@f10000 -- "$@" >out 2>err || got=$?
	same "$run: exit code" 0 "$got"
	check "$run: $(head -n 2 err | xargs)" [ ! -s err ]
	check "$run: the strict malloc was there" [ -s count ]
	echo "$run: $(sort -n count | tail -n 1) calls at most, $(sample_count "$run") samples"
}
strictly threads "$samples/threads8" 0.05
strictly control "$samples/control" 0.1
strictly jit "$samples/jit" 0.2 gone
strictly deep "$samples/million" 0.1 2
[ ! -x "$samples/templates" ] || strictly templates "$samples/templates" 0.1
strictly loading "$HPCT_BIN/../tests/agent_probe" loading 100 3
if command -v sort >/dev/null; then
	seq 200000 | shuf --random-source=<(yes) >numbers
	strictly sort sort --parallel=4 -n numbers
fi
[ ! -x /usr/bin/python3 ] || strictly python /usr/bin/python3 -c '
import threading
def work():
    d = {}
    for i in range(300000):
        d[i % 1000] = str(i) * 3
threads = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]'

# Nor does the agent's start: a program's own malloc may not be ready before main (GNU Common Lisp's).
cat >early.c <<'END'
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static char heap[1 << 20];
static size_t used;
static int is_ready;
void *malloc(size_t size)
{
	char *at = heap + used;
	if (!is_ready)
		_exit(9);
	used += (size + 15) & ~(size_t)15;
	return used <= sizeof heap ? at : NULL;
}
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t s) { return malloc(n * s); }
void *realloc(void *p, size_t s) { void *n = malloc(s); return n && p ? memcpy(n, p, s) : n; }
int main(void) { is_ready = 1; return malloc(100) ? 7 : 1; }
END
if command -v cc >/dev/null; then
	cc -w early.c -o early || fail "early.c"
	code "a malloc that is ready in main, bare" 7 ./early
	code "a malloc that is ready in main" 7 record early -- ./early
	code "a malloc that is ready in main, above the tick" 7 record early_fast -e CPUTIME@f5000 -- ./early
fi
