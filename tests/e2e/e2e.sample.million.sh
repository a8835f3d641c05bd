#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Recursion a million frames deep: whole paths of two rounds, no lost time, and a handler that leaves the program most of
# its own. With -r every level is kept, as many as a path can have.
. "$(dirname -- "$0")/expect.sh"
for turns in 1 2 3; do
	record turns$turns -- "$samples/million" 1.2 $turns >out || fail "million does not end well"
	same "$turns: frames" 1000001 "$(cat out)"
	same "$turns: partial" 0 "$(info turns$turns partial_stacks)"
	same "$turns: lost" 0 "$(info turns$turns lost)"
	weights_agree turns$turns
	near "$turns: share of bottom" 95 "$(share turns$turns bottom)" 25
	hpct-slice turns$turns.hpct --format tsv | tsv '
		$c["path"] ~ /;bottom/ { gsub(/;next/, "", $c["path"]); sub(/;bottom.*/, ";bottom", $c["path"]); print $c["path"] }' |
		sort | uniq -c | sort -rn >paths
	check "$turns: a sample at the bottom" [ -s paths ]
	check "$turns: deeper than two rounds and a part of one: $(cat paths)" \
		awk '{ if (split($2, f, ";") > 3 + 3 * '$turns') exit 1 }' paths
	cpu=$(info turns$turns sampled_cpu_ns) handler=$(info turns$turns handler_ns)
	echo "$turns: $(sample_count turns$turns) samples, handlers $handler of $cpu ns"
done
same "one: the path" '<thread root>;start;one;one;bottom' "$(hpct-slice turns1.hpct --format tsv | tsv '
	$c["path"] ~ /;bottom/ { gsub(/;next/, "", $c["path"]); sub(/;bottom.*/, ";bottom", $c["path"]); print $c["path"]; exit }')"
record kept -r -- "$samples/million" 0.3 1 3000 >out || fail "-r"
deepest=$(hpct-slice kept.hpct --format tsv | tsv '{ n = gsub(/;one/, "", $c["path"]); if (n > most) most = n } END { print most }')
same "-r: levels kept" 3000 "$deepest"
same "-r: the run says so" "kept folded" "$(info kept recursion) $(info turns1 recursion)"
record cut --retain-recursion -- "$samples/million" 0.1 1 20000 >out || fail "-r, too deep"
check "-r: a path that is cut is partial" [ "$(info cut partial_stacks)" -gt 0 ]
