#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Recursion a million frames deep: whole paths of two rounds, no lost time, and a handler that leaves the program most of
# its own. With -r every level is kept, be they in turn or in no order.
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
levels() { # RUN : of the deepest path
	hpct-stats "$1.hpct" --by path --format tsv | tsv '
		$c["key"] ~ /;bottom/ { n = gsub(/;(one|two|three)/, "", $c["key"]); if (n > most) most = n } END { print most }'
}
while read -r turns depth; do
	run=kept$turns-$depth
	record "$run" --retain-recursion -- "$samples/million" 1.5 "$turns" "$depth" >out || fail "-r: does not end well"
	same "-r $turns: frames" $((depth + 1)) "$(cat out)"
	same "-r $turns: levels kept of $depth" "$depth" "$(levels "$run")"
	same "-r $turns: partial, lost" "0 0" "$(info "$run" partial_stacks) $(info "$run" lost)"
	[ "$depth" -gt 100000 ] || weights_agree "$run" # its paths alone are 10 MB a row
	echo "-r $turns, $depth: $(sample_count "$run") samples, handlers $(info "$run" handler_ns) ns"
done <<'END'
1 3000
1 1000000
3 100000
0 40000
END
# Where memory is limited a few paths in no order, each cut at 16384 frames, fill a thread's tree. What is below other paths
# then is not lost, but below none.
(ulimit -v 8000000 && record full -e CPUTIME@f10000 -- "$samples/million" 0.5 0 >out) || fail "a full tree"
clocks full | awk -F '\t' '{ weight += $2; clock += $3 } END { printf "%.3f\n", weight / clock }' >share
check "a full tree: weights are $(cat share) of the clock" calc "$(cat share) > 0.8"
# It ends before the ring has taken all of its path: where its time went is not known then, and not where the thread began.
record untold -r -- "$samples/million" 0.5 0 300000 >out || fail "-r, no time to tell"
same "-r, no time to tell: lost" 0 "$(info untold lost)"
weights_agree untold
hpct-slice untold.hpct --format tsv | tsv '$c["track"] == "samples" && $c["path"] ~ /^<thread root>/ {
	all += $c["weight"]; if ($c["path"] == "<thread root>;start") n += $c["weight"] } END { print(n / all) }' >share
check "-r, no time to tell: of the time, the start has $(cat share)" calc "$(cat share) < 0.2"
same "-r: the run says so" "kept folded" "$(info kept1-3000 recursion) $(info turns1 recursion)"
same "-r: a row for each level" 1000000 "$(hpct-profile kept1-1000000.hpct --format tsv |
	tsv '$c["name"] == "one" && $c["kind"] == "function"' | wc -l)"
check "a table of many is indented, to a degree" [ "$(hpct-profile kept0-40000.hpct | wc -c)" -lt 20000000 ]
record cut -r -- "$samples/million" 1 1 1100000 >out || fail "-r, too deep"
check "-r: a path that is cut is partial" [ "$(info cut partial_stacks)" -gt 0 ]
(ulimit -v 8000000 && record limited -r -- "$samples/million" 1 1 100000 >out) || fail "-r, with an address space that is limited"
same "-r, limited: lost" 0 "$(info limited lost)"
