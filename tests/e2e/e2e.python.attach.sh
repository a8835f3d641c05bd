#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-record -p of a Python process: its frames are read from outside; shares agree with the program's own clock, waits
# have Python's paths, and nothing is changed in the process. hpct-stacks -p shows them without a recording.
. "$(dirname -- "$0")/expect.sh"
need python3
. "$HPCT_SOURCE/tests/e2e/pythons.sh"
python3=$(pythons | head -n 1)

cat >work.py <<'END'
import random
import signal
import threading
import time


def burn_a(n):
    s = 0
    for i in range(n):
        s += i
    return s


def burn_b(n):
    s = 0
    for i in range(n):
        s += i
    return s


class Worker:
    def work(self, burn, n):
        return burn(n)


def nap():
    while True:
        time.sleep(1000)


signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
threading.Thread(target=nap, daemon=True, name="napper").start()
worker, spent = Worker(), {burn_a: 0.0, burn_b: 0.0}
while signal.SIGUSR1 not in signal.sigpending():
    scale = random.uniform(0.5, 1.5)  # turns of many samples, never as long: the two must not keep step
    for burn, n in ((burn_a, int(700000 * scale)), (burn_b, int(300000 * scale))):
        begin = time.thread_time()
        worker.work(burn, n)
        spent[burn] += time.thread_time() - begin
print(100 * spent[burn_a] / (spent[burn_a] + spent[burn_b]))
END

"$python3" work.py >own &
pid=$!
two() { [ "$(ls "/proc/$pid/task" | wc -l)" -eq 2 ]; }
await two
hpct-record -p "$pid" -o probe.hpct --for 100ms 2>err || { grep -q forbidden err && skip "$(cat err)"; }
ls -l "/proc/$pid/fd" | awk '{ print $9, $10, $11 }' >before
stolen_before=$(stolen_ns)
hpct-record -p "$pid" -o work.hpct 2>err &
recorder=$!
await sampled work 300
kill -INT "$recorder"
wait "$recorder"
same "it says nothing" "" "$(cat err)"
ls -l "/proc/$pid/fd" | awk '{ print $9, $10, $11 }' >after
same_file "descriptors of the process" before after
hpct-stacks -p "$pid" >stacks
kill -USR1 "$pid"
wait "$pid" || fail "the program does not end well"

share_of() { # FUNCTION : of the weights of both
	hpct-slice work.hpct --streams thread=0 --format tsv | tsv '$c["track"] == "samples" {
		if ($c["path"] ~ /Worker.work;burn_[ab](;|$)/) all += $c["weight"]
		if ($c["path"] ~ /Worker.work;'"$1"'(;|$)/) n += $c["weight"] } END { print all ? 100 * n / all : 0 }'
}
own=$(cat own)
near "share of burn_a" "$own" "$(share_of burn_a)" 7
weights_agree work all
part=$(hpct-slice work.hpct --streams thread=0 --format tsv | tsv '$c["track"] == "samples" { all += $c["weight"]
	if ($c["path"] ~ /<module>/) n += $c["weight"] } END { print all ? 100 * n / all : 0 }')
check "CPU time has frames of Python: $part %" calc "$part > 90"
same "the interpreter's loop is hidden" 0 "$(hpct-slice work.hpct --format tsv | tsv '$c["path"] ~ /_PyEval_EvalFrameDefault.*;burn_/ { n++ } END { print n + 0 }')"
same "lines are the function's" "" "$(hpct-profile work.hpct --view flat --format tsv | tsv '$c["name"] == "burn_a" && $c["kind"] == "function" && $c["file"] !~ /work.py$/ { print $c["file"] }')"
check "a sleep has Python's path" [ -n "$(hpct-slice work.hpct --op blocked --streams thread=1 --format tsv | grep 'Thread.run;nap;')" ]
check "hpct-stacks -p shows both languages: $(cat stacks)" grep -q 'Worker.work .*work.py:' stacks
check "hpct-stacks -p shows a thread that sleeps" grep -q '  nap  .*work.py:' stacks

# The other versions that there are.
while read -r python; do
	rm -rf other.hpct
	"$python" work.py >own &
	pid=$!
	await two
	hpct-record -p "$pid" -o other.hpct 2>err &
	recorder=$!
	await sampled other 60
	kill -INT "$recorder"
	wait "$recorder" || fail "$python: $(cat err)"
	kill -USR1 "$pid"
	wait "$pid" || fail "$python: the program does not end well"
	part=$(hpct-slice other.hpct --streams thread=0 --format tsv | tsv '$c["track"] == "samples" { all += $c["weight"]
		if ($c["path"] ~ /<module>;Worker.work;burn_[ab](;|$)/ || $c["path"] ~ /<module>;work;burn_[ab](;|$)/) n += $c["weight"] } END { print all ? 100 * n / all : 0 }')
	check "$python: CPU time has frames of Python: $part %" calc "$part > 80"
done < <(pythons | tail -n +2)
