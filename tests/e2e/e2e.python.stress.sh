#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Interpreters under trouble at 5000 samples a second, for HPCT_STRESS_SECONDS (./build.sh stress --python asks for ten
# minutes): threads, exceptions, garbage, forks, exec, shutdown with threads that run, os._exit, deep recursion, C
# libraries that call back and that crash, pools of processes. Outputs, exit codes and signals are what they are without
# the recorder, nothing hangs, each store is sound. HPCT_STRESS_SEED repeats a run.
. "$(dirname -- "$0")/expect.sh"
. "$HPCT_SOURCE/tests/e2e/pythons.sh"
seconds=${HPCT_STRESS_SECONDS:-6} seed=${HPCT_STRESS_SEED:-$$} here=$HPCT_SOURCE/tests/e2e
cc -O1 -shared -fPIC -o library.so "$here/python_stress.c" || fail "the library does not compile"
echo "seed $seed"
ulimit -c 0
end=$((SECONDS + seconds)) rounds=0 seen=0
mapfile -t all < <(pythons)
kinds=(threads fork exec shutdown exit deep library crash)
[ "$seconds" -lt 60 ] || kinds+=(pool)

one() { # PYTHON KIND SEED
	local bare=0 got=0
	# (The shell tells of crashes on its own stderr.)
	{ timeout 120 "$1" "$here/python_stress.py" "$2" "$3" ./library.so >bare.out 2>bare.err || bare=$?; } 2>/dev/null
	{ timeout 120 hpct-record --overwrite -o run.hpct -e CPUTIME@f5000 -- \
		"$1" "$here/python_stress.py" "$2" "$3" ./library.so >out 2>err || got=$?; } 2>/dev/null
	same "$1 $2 $3: exit code" "$bare" "$got"
	same "$1 $2 $3: output" "$(cat bare.out)" "$(cat out)"
	hpct-info run.hpct --check >checked 2>&1 || fail "$1 $2 $3: the store is damaged: $(tail -n 1 checked)"
	seen=$((seen + $(info run samples)))
	rounds=$((rounds + 1))
}

while [ $SECONDS -lt $end ] || [ $rounds -lt ${#kinds[@]} ]; do
	one "${all[$((rounds / ${#kinds[@]} % ${#all[@]}))]}" "${kinds[$((rounds % ${#kinds[@]}))]}" $((seed + rounds))
done
echo "$rounds interpreters, $seen samples, ${all[*]}"
check "there were samples" [ "$seen" -gt 200 ]
