#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whatever is sent to hpct-record, alone or with all of its group or job, the program gets once, and nobody else.
. "$(dirname -- "$0")/expect.sh"
need gcc
set -m # each job is a group of its own, and of this session
cat >counts.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static volatile sig_atomic_t count[65];
static void on(int number) { count[number]++; }
/* Counts what comes until SIGUSR2 does, whatever was blocked. With a word it leaves SIGTSTP to the system. */
int main(int argc, char **argv)
{
	static const int all[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGUSR2, SIGTSTP};
	sigset_t none, blocked;

	(void)argv;
	sigfillset(&blocked);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (argc < 2 || all[i] != SIGTSTP)
			signal(all[i], on);
	puts("ready"), fflush(stdout);
	while (!count[SIGUSR2])
		sigsuspend(&none);
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		printf("%s %d\n", strsignal(all[i]), count[all[i]]);
	return 5;
}
END
gcc -O1 -o counts counts.c || fail "counts.c"

# What no test meets by chance: hpct-record where the program is there and the witness is not yet, and a fault of its own.
cat >meets.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
/* Becomes argv[2]..., which gets SIGTERM at its vfork: it alone or its group. */
static int at_vfork(char **argv)
{
	pid_t target = getpid();
	int go[2], status, sent = 0;

	if (pipe(go))
		return 1;
	if (fork()) {
		close(go[1]);
		read(go[0], &status, 1);
		close(go[0]);
		execvp(argv[2], argv + 2);
		return 1;
	}
	setpgid(0, 0);
	if (ptrace(PTRACE_SEIZE, target, 0, PTRACE_O_TRACEVFORK))
		return 1;
	close(go[1]), close(go[0]);
	while (!sent) {
		int number = 0;

		if (waitpid(target, &status, __WALL) != target || !WIFSTOPPED(status))
			return 1;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_VFORK << 8))
			sent = !kill(strcmp(argv[1], "group") ? target : -target, SIGTERM);
		else if (!(status >> 16))
			number = WSTOPSIG(status);
		ptrace(PTRACE_CONT, target, 0, number);
	}
	return 0; /* which lets go of both */
}
static int fault(pid_t target)
{
	siginfo_t info;
	int status;

	if (ptrace(PTRACE_SEIZE, target, 0, 0) || kill(target, SIGSEGV) || waitpid(target, &status, __WALL) != target ||
		ptrace(PTRACE_GETSIGINFO, target, 0, &info))
		return 1;
	info.si_code = SEGV_MAPERR;
	return ptrace(PTRACE_SETSIGINFO, target, 0, &info) || ptrace(PTRACE_DETACH, target, 0, SIGSEGV);
}
int main(int argc, char **argv) { return argc == 2 ? fault(atoi(argv[1])) : at_vfork(argv); }
END
gcc -O1 -w -o meets meets.c || fail "meets.c"

has_no_signal_helper() { ! pgrep -g "$launcher" -x hpct-signals >/dev/null; }
begin() { # RUN [WORD] : records it in a group of its own, started by $by; $launcher, $program, $collector
	rm -f "$1.out"
	${by-} hpct-record -o "$1.hpct" -- ./counts "${@:2}" >"$1.out" 2>"$1.err" &
	launcher=$!
	await grep -qs ready "$1.out"
	program=$(pgrep -P "$launcher" -x counts)
	await pgrep -P "$launcher" -x hpct-signals >/dev/null
	await has_collector "$1"
	collector=$(info "$1" collector_pid)
}
has_collector() { # RUN : its store is there, and says who writes it
	[ -n "$(info "$1" collector_pid 2>/dev/null)" ]
}
over() { # RUN CODE : asks it to end, by what comes after all else, which tells what it had got
	local got=0
	[ -z "$program" ] || kill -USR2 "$launcher"
	wait "$launcher" || got=$?
	same "$1: exit code" "$2" "$got"
	same "$1: stderr" "" "$(cat "$1.err")"
	same "$1: the run" complete "$(info "$1" state)"
	same "$1: samples lost" 0 "$(info "$1" lost)"
}
is_in() { # STATE PID
	[ "$(awk '{ sub(/.*\) /, ""); print $1 }' "/proc/$2/stat" 2>/dev/null)" = "$1" ]
}
has_caught() { # NUMBER PID : it does not wait there any longer
	local pending
	pending=$(awk '$1 == "ShdPnd:" { print $2 }' "/proc/$2/status")
	[ $((0x$pending >> ($1 - 1) & 1)) -eq 0 ]
}
heard() { # NUMBER : hpct-record has dealt with it; it blocks it until then
	await has_caught "$1" "$launcher"
	await is_in S "$launcher"
}

# To hpct-record alone, to its group, and to each process of the job as a batch system does.
begin alone
kill -INT "$launcher"
over alone 5
same "alone: SIGINT" "Interrupt 1" "$(grep Interrupt alone.out)"

# Who has started hpct-record may have blocked it.
if env --block-signal=TERM true 2>/dev/null; then
	by="env --block-signal=TERM" begin blocked
	kill -TERM "$launcher"
	heard 15
	over blocked 5
	same "blocked: SIGTERM" "Terminated 1" "$(grep Terminated blocked.out)"
fi

# In the moment in which the program is there and the witness is not yet; it blocks the signal until it counts.
if env --block-signal=TERM true 2>/dev/null; then
	for whom in alone group; do
		by="env --block-signal=TERM ./meets $whom" begin "early_$whom"
		heard 15
		over "early_$whom" 5
		same "early_$whom: SIGTERM" "Terminated 1" "$(grep Terminated "early_$whom.out")"
	done
fi

# A witness that someone has stopped or killed: what the group was sent is known by the one, and the other lost.
begin stopped
kill -STOP "$(pgrep -P "$launcher" -x hpct-signals)"
await is_in T "$(pgrep -P "$launcher" -x hpct-signals)"
kill -TERM -- "-$launcher"
heard 15
over stopped 5
same "stopped: SIGTERM" "Terminated 1" "$(grep Terminated stopped.out)"
begin unwitnessed
kill -KILL "$(pgrep -P "$launcher" -x hpct-signals)"
for signal in 2 15; do
	kill -"$signal" "$launcher"
	heard "$signal"
done
over unwitnessed 5
same "unwitnessed: what the program got of two" 2 "$(awk '/^(Term|Interrupt)/ { n += $NF } END { print n }' unwitnessed.out)"

# What was sent to the program by looking for hpct-record's children: not to keep from it what comes later.
begin children
children=$launcher
pkill -INT -P "$launcher"
children_ns=$(date +%s%N)

begin group
for signal in 1 2 15 10 14; do
	kill -"$signal" -- "-$launcher"
	heard "$signal"
done
over group 5
printf '%s\n' ready 'Hangup 1' 'Interrupt 1' 'Terminated 1' 'User defined signal 1 1' 'Alarm clock 1' 'User defined signal 2 1' \
	'Stopped 0' >wanted
same_file "group: what the program got" wanted group.out

begin job
for signal in 10 15; do
	# shellcheck disable=SC2046
	kill -"$signal" $(pgrep -P "$launcher" -x hpct-signals) "$launcher" "$program" "$collector"
	heard "$signal"
done
over job 5
same "job: what the program got of two" 2 "$(awk '/^(Term|User defined signal 1)/ { n += $NF } END { print n }' job.out)"

is_long_ago() { [ $(($(date +%s%N) - children_ns)) -gt 3000000000 ]; }
await is_long_ago
launcher=$children
program=$(pgrep -P "$launcher" -x counts)
kill -INT "$launcher"
over children 5
same "children: SIGINT" "Interrupt 2" "$(grep Interrupt children.out)"

# Stops: asked of hpct-record the program stops, then hpct-record does; one that does not follow goes on.
begin stops follows
kill -TSTP "$launcher"
check "stops: the program" await is_in T "$program"
check "stops: hpct-record" await is_in T "$launcher"
kill -CONT "$launcher"
check "stops: the program goes on" await is_in S "$program"
over stops 5
begin goes_on
kill -TSTP "$launcher"
heard 20
check "goes_on: hpct-record does not stop" await is_in S "$launcher"
over goes_on 5
same "goes_on: it got it" "Stopped 1" "$(grep Stopped goes_on.out)"

# A terminal that is closed: what was begun in it, with no shell around, hears of it alone.
if python=$(command -v python3) && "$python" -c 'import pty' 2>/dev/null; then
	cat >closes.py <<'END'
import os, pty, sys
pid, terminal = pty.fork()
if not pid:
    os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
while b"ready" not in seen:
    seen += os.read(terminal, 100)
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
	cat >ready.c <<'END'
#include <unistd.h>
int main(void) { write(1, "ready\n", 6); for (;;) pause(); }
END
	gcc -O1 -w -o ready ready.c || fail "ready.c"
	same "closed: bare" -1 "$("$python" closes.py ./ready)"
	same "closed: how it ends" -1 "$(timeout 120 "$python" closes.py hpct-record -o closed.hpct -- ./ready)"
	same "closed: the run" complete "$(info closed state)"
fi

# A fault's signal, sent: the program dies of it, and so does hpct-record.
begin fault
kill -SEGV "$launcher"
program=
over fault 139 2>/dev/null

# A fault of our own leaves the program running, measured to its end.
begin crashed
if ./meets "$launcher"; then
	kill -SEGV "$launcher" # by what has faulted, once more
	wait "$launcher" 2>/dev/null
	same "crashed: hpct-record" 139 "$?"
	await has_no_signal_helper
	kill -USR2 "$program"
	check "crashed: the program's end" await grep -q 'User defined signal 2 1' crashed.out
	is_crashed_complete() { [ "$(info crashed state)" = complete ]; }
	check "crashed: the run" await is_crashed_complete
else
	echo "no process may trace another here"
	over crashed 5
fi

# Who kills hpct-record means the program; by their names only what is the program's is found.
begin killed
same "what is called as the program is" "$program" "$(pgrep -x counts -g "$launcher" | xargs)"
same "the collector is not called so" hpct-collector "$(tr '\0' '\n' <"/proc/$collector/cmdline" | head -n 1)"
kill -KILL "$launcher"
wait "$launcher" 2>/dev/null
gone() { ! kill -0 "$program" 2>/dev/null || is_in Z "$program"; }
check "killed: the program is left" await gone
is_complete() { [ "$(info killed state)" = complete ]; }
check "killed: the run" await is_complete
