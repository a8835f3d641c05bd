#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-record -p: a program that runs already is measured from outside and does not notice; shares, weights, whole stacks,
# blocked time; static, musl and stripped programs; children and execs; Ctrl-C and kill -9 of the recorder; what cannot be
# measured, in one sentence each.
. "$(dirname -- "$0")/expect.sh"
need gcc
source=$HPCT_SOURCE/tests/e2e/attached.c
gcc -O1 -g -fomit-frame-pointer -o attached "$source" -pthread || skip "attached.c is not built"
unchanged='interrupted 0, foreign signals 0, at work 1'

start() { # PROGRAM... : runs it, $pid, until it is at work
	"$@" >program.out 2>&1 &
	pid=$!
	await is_started "$1"
}
is_started() { [ "$(tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | head -n 1)" = "$1" ] && { [ "$1" = sh ] || has_both; }; }
has_both() { [ "$(ls "/proc/$pid/task" | wc -l)" -eq 2 ]; } # threads
is_attached() { # by the recorder $recorder: it holds events, and has the threads of $pid
	[ "$(find "/proc/$recorder/fd" -lname '*perf_event*' 2>/dev/null | wc -l)" -ge "$(((1 + $(ls "/proc/$pid/task" | wc -l)) * $(nproc --all)))" ]
}
attach() { # RUN OPTION... : to $pid, in the background; $recorder
	local run=$1
	shift
	stolen_before=$(stolen_ns)
	hpct-record -p "$pid" -o "$run.hpct" "$@" 2>"$run.err" &
	recorder=$!
	await is_attached || fail "$run: hpct-record does not attach: $(cat "$run.err")"
}
ends() { # SENTENCE : $pid as it would alone
	local code=0
	wait "$pid" || code=$?
	same "$1: exit code" 7 "$code"
	same "$1: output" "$unchanged" "$(cat program.out)"
}
state() { # of $pid: what an attachment must leave as it was
	ls "/proc/$pid/task" | wc -l
	ls -l "/proc/$pid/fd" | awk '{ print $9, $10, $11 }'
	cut -d' ' -f1-5,6- "/proc/$pid/maps"
	grep -E '^(Sig|Shd|Tracer|Seccomp)' "/proc/$pid/status" | grep -v SigQ
}
full() { # RUN PER_CENT : so many of its stacks are whole
	local samples partial
	samples=$(sample_count "$1") partial=$(info "$1" partial_stacks)
	check "$1: only $((samples - partial)) of $samples stacks are whole" \
		calc "$samples > 0 && ($samples - $partial) * 100 >= $2 * $samples"
}
shares() { # RUN : of the main thread
	local limit part
	hpct-slice "$1.hpct" -o main.hpct --overwrite --streams thread=0 >/dev/null 2>&1 || hpct-slice "$1.hpct" -o main.hpct --streams thread=0
	limit=$(share_limit main)
	for part in 'burn_first 60' 'burn_second 30' 'burn_third 10'; do
		near "$1: share of ${part% *}" "${part#* }" "$(share main "${part% *}")" "$limit"
	done
	rm -rf main.hpct
}

start ./attached
hpct-record -p "$pid" -o probe.hpct --for 100ms 2>err || { grep -q forbidden err && skip "$(cat err)"; }
cat err
rm -rf probe.hpct

# To the program's end: what it does, unnoticed.
kill -USR1 "$pid"
ends "attached once"
start ./attached 2500000000
attach end -e CPUTIME@f1000
kill -USR1 "$pid"
ends "measured to its end"
code=0
wait "$recorder" || code=$?
same "exit code of hpct-record when the program has ended" 0 "$code"
same "it says nothing" "" "$(cat end.err)"
same "state" complete "$(info end state)"
same "sampler" outside "$(info end sampler)"
same "streams" 2 "$(info end streams)"
full end 99
shares end
check "at least 2000 samples" calc "$(sample_count end) >= 2000"
check "the second thread's sleep is blocked time, with its path" [ -n "$(hpct-slice end.hpct --op blocked --format tsv --streams thread=1 |
	tsv '$c["op"] == "blocked" { print }' | head -n 1)" ]

# Until Ctrl-C: the program goes on, and each thread's weights are its CPU time by the kernel's own count.
start ./attached
state >before
attach interrupt -e CPUTIME@f1000
await sampled interrupt 1500
kill -INT "$recorder"
code=0
wait "$recorder" || code=$?
same "exit code after Ctrl-C" 0 "$code"
same "state after Ctrl-C" complete "$(info interrupt state)"
state >after
same_file "descriptors, threads, mappings, signals of the program" before after
weights_agree interrupt all
full interrupt 99
shares interrupt
kill -USR1 "$pid"
ends "detached by Ctrl-C"

# kill -9 of the recorder harms nobody, and what was recorded is whole.
start ./attached
attach killed -e CPUTIME@f1000
await sampled killed 300
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
kill -USR1 "$pid"
ends "the recorder was killed"
is_complete() { [ "$(info killed state)" = complete ]; }
await is_complete || fail "the run of a killed recorder is not completed"
full killed 99
check "killed: --check" hpct-info killed.hpct --check >/dev/null

# Several at once, by name, the newest, for some time.
ln attached elsewhere
start ./attached
first=$pid
start ./elsewhere
code "two at once" 0 hpct-record -p "$first,$pid" --for 300ms -o two.hpct
same "two at once: processes" 2 "$(info two processes)"
code "by name" 0 hpct-record --comm 'elsewh*' --for 300ms -o named.hpct
same "by name: its command" ./elsewhere "$(info named command)"
start ./attached
code "the newest" 0 hpct-record --comm attached --newest --for 300ms -o newest.hpct
same "the newest: its stream" "$pid" "$(hpct-info newest.hpct --streams --format tsv | tsv '$c["kind"] == "cpu" { print $c["pid"] }' | sort -u)"
kill "$first" 2>/dev/null
for job in $(jobs -p); do kill -KILL "$job"; done
wait 2>/dev/null

# An exec, and what the program starts.
start ./attached exec
attach exec -e CPUTIME@f500
await sampled exec 50
kill -USR2 "$pid"
again() { [ "$(hpct-info exec.hpct --streams --format tsv 2>/dev/null | tsv '$c["stream"] ~ /\.1\// && $c["samples"] > 20' | wc -l)" -ge 1 ]; }
await again || fail "an exec: the new program is not measured"
kill -USR1 "$pid"
ends "an exec"
wait "$recorder"
same "an exec: generations" "0 1" "$(hpct-info exec.hpct --streams --format tsv | tsv '$c["kind"] == "cpu" { split($c["stream"], a, /[.\/]/); print a[4] }' | sort -u | tr '\n' ' ' | sed 's/ $//')"
cat >children.sh <<'END'
while ! [ -e stop ]; do ./once; done
END
echo 'int main(void) { for (volatile long i = 0; i < 60000000; i++) ; }' >once.c
gcc -O0 -o once once.c
start sh ./children.sh
attach script -e CPUTIME@f1000
await sampled script 600
touch stop
wait "$pid"
wait "$recorder"
check "what a script starts is measured: $(info script processes) processes" [ "$(info script processes)" -gt 2 ]
check "its main is found: $(share script main)" calc "$(share script main) > 80"

# Programs that no agent can be loaded into.
for how in '-static' '-static-pie'; do
	gcc -O1 -g $how -o "kind$how" "$source" -pthread 2>/dev/null || continue
	kinds+=("kind$how")
done
if command -v musl-gcc >/dev/null; then
	musl-gcc -O1 -g -o kind-musl "$source" && kinds+=(kind-musl)
	musl-gcc -O1 -g -static -o kind-musl-static "$source" && kinds+=(kind-musl-static)
fi
for kind in "${kinds[@]}"; do
	start "./$kind"
	attach "$kind" -e CPUTIME@f1000
	await sampled "$kind" 700
	kill -INT "$recorder"
	wait "$recorder"
	kill -USR1 "$pid"
	ends "$kind"
	full "$kind" 99
	shares "$kind"
done

# Who may, has samples inside the kernel, with its frames; and all of the machine.
cat >calls.c <<'END'
#include <fcntl.h>
#include <unistd.h>
static char bytes[65536];
__attribute__((noinline)) void reads(int file) { for (int i = 0; i < 200; i++) if (pread(file, bytes, sizeof bytes, 0) < 0) return; }
int main(void) { for (int file = open("/dev/zero", O_RDONLY);;) reads(file); }
END
gcc -O1 -g -o calls calls.c
./calls &
pid=$!
is_calling() { [ "$(cat "/proc/$pid/comm")" = calls ]; }
await is_calling
attach calls -e CPUTIME@f1000
await sampled calls 300
kill -INT "$recorder"
wait "$recorder"
full calls 99
check "system calls: $(share calls reads) % of the samples are below reads" calc "$(share calls reads) > 90"
if hpct-record -a --for 100ms -o probe.hpct 2>err; then
	hpct-slice calls.hpct --format tsv | tsv '$c["track"] == "samples" && $c["weight"] > 0 { all++ }
		$c["path"] ~ /;reads;.*pread.*;.*(read_zero|vfs_read|do_syscall_64|el0_svc|\[kernel\])/ { n++ } END { exit !(2 * n > all) }' ||
		fail "samples in the kernel have no frames of it"
	rm -rf probe.hpct
	hpct-record -a -o all.hpct -e CPUTIME@f200 2>err &
	recorder=$!
	of_calls() { [ "$(hpct-info all.hpct --streams --format tsv 2>/dev/null | tsv '$c["pid"] == '"$pid"' && $c["kind"] == "cpu" && $c["samples"] > 20' | wc -l)" -eq 1 ]; }
	await of_calls || fail "-a: a process at work is not measured: $(cat err)"
	kill -INT "$recorder"
	code=0
	wait "$recorder" || code=$?
	same "-a: exit code" 0 "$code"
	check "-a: more than one process" calc "$(info all processes) > 3"
	check "-a: --check" hpct-info all.hpct --check >/dev/null
else
	sentence "-a is not allowed"
	[ ! -e probe.hpct ] || fail "-a leaves a run behind"
fi
kill "$pid"
wait "$pid" 2>/dev/null

# What cannot be measured.
refused() { # WORDS OPTION... : exit code 125, one sentence, no run
	local words=$1
	shift
	code "refusal of '$*'" 125 hpct-record -o refused.hpct "$@"
	sentence "refusal of '$*'"
	check "'$*' is refused with '$words': $(cat err)" grep -q -- "$words" err
	[ ! -e refused.hpct ] || fail "'$*' leaves a run behind"
	rm -rf refused.hpct
}
refused 'there is no process 4194304' -p 4194304 --for 1s
refused 'numbers of processes' -p 12x
refused 'numbers of processes' -p 0
refused 'numbers of processes' -p "$$,"
refused 'no process is called that' --comm 'no such name'
refused 'either start a program' -p "$$" true
refused 'goes with -p' --for 1s true
refused 'give one of them' -a -p "$$"
refused 'goes with --comm' -p "$$" --newest
refused 'only CPUTIME' -p "$$" -e page-faults@1
refused 'give a duration' -p "$$" --for 5
refused '1024 to' -p "$$" --stack-bytes 12
[ ! -r /proc/2/stat ] || ! grep -q kthreadd /proc/2/stat || refused 'thread of the kernel' -p 2
sh -c './once & exec sleep 100' &
parent=$!
zombie() { child=$(cat "/proc/$parent/task/$parent/children" 2>/dev/null) && [ -n "$child" ] && grep -q ') Z' "/proc/${child% }/stat"; }
await zombie && refused 'zombie' -p "${child% }"
kill "$parent"
start ./attached
refused 'a thread of process' -p "$(ls /proc/$pid/task | grep -vx "$pid")"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 777 .
	HOME=$work code "another user's process" 125 setpriv --reuid=65534 --regid=65534 --clear-groups \
		hpct-record -p "$pid" -o foreign.hpct
	check "another user's: $(cat err)" grep -q 'belongs to user 0' err
	if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ]; then
		HOME=$work code "-a of an ordinary user" 125 setpriv --reuid=65534 --regid=65534 --clear-groups \
			hpct-record -a -o foreign.hpct
		sentence "-a of an ordinary user"
		check "-a of an ordinary user: $(cat err)" grep -q 'root.*perf_event_paranoid' err
		[ ! -e foreign.hpct ] || fail "-a of an ordinary user leaves a run behind"
	fi
fi
kill -USR1 "$pid"
ends "refused only"
