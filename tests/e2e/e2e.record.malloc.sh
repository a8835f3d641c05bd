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
