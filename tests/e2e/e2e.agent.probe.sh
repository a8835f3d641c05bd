#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The agent alone, without a collector of ours: programs that are hard to measure behave as they do bare, every
# record is well-formed, and the weights add up to each thread's own reading of its CPU clock.
. "$(dirname -- "$0")/expect.sh"
tests=$HPCT_BIN/../tests agent=$HPCT_BIN/../lib/hpct/hpct-agent.so

# probe MODE A B : bare and measured; leaves ./dump
probe() {
	local bare=0 got=0 events=${events:-CPUTIME@1000}
	(exec "$tests/agent_probe" "$@") >bare.out 2>bare.err 3>&- || bare=$?
	"$tests/ring_dump" -e "$events" "$agent" "$tests/agent_probe" "$@" 3>dump >got.out 2>got.err || got=$?
	same "$*: exit code" "$bare" "$got"
	sed -i.cpu /^cpu/d bare.out
	sed -i.cpu /^cpu/d got.out
	same_file "$*: stdout" bare.out got.out
	same_file "$*: stderr" bare.err got.err
	grep -q 'failures=0' dump || { fail "$*: sound records:" && grep ^FAILED dump; }
}

# weights MODE : of each thread that told its CPU time, within 1 % or a period of the clock at the agent's begin and
# end, which lie around what the thread told: the agent comes later, and the thread goes on a little after
weights() {
	awk 'FNR == NR { if ($1 == "cpu") cpu[$2] = $3; next }
		$1 == "thread" { split($13, tid, "="); split($16, before, "=")
			if (tid[2] in cpu) { n++; off = $11 - $12; after = $12 + before[2] - cpu[tid[2]]
			slack = cpu[tid[2]] / 100; if (slack < 1000000) slack = 1000000
			if (off > slack || off < -slack || after < 0 || after > 20000000) {
				print "weights", $11, "clock", $12, "before", before[2], "told", cpu[tid[2]]; bad = 1 } } }
		END { exit bad || !n }' got.out.cpu dump || fail "$1: weights do not add up"
}

field() { # KEY : of the process line
	sed -n "s/^process.* $1=\([^ ]*\).*/\1/p" dump
}

for mode in "threads 8 200" "sleepy 200 100" "signals 40 0" "destructors 60 0" "failed-exec 30 0" "ends 0 40" "looked-up 60 0"; do
	probe $mode
	weights "$mode"
done
for mode in "altstack 3 0" "coroutines 2 0" "forks 40 0" "spawns 0 0" "ends 1 20" "ends 2 20" "ends 4 20" "ends 5 20" \
	"descriptors 0 0" "loading 100 3"; do
	probe $mode
done

probe short 400 0
same "every thread has a first and a last record" 402 "$(awk '$1 == "thread" && $9 == 1 && $10 == 1' dump | wc -l)"
same "threads are numbered by creation" 401 "$(awk '$1 == "thread" { sub(".*/", "", $2); print $2 }' dump | sort -n | tail -1)"

probe destructors 60 0
check "thread's name" grep -q '^thread .*/1 destructor ' dump

probe named 0 0
check "name given by another thread" grep -q '^thread .*/1 by-another ' dump

probe recursion 60000 0 # folded: few nodes, full stacks
check "depth 60000, folded" awk '/^thread/ { lost += $8 } /^total/ { split($4, p, "="); exit p[2] > 0 || lost > 0 }' dump
events='CPUTIME@1000 RECURSION'
probe recursion 100 0
same "no partial stack at depth 100" 0 "$(awk '/^total/ { print $4 }' dump | cut -d= -f2)"
probe recursion 8000 0
same "no partial stack at depth 8000, nor a loss" "0 0" \
	"$(awk '/^thread/ { lost += $8 } /^total/ { split($4, p, "="); print p[2], lost }' dump)"
# More nodes than the ring could hold at once: a recursion is one record.
probe recursion 60000 0
same "no partial stack at depth 60000, nor a loss" "0 0" \
	"$(awk '/^thread/ { lost += $8 } /^total/ { split($4, p, "="); print p[2], lost }' dump)"
unset events

probe chain 13 0
same "every exec is a generation" "0 1 2 3 4 5 6 7 8 9 10 11 12 13" \
	"$(awk '$1 == "process" { print $3 }' dump | sort -n | xargs)"

probe forks 40 0
same "fork's child, its parent and a program after a raw fork" 3 "$(grep -c ^process dump)"
check "the fork is noted" grep -qE '^fork [0-9]+ [0-9]+ 0' dump
probe spawns 0 0
same "spawned, after vfork, under system and popen" 7 "$(grep -c ^process dump)"

probe ends 4 20
same "killed: not ended in order" 0 "$(field ended)"
probe ends 1 20
same "_exit: ended in order" 1 "$(field ended)"

# Programs that cannot take the agent start without it, with nothing on stderr; their shell is measured.
if command -v musl-gcc >/dev/null; then
	printf '#include <stdio.h>\nint main(void) { puts("foreign"); return 3; }\n' >foreign.c
	musl-gcc foreign.c -o foreign
	for how in './foreign' 'exec ./foreign' 'env ./foreign' './script'; do
		printf '#!%s/foreign\n' "$PWD" >script && chmod +x script
		got=0
		"$tests/ring_dump" "$agent" sh -c "$how" 3>dump >out 2>err || got=$?
		same "musl by '$how': exit code" 3 "$got"
		same "musl by '$how': stdout" foreign "$(cat out)"
		same "musl by '$how': stderr" "" "$(cat err)"
		check "musl by '$how': the shell is measured" grep -q '^process' dump
	done
fi

# No collector: the program runs all the same.
got=0
HPCT_SOCKET=$PWD/none HPCT_AGENT=$agent LD_PRELOAD=$agent "$tests/agent_probe" signals 5 0 >out 2>err || got=$?
same "without a collector" "0 " "$got $(cat err)"
