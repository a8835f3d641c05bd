#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The agent's Python paths against an independent reader that stops threads at random instructions by ptrace and reads
# them from outside, HPCT_STOPS times for each CPython here (./build.sh stress --stops asks for 10,000): no wrong name,
# file or line, and 99.5 % of the stacks are complete. HPCT_PYTHONS: further interpreters.
. "$(dirname -- "$0")/expect.sh"
. "$HPCT_SOURCE/tests/e2e/pythons.sh"
[ "$(uname -m)" = x86_64 ] || skip "the reader knows the registers of x86-64 only"
stops=${HPCT_STOPS:-400} here=$HPCT_SOURCE/tests/e2e
cc -O1 -shared -fPIC -o library.so "$here/python_stress.c" || fail "the library does not compile"
while read -r python; do
	python3 "$here/python_stops.py" "$stops" "$python" "$here/python_stops_program.py" "${HPCT_BIN%/bin}/tests/python_oracle.so" \
		"$here/python_stress.py" ./library.so "$HPCT_SOURCE/samples/python.py" >out 2>err || {
		! grep -q '^ptrace: ' err || skip "$(cat err)"
		fail "$python: $(tail -n 1 err)"
	}
	read -r all equal none incomplete wrong <out
	echo "$("$python" -V) ($python): $all stops, $equal equal, $none without a state, $incomplete incomplete, $wrong wrong"
	same "$python: stops" "$stops" "${all:-}"
	same "$python: wrong" 0 "${wrong:--}"
	check "$python: $incomplete incomplete" calc "${incomplete:-$all} <= 0.005 * ${all:-0}"
	check "$python: $none without a state" calc "${none:-$all} <= 0.05 * ${all:-0}"
	[ "$failed" -eq 0 ] || head -n 5 err | cut -c1-500
done < <(pythons)
