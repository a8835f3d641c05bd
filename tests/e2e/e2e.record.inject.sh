#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-record -p PID --inject: an agent is loaded into a program that works and checks itself, and leaves again; shares,
# weights, whole stacks, threads that begin later, Python; --stop and --start; Ctrl-C and kill -9 of the recorder, an exec, an
# exit; nothing is left but the library; what takes no agent, in one sentence each.
. "$(dirname -- "$0")/expect.sh"
need gcc
[ "$(uname -m)" = x86_64 ] || skip "--inject is for x86-64"
gcc -O1 -g -fomit-frame-pointer -o injected "$HPCT_SOURCE/tests/e2e/injected.c" -pthread -ldl || skip "injected.c is not built"
gcc -O1 -g -fomit-frame-pointer -o attached "$HPCT_SOURCE/tests/e2e/attached.c" -pthread || skip "attached.c is not built"

start() { # PROGRAM... : runs it, $pid, until its threads are there
	"$@" >program.out 2>&1 &
	pid=$!
	await is_started "$1"
}
is_started() { [ "$(tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | head -n 1)" = "$1" ] && [ "$(ls "/proc/$pid/task" | wc -l)" -ge 2 ]; }
has_agent() { grep -qx hpct-agent "/proc/$pid"/task/*/comm 2>/dev/null; }
has_none() { ! has_agent; }
inject() { # RUN OPTION... : into $pid, in the background; $recorder
	local run=$1
	shift
	hpct-record -p "$pid" --inject -o "$run.hpct" "$@" 2>"$run.err" &
	recorder=$!
	await has_begun "$run" || fail "$run: no agent begins: $(cat "$run.err")"
}
has_begun() { grep -q 'stood still for' "$1.err" || ! kill -0 "$recorder" 2>/dev/null; }
leaves() { # SENTENCE [SIGNAL] : the recorder, and with it the agent
	local code=0
	kill "-${2-INT}" "$recorder"
	wait "$recorder" || code=$?
	[ "${2-INT}" = KILL ] || same "$1: exit code of hpct-record" 0 "$code"
	await has_none || fail "$1: the agent's thread stays"
}
ends() { # SENTENCE OUTPUT : $pid as it would alone
	local code=0
	kill -USR1 "$pid"
	wait "$pid" || code=$?
	same "$1: exit code" 7 "$code"
	same "$1: output" "$2" "$(cat program.out)"
}
unchanged='interrupted 0, foreign signals 0, at work 1'
state() { # of $pid: what an agent must leave as it was
	ls "/proc/$pid/task" | wc -l
	ls -l "/proc/$pid/fd" | awk '{ print $9, $10, $11 }'
	cut -d' ' -f1-5,6- "/proc/$pid/maps"
	grep -E '^(Sig|Shd|Tracer|Seccomp)' "/proc/$pid/status" | grep -v SigQ
	grep -c . "/proc/$pid/timers"
}
shares() { # RUN : of the main thread
	local limit part
	hpct-slice "$1.hpct" -o main.hpct --streams thread=0
	limit=$(share_limit main)
	for part in 'burn_first 60' 'burn_second 30' 'burn_third 10'; do
		near "$1: share of ${part% *}" "${part#* }" "$(share main "${part% *}")" "$limit"
	done
	rm -rf main.hpct
}

# All that it sees, while the program checks itself.
start ./injected
inject busy -e CPUTIME@f1000
[ -s busy.err ] && ! grep -q forbidden busy.err || skip "$(cat busy.err)"
check "how long a thread stood still is told: $(cat busy.err)" grep -qE 'threads are measured; thread [0-9]+ stood still for [0-9.]+ ms, no other$' busy.err
await sampled busy 400
main_sampled() { [ "$(hpct-slice busy.hpct --format tsv --streams thread=0 | tsv '$c["track"] == "samples" { n++ } END { print n + 0 }')" -ge 1000 ]; }
await main_sampled
born() { [ "$(hpct-info busy.hpct --streams --format tsv | tsv '$c["kind"] == "cpu" { n++ } END { print n + 0 }')" -gt 8 ]; }
check "threads that begin later are measured" await born
leaves busy
same "state" complete "$(info busy state)"
same "sampler" timer "$(info busy sampler)"
samples=$(sample_count busy) partial=$(info busy partial_stacks)
check "$((samples - partial)) of $samples stacks are whole" calc "$samples > 0 && ($samples - $partial) * 100 >= 99 * $samples"
weights_agree busy all
shares busy
check "a thread that began later has its path" calc "$(hpct-slice busy.hpct --format tsv | tsv '$c["path"] ~ /is_born;turn;burn_/ { n++ } END { print n + 0 }') > 0"
check "a wait has its path" [ -n "$(hpct-slice busy.hpct --op blocked --format tsv | grep ';bears;')" ]
same "--check" sound "$(hpct-info busy.hpct --check --format tsv | tsv '$c["key"] == "check" { print $c["value"] }')"

ends "a program that checks itself" 'interrupted 0, foreign signals 0, wrong 0, idle 0'

# Nothing is left but the library; the recorder's death is an end like any other, and the run is whole.
start ./attached
inject first
await sampled first 20
leaves first
state >before
inject killed
await sampled killed 50
leaves killed KILL
state >after
same_file "descriptors, threads, mappings, signals, timers of the program" before after
same "no signal handler is left" 0 "$((0x$(sed -n 's/^SigCgt:\t//p' "/proc/$pid/status") >> 60 & 1))"
is_complete() { [ "$(info killed state)" = complete ]; }
await is_complete || fail "the run of a killed recorder is not completed"

# A thread that sleeps from before to after is blocked all that time, and its path is read.
cat >sleeper.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static void *naps(void *nothing) { for (;;) pause(); return nothing; }
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, naps, NULL);
	for (volatile long i = 0;; i++) ;
}
END
gcc -O1 -o sleeper sleeper.c -pthread
attached=$pid
start ./sleeper
inject sleeper
await sampled sleeper 100
leaves sleeper
kill -KILL "$pid"
wait "$pid" 2>/dev/null
pid=$attached
check "a thread that sleeps all the time is blocked: $(hpct-slice sleeper.hpct --format tsv --op blocked --streams thread=1)" calc "$(hpct-slice sleeper.hpct --format tsv --streams thread=1 | tsv '
	$c["op"] == "monitored" { all = $c["end_ns"] - $c["begin_ns"] }
	$c["op"] == "blocked" && $c["path"] ~ /naps/ { n += $c["end_ns"] - $c["begin_ns"] } END { print all ? n / all : 0 }') > 0.5"

# Off and on.
inject paused
await sampled paused 50
code "--stop" 0 hpct-record --stop paused
is_quiet() { local count && count=$(sample_count paused) && sleep 1.2 && [ "$count" = "$(sample_count paused)" ]; }
check "after --stop no samples come" await is_quiet
code "--start" 0 hpct-record --start paused
await sampled paused 150
leaves paused
weights_agree paused all
ends "off and on" "$unchanged"

# An exec, and an exit, while it is measured.
start ./attached exec
inject exec
await sampled exec 20
kill -USR2 "$pid"
code=0
wait "$recorder" || code=$?
same "an exec ends the recording" 0 "$code"
await is_started ./attached
ends "an exec" "$unchanged"
start ./attached
inject exit
await sampled exit 20
ends "an exit" "$unchanged"
code=0
wait "$recorder" || code=$?
same "an exit ends the recording" 0 "$code"
weights_agree exit all

# Python, of any version that the agent knows.
if command -v python3 >/dev/null; then
	cat >work.py <<'END'
import signal, threading
def burn(n):
    s = 0
    for i in range(n):
        s += i
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
threading.Thread(target=lambda: threading.Event().wait(), daemon=True).start()
while signal.SIGUSR1 not in signal.sigpending():
    burn(10000)
END
	start python3 work.py
	inject python
	await sampled python 100
	leaves python
	check "frames of Python" calc "$(hpct-slice python.hpct --format tsv | tsv '$c["track"] == "samples" { all++ } $c["path"] ~ /<module>;burn/ { n++ } END { print all ? n / all : 0 }') > 0.8"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
fi

# What takes no agent.
doctor() { # PID : its row
	hpct-doctor -p "$1" --format tsv | tsv '$c["capability"] ~ /--inject/ { print $c["state"], $c["reason"] }'
}
refused() { # WORDS OPTION... : exit code 125, one sentence, no run
	local words=$1
	shift
	code "refusal of '$*'" 125 hpct-record -o refused.hpct "$@"
	sentence "refusal of '$*'"
	check "'$*' is refused with '$words': $(cat err)" grep -q -- "$words" err
	[ ! -e refused.hpct ] || fail "'$*' leaves a run behind"
	rm -rf refused.hpct
}
refused 'goes with -p' --inject true
refused 'measures all from outside' -a --inject
refused 'leave one out' -p "$$" --inject --stack-bytes 8192
refused 'only CPUTIME' -p "$$" --inject -e page-faults@1
refused 'there is no process' -p 4194304 --inject
sleep 1000 &
stopped=$!
kill -STOP "$stopped"
refused 'it is stopped' -p "$stopped" --inject
check "hpct-doctor -p says so: $(doctor "$stopped")" grep -q '^no .*it is stopped' <<<"$(doctor "$stopped")"
kill -KILL "$stopped"
start ./attached
cat >tracer.c <<'END'
#include <stdlib.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <unistd.h>
int main(int argc, char **argv) { if (argc < 2 || ptrace(PTRACE_SEIZE, atoi(argv[1]), 0, 0)) return 1; fclose(fopen("traces", "w")); pause(); }
END
gcc -O1 -o tracer tracer.c
./tracer "$pid" &
tracer=$!
await test -e traces
refused 'traces it already' -p "$pid" --inject
kill "$tracer"
wait "$tracer" 2>/dev/null
check "hpct-doctor -p says that it can: $(doctor "$pid")" grep -q '^yes ' <<<"$(doctor "$pid")"
inject once
refused 'another hpct-record measures it' -p "$pid" --inject
leaves once
ends "refused only" "$unchanged"
hpct-record -o own.hpct ./attached >program.out 2>&1 &
recorder=$!
begun() { pid=$(pgrep -P "$recorder" -x attached) && [ "$(ls "/proc/$pid/task" | wc -l)" -eq 2 ]; }
await begun
refused 'since its start' -p "$pid" --inject
kill -USR1 "$pid"
wait "$recorder"
cat >sandbox.c <<'END'
#include <linux/seccomp.h>
#include <linux/filter.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &all};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 1;
	fclose(fopen("locked", "w"));
	pause();
}
END
gcc -O1 -o sandbox sandbox.c
./sandbox &
sandbox=$!
await test -e locked && refused 'in a sandbox' -p "$sandbox" --inject
kill "$sandbox"
for how in 'gcc -static' musl-gcc; do
	command -v "${how% *}" >/dev/null && $how -O1 -o "other" "$HPCT_SOURCE/tests/e2e/attached.c" -pthread 2>/dev/null || continue
	start ./other
	refused 'GNU' -p "$pid" --inject
	ends "$how" "$unchanged"
done
