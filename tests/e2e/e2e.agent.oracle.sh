#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The agent's unwinder against libunwind, on other programs' stacks: random moments, and instruction by instruction.
. "$(dirname -- "$0")/expect.sh"
oracle=$HPCT_BIN/../tests/unwind_oracle
[ -x "$oracle" ] || skip "libunwind-ptrace was not there at build time"
need cc xz sort python3

# compare NAME STOPS OPTION... -- COMMAND... : so many stops at least, no difference
compare() {
	local name=$1 least=$2 options=()
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	local stops=0 more seed
	for seed in 1 2 3 4 5 6 7 8; do # how often a program can be stopped before it ends, who knows
		"$oracle" -v -s "$seed" "${options[@]}" "$@" >out 2>err </dev/null
		tail -c 300 out | tail -n 1 | tr -d '\0'
		tail -c 300 out | grep -aqE 'stops [0-9]+ .* differ 0 ' || { fail "$name: differs" && tail -n 20 err; }
		more=$(tail -c 300 out | grep -aoE 'stops [0-9]+' | tail -n 1 | cut -d' ' -f2)
		stops=$((stops + ${more:-0}))
		[ "$stops" -lt "$least" ] || break
	done
	[ "$stops" -ge "$least" ] || fail "$name: only $stops stops"
}

cat >program.cc <<'EOF'
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>
int main() {
	std::regex r("(a+b)*c");
	std::map<std::string, std::vector<std::string>> m;
	std::vector<std::string> v{"b", "a"};
	std::sort(v.begin(), v.end());
	return std::regex_match("aabc", r) + (int)m.size();
}
EOF
if command -v g++ >/dev/null && g++ -E program.cc -o program.ii 2>/dev/null; then
	compiler=$(g++ -print-prog-name=cc1plus)
	compare cc1plus 1000 -n 2000 -- "$compiler" -quiet -O2 -fpreprocessed program.ii -o /dev/null
	compare "cc1plus by instruction" 3000 -i 13 -n 3000 -- "$compiler" -quiet -O2 -fpreprocessed program.ii -o /dev/null
fi
head -c 12000000 "$(command -v python3 | xargs readlink -f)" >in
compare xz 300 -n 1500 -- xz -c in
awk 'BEGIN { x = 42; for (i = 0; i < 400000; i++) { x = (x * 16807) % 2147483647; print x } }' >big
compare sort 50 -n 500 -- sort -S 10M big -o sorted
compare "sort by instruction" 4000 -i 3 -n 4000 -- sort big -o sorted
compare python3 100 -n 1000 -- python3 -c 'import json
print(len([json.loads(json.dumps(list(range(20000)))) for i in range(60)]))'
compare "python3 by instruction" 4000 -i 3 -n 4000 -- python3 -c 'print(sorted(str(i) for i in range(2000000))[7])'
compare "signals and alternate stacks" 4000 -i 1 -n 4000 -- "$HPCT_BIN/../tests/agent_probe" signals 1 0
