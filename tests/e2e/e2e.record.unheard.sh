#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that could carry the agent, but whose agent could not start or not be heard: they run as ever, and it is said.
. "$(dirname -- "$0")/expect.sh"
unheard() { # RUN REASON : of it there is an unmonitored stretch, and one process more is counted
	same "$1: processes not measured" 1 "$(info "$1" children_unmonitored)"
	hpct-slice "$1.hpct" --op unmonitored --format tsv | tsv '$c["attributes"] ~ /'"$2"'/ { n++ } END { exit n != 1 }' ||
		fail "$1: no 'unmonitored' span: $(hpct-slice "$1.hpct" --op unmonitored --format tsv)"
	same "$1: the run" complete "$(info "$1" state)"
}

# Too little room for rings.
code "ulimit -f" 7 bash -c 'ulimit -f 100 && exec hpct-record -o limitf.hpct -- "$1" return 7 0.02' - "$samples/exits"
sentence "ulimit -f"
check "ulimit -f: $(cat err)" grep -q 'exits ran unmeasured: .*ulimit' err
unheard limitf "agent could not start"

# No descriptor to send them by. (Where the collector has too few: e2e.record.descriptors.)
code "ulimit -n" 7 record limitn -- bash -c 'exec 3>&- 4>&- 5>&- 6>&-; ulimit -n 4 && exec "$1" return 7 0.02' - "$samples/exits"
unheard limitn "agent could not start"

# One that was killed as soon as its exec was done, measured until then, and one without an agent of its own.
cat >kills.c <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
static int becomes(void *name)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	execl(name, name, "ended", (char *)0);
	_exit(1);
}
static int stops(void *nothing) { return ptrace(PTRACE_TRACEME, 0, 0, 0) || raise(SIGSTOP); }
int main(int argc, char **argv)
{
	static char stack[65536];
	pid_t child = strcmp(argv[1], "exec") ? clone(stops, stack + sizeof(stack), SIGCHLD, 0) : fork();
	int status;
	if (!child)
		becomes(argv[0]);
	waitpid(child, &status, 0); /* it stops there */
	usleep(600000); /* the collector looks at it, and so learns how it ends */
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? 7 : 1;
}
END
cat >reaps.c <<'END'
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 50; i++) {
		pid_t child = fork();
		if (!child)
			for (;;)
				;
		kill(child, SIGKILL);
		waitpid(child, 0, 0);
	}
	return 7;
}
END
if gcc -w -o kills kills.c; then
	for way in exec clone; do
		code "killed, $way" 7 record "killed_$way" -- ./kills $way
		unheard "killed_$way" "killed before its agent registered"
	done
	# Of who was gone before anybody looked nobody knows how it has ended: nothing is said that may be false.
	gcc -w -o reaps reaps.c && code "killed at once" 7 record at_once -- ./reaps
	same "killed at once: said to be the agent's fault" "" \
		"$(hpct-slice at_once.hpct --op unmonitored --format tsv | grep 'reason=its agent could not start')"
fi

# A child that shares the memory of its parent, whose agent it must not use.
cat >shares.c <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
static int spins(void *nothing)
{
	struct timespec now;
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (!now.tv_sec && now.tv_nsec < 100000000);
	return nothing ? 1 : 7;
}
int main(void)
{
	static char stack[65536];
	int status;
	waitpid(clone(spins, stack + sizeof(stack), CLONE_VM | SIGCHLD, 0), &status, 0);
	return WEXITSTATUS(status);
}
END
if gcc -w -o shares shares.c; then
	code "shares memory" 7 record shares -- ./shares
	same "shares memory: processes not measured" 1 "$(info shares children_unmonitored)"
fi

# One that is heard, alone, after an exec, and after one that failed.
code "heard" 7 record heard -- "$samples/exits" return 7 0.02
same "heard: stderr" "" "$(cat err)"
same "heard: processes not measured" 0 "$(info heard children_unmonitored)"
code "exec" 7 record exec -- env "$samples/exits" return 7 0.02
same "exec: stderr" "" "$(cat err)"
same "exec: processes not measured" 0 "$(info exec children_unmonitored)"
code "exec, failed" 7 record failed -- bash -c 'shopt -s execfail; exec ./no-such-program; exit 7'
same "exec, failed: processes not measured" 0 "$(info failed children_unmonitored)"
if gcc -static -o static -x c - 2>/dev/null <<<'int main(void) { return 7; }'; then
	code "exec of a static program" 7 record static -- bash -c 'exec ./static'
	same "exec of a static program: processes not measured" 1 "$(info static children_unmonitored)"
	# The kernel refuses arguments that are too long, when it has read the program.
	code "exec of a static program, failed" 7 record toolong -- bash -c 'shopt -s execfail
		exec ./static "$(printf "%200000d" 1)"; exit 7' 2>/dev/null
	same "exec of a static program, failed: processes not measured" 0 "$(info toolong children_unmonitored)"
	same "exec of a static program, failed: time not measured" "" \
		"$(hpct-slice toolong.hpct --op unmonitored --format tsv | tsv '$c["op"] == "unmonitored"')"
fi

# The loader, called by its name, loads the agent as it loads all else.
loader=$(readelf -lW "$samples/exits" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
if [ -n "$loader" ]; then
	code "the loader" 7 record loader -- "$loader" "$samples/exits" return 7 0.3
	same "the loader: stderr" "" "$(cat err)"
	check "the loader: its program is measured" calc "$(share loader spend) > 50"
	code "the loader, from a shell" 7 record child -- bash -c '"$1" "$2" return 7 0.02; exit $?' - "$loader" "$samples/exits"
	same "the loader, from a shell: processes not measured" 0 "$(info child children_unmonitored)"
fi

# valgrind has its own processor for a program, and says so of what it does not know.
if valgrind -q "$samples/exits" return 7 0 >/dev/null 2>&1; [ $? -eq 7 ]; then
	code "under valgrind" 7 record valgrind -- valgrind -q "$samples/exits" return 7 0.02
	same "under valgrind: stderr" "" "$(cat err)"
	same "under valgrind: processes not measured" 1 "$(info valgrind children_unmonitored)"
fi

# Another user's program may not talk to our collector.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	code "another user" 7 record user -- setpriv --reuid 65534 --clear-groups bash -c 'exit 7'
	unheard user "agent could not start"
fi
