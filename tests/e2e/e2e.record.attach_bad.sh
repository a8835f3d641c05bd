#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-record -p PID of what cannot be measured, or hardly, from outside and by an agent: processes of another user, of a
# container, that end while they are attached to, that fork and exec all the time. Each gives one sentence and exit code 125, or a
# run that is sound; the programs check themselves, and no recorder, agent or run is left behind.
. "$(dirname -- "$0")/expect.sh"
need gcc
ways=(outside)
[ "$(uname -m)" != x86_64 ] || ways+=(inject)

begin() { # WAY : $options
	options=()
	[ "$1" = outside ] || options=(--inject)
}
tried() { # SENTENCE PID OPTION... : measures it for a moment; $code
	local sentence=$1 pid=$2
	shift 2
	rm -rf bad.hpct
	code=0
	hpct-record -p "$pid" "${options[@]}" -o bad.hpct "$@" 2>err || code=$?
	case $code in
	125)
		same "$sentence: lines of the refusal" 1 "$(wc -l <err)"
		[ ! -e bad.hpct ] || fail "$sentence: a refusal leaves a run behind: $(cat err)"
		;;
	0) same "$sentence: --check" sound "$(hpct-info bad.hpct --check --format tsv 2>&1 | tsv '$c["key"] == "check" { print $c["value"] }')" ;;
	*) fail "$sentence: exit code $code: $(cat err)" ;;
	esac
}
forbidden() { grep -q 'forbidden\|may not be traced' err; }

cat >forks.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t over;
static void handle(int number) { (void)number; over = 1; }
int main(void)
{
	long forks = 0, wrong = 0;
	signal(SIGUSR1, handle);
	while (!over || forks <= 100) {
		int status = 0;
		pid_t child = fork();
		if (!child) {
			for (volatile int i = 0; i < 20000; i++) ;
			_exit(7);
		}
		wrong += child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7;
		forks++;
	}
	printf("%s, wrong %ld\n", forks > 100 ? "many" : "few", wrong);
	return 3;
}
END
cat >execs.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t over;
static void handle(int number) { (void)number; over = 1; }
int main(int argc, char **argv)
{
	sigset_t ours;
	(void)argc;
	signal(SIGUSR1, handle);
	sigemptyset(&ours);
	sigaddset(&ours, SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &ours, NULL);
	for (volatile long i = 0; i < 3000000; i++) ;
	sigprocmask(SIG_BLOCK, &ours, NULL);
	if (!over) /* one that has come since waits for the next program */
		execl(argv[0], argv[0], (char *)NULL);
	puts("done");
	return 3;
}
END
cat >thread_execs.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile sig_atomic_t over;
static sigset_t ours;
static void handle(int number) { (void)number; over = 1; }
static void *works(void *path)
{
	pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
	for (volatile long i = 0; i < 3000000; i++) ;
	pthread_sigmask(SIG_BLOCK, &ours, NULL);
	if (!over) /* gives this thread the process's number */
		execl(path, path, (char *)NULL);
	puts("done");
	exit(3);
}
int main(int argc, char **argv)
{
	pthread_t thread;
	int from[2], to[2];
	(void)argc;
	sigemptyset(&ours);
	sigaddset(&ours, SIGUSR1);
	sigprocmask(SIG_BLOCK, &ours, NULL);
	signal(SIGUSR1, handle);
	if (pipe2(from, O_CLOEXEC) || pipe2(to, O_CLOEXEC) || pthread_create(&thread, NULL, works, argv[0]))
		return 1;
	for (;;) /* a wait in which no agent is loaded: it has to be the other thread */
		tee(from[0], to[1], 1, 0);
}
END
cat >left.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static volatile sig_atomic_t over;
static void handle(int number) { (void)number; over = 1; }
__attribute__((noinline)) static void *goes_on(void *unused)
{
	while (!over)
		for (volatile int i = 0; i < 20000; i++) ;
	puts("done");
	exit(3);
	return unused;
}
int main(void)
{
	pthread_t thread;
	signal(SIGUSR1, handle);
	if (pthread_create(&thread, NULL, goes_on, NULL))
		return 1;
	pthread_exit(NULL); /* leaves the other one alone */
}
END
cat >forks_and_waits.c <<'END'
#include <unistd.h>
int main(void)
{
	if (!vfork()) {
		pause();
		_exit(0);
	}
	return 0;
}
END
gcc -O1 -o forks_and_waits forks_and_waits.c
gcc -O1 -g -o left left.c -pthread
gcc -O1 -o forks forks.c
gcc -O1 -o execs execs.c
gcc -O1 -o thread_execs thread_execs.c -pthread
has_handler() { (("0x$(sed -n 's/^SigCgt:\t//p' "/proc/$pid/status" 2>/dev/null)" >> 9 & 1)); }

stands_still() { # by an agent: a main thread that waits for a child of vfork, a cgroup that is frozen
	./forks_and_waits &
	pid=$!
	waits() { grep -q '^State:.D' "/proc/$pid/status"; }
	await waits
	tried "$way: a process in vfork" "$pid"
	same "$way: a process in vfork" 125 "$code"
	check "$way: it says so: $(cat err)" grep -q 'child of vfork\|may not be traced' err
	kill $(cat "/proc/$pid/task/$pid/children")
	wait "$pid"
	local group=/sys/fs/cgroup/freezer/hpct-test.$$ freeze=freezer.state yes=FROZEN no=THAWED
	[ -d /sys/fs/cgroup/freezer ] || group=/sys/fs/cgroup/hpct-test.$$ freeze=cgroup.freeze yes=1 no=0
	mkdir "$group" 2>/dev/null && [ -w "$group/$freeze" ] || { rmdir "$group" 2>/dev/null; return 0; }
	sleep 1000 &
	pid=$!
	echo "$pid" >"$group/cgroup.procs" && echo $yes >"$group/$freeze"
	is_held() { [ "$(cat "$group/$freeze")" = FROZEN ] || grep -qx 'frozen 1' "$group/cgroup.events" 2>/dev/null; }
	await is_held
	tried "$way: a frozen process" "$pid"
	same "$way: a frozen process" 125 "$code"
	check "$way: it says so: $(cat err)" grep -q 'cgroup is frozen' err
	echo $no >"$group/$freeze"
	kill "$pid"
	wait "$pid" 2>/dev/null
	rmdir "$group"
}

for way in "${ways[@]}"; do
	begin "$way"
	tried "$way: no such process" 4194304
	same "$way: no such process" 125 "$code"
	if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
		sleep 1000 &
		pid=$!
		code=0
		setpriv --reuid=65534 --regid=65534 --clear-groups "$(command -v hpct-record)" -p "$pid" "${options[@]}" \
			-o "$PWD/other.hpct" 2>err || code=$?
		same "$way: another user's process" 125 "$code"
		check "$way: it says whose: $(cat err)" grep -q 'belongs to user 0' err
		same "$way: another user's: lines" 1 "$(wc -l <err)"
		kill "$pid"
	fi
	[ ! -r /proc/2/stat ] || ! grep -q kthreadd /proc/2/stat || {
		tried "$way: a thread of the kernel" 2
		same "$way: a thread of the kernel" 125 "$code"
	}
	# The first process of a pid namespace, by its number here.
	unshare --user --map-root-user --pid --fork --mount-proc sleep 1000 2>/dev/null &
	parent=$!
	first() { pid=$(cat "/proc/$parent/task/$parent/children" 2>/dev/null) && pid=${pid% } && [ -n "$pid" ] &&
		[ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" = 'sleep 1000 ' ] || ! kill -0 "$parent" 2>/dev/null; }
	await first
	if [ -n "$pid" ]; then
		tried "$way: the first process of a container" "$pid" --for 200ms
		forbidden || [ "$way" = inject ] || same "$way: the first process of a container" 0 "$code"
		kill -0 "$pid" || fail "$way: the first process of a container has ended"
		kill -KILL "$pid"
	fi
	wait "$parent" 2>/dev/null
	(exec -a '' sleep 1000) &
	pid=$!
	has_no_name() { [ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" = ' 1000 ' ]; }
	await has_no_name
	tried "$way: a command without a name" "$pid" --for 200ms
	forbidden || same "$way: a command without a name" 0 "$code"
	kill "$pid"
	sh -c 'sleep 0 & exec sleep 1000' & # nobody waits for the first one
	parent=$!
	is_zombie() {
		pid=$(cat "/proc/$parent/task/$parent/children") && pid=${pid% } && [ -n "$pid" ] &&
			grep -q '^State:.Z' "/proc/$pid/status"
	}
	await is_zombie
	tried "$way: a zombie" "$pid"
	same "$way: a zombie" 125 "$code"
	check "$way: a zombie: it says so: $(cat err)" grep -q 'a zombie' err
	kill "$parent"
	./left >program.out &
	pid=$!
	has_left() { grep -q '^State:.Z' "/proc/$pid/status" && has_handler; }
	await has_left
	tried "$way: a process whose first thread has left" "$pid" --for 300ms
	if [ "$way" = inject ]; then
		same "$way: a process whose first thread has left" 125 "$code"
		check "$way: it says so: $(cat err)" grep -q 'first thread' err
	elif ! forbidden; then
		same "$way: a process whose first thread has left" 0 "$code"
		check "$way: no path of it" [ -n "$(hpct-slice bad.hpct --format tsv | grep -F goes_on)" ]
	fi
	kill -USR1 "$pid"
	code=0
	wait "$pid" || code=$?
	same "$way: a process whose first thread has left: exit code" 3 "$code"
	[ "$way" = outside ] || stands_still
	# Ends at any moment of the attaching.
	for after in 0.01 0.06 0.15 0.3; do
		sleep "$after" &
		tried "$way: a process that ends" $! --for 2s
	done
	for program in forks execs execs thread_execs thread_execs; do # by each look it may have become another program
		"./$program" >program.out &
		pid=$!
		await has_handler
		tried "$way: a program that $program" "$pid" --for 300ms
		[ "$way$program$code" != injectthread_execs125 ] ||
			check "$way: a program that $program: it says so: $(cat err)" grep -q 'another program again and again' err
		kill -USR1 "$pid"
		code=0
		wait "$pid" || code=$?
		same "$way: a program that $program: exit code" 3 "$code"
		case $program in
		forks) same "$way: what it checked" 'many, wrong 0' "$(cat program.out)" ;;
		*execs) same "$way: what it says" 'done' "$(cat program.out)" ;;
		esac
	done
done
none() { ! pgrep -f "hpct-(record|collector) .*$PWD/" >/dev/null; }
await none || fail "processes are left: $(pgrep -fa "hpct-(record|collector) .*$PWD/")"
