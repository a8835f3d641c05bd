#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# -e MEMLEAK on samples/leaks.c: bytes allocated and freed, exact to the byte, by the path that allocated, whoever freed;
# in children, after a SIGKILL, with another allocator in front; a share of the allocations, made up for.
. "$(dirname -- "$0")/expect.sh"

# bytes RUN METRIC FUNCTION... : exclusive, of the function's callers too where it has any
bytes() {
	hpct-slice "$1.hpct" --format tsv | tsv '
		$c["track"] == "values" && $c["metric"] == "'"$2"'" && (";" $c["path"] ";") ~ /;'"$3"';/ { n += $c["value"] }
		END { printf "%.0f\n", n }'
}

# exact RUN : what the sample's top comment says
exact() {
	while read -r function allocated freed; do
		same "$1: $function allocates" "$allocated" "$(bytes "$1" MEMLEAK:allocated "$function")"
		same "$1: $function is freed" "$freed" "$(bytes "$1" MEMLEAK:freed "$function")"
	done <<-END
		lose $((${2:-1} * 100000)) 0
		keep_half 12800 6400
		grow 50500 49500
		hand_over 15000 15000
		work 13320 12876
	END
}

event=MEMLEAK both plain "$samples/leaks"
exact plain
same "a child's block" 77 "$(bytes plain MEMLEAK:allocated child)"
same "what a child frees of its parent's is its parent's" 0 "$(bytes plain MEMLEAK:freed child)"
same "another thread frees, the allocator's path is charged" 0 "$(bytes plain MEMLEAK:freed free_all)"
same "nothing was lost" 0 "$(info plain lost)"
hpct-stats plain.hpct --metric MEMLEAK:live --by path --format tsv | tsv '
	$c["key"] ~ /;(lose|keep_half|grow)$/ { print $c["key"], $c["live_bytes"] }' | sort >row
printf '%s\n' 'main;grow 1000' 'main;keep_half 6400' 'main;lose 100000' >wanted
same_file "in use at the end" wanted row
weights_agree plain
hpct-profile plain.hpct --format tsv | tsv '$c["name"] == "lose" { print $c["MEMLEAK:allocated:incl"], $c["MEMLEAK:freed:incl"] }' >row
same "side by side in a profile" "100000 0" "$(cat row)"
check "bytes for people" grep -qE '^ +97.66 KiB .* lose ' <<<"$(hpct-profile plain.hpct --metric MEMLEAK:allocated)"
check "bytes on the screen" grep -q 'lose .*97\.66 KiB' <<<"$(hpct-view plain.hpct --print 120x36 --keys '60/lose<Enter>')"
check "one metric alone" grep -q 'MEMLEAK:freed:incl' <<<"$(hpct-profile plain.hpct --metric MEMLEAK:freed --format tsv | head -n 1)"

code "killed" 137 bash -c 'hpct-record -o killed.hpct -e MEMLEAK -- "$1" 1 kill; exit $?' - "$samples/leaks"
exact killed
event=MEMLEAK both many "$samples/leaks" 3000
exact many 3000
check "sums, not a record for each block" calc "$(info many records) < 20000"

code "a share" 0 hpct-record -o share.hpct -e MEMLEAK --memleak-prob 1/10 -- "$samples/leaks" 1000
# 100000 blocks of 1000: ten standard deviations of a binomial's mean are 3 %
near "sums are made up for" 1e8 "$(bytes share MEMLEAK:allocated lose)" 3e6
near "each stands for ten" 0 "$(($(bytes share MEMLEAK:allocated lose) % 10000))" 1
same "what is tallied when allocated is tallied when freed" "$(bytes share MEMLEAK:allocated hand_over)" \
	"$(bytes share MEMLEAK:freed hand_over)"
code "HPCToolkit's variable" 0 env HPCRUN_MEMLEAK_PROB=0.5 hpct-record -o half.hpct -e MEMLEAK -- "$samples/leaks" 100
near "it is heard" 1e7 "$(bytes half MEMLEAK:allocated lose)" 1e6
check "a half stands for twice" [ $(($(bytes half MEMLEAK:allocated lose) % 2000)) -eq 0 ]
for wrong in 0 2 -1 x 1/0 0.1x ''; do
	code "--memleak-prob '$wrong'" 125 hpct-record -e MEMLEAK --memleak-prob "$wrong" -- true
	sentence "--memleak-prob '$wrong'"
done
code "a period" 125 hpct-record -e MEMLEAK@5 -- true
sentence "a period"

same "not asked for, not there" "" "$(hpct-record -o none.hpct -- "$samples/leaks" >out && info none lost | grep -v '^0$'
	hpct-profile none.hpct --format tsv | head -n 1 | grep MEMLEAK)"
strict=$HPCT_BIN/../tests/strict_malloc.so
LD_PRELOAD=$strict event=MEMLEAK both strict "$samples/leaks"
exact strict
for allocator in /usr/lib/*/libjemalloc.so.2 /usr/lib/*/libtcmalloc_minimal.so.4; do
	[ -e "$allocator" ] || continue
	LD_PRELOAD=$allocator event=MEMLEAK both other "$samples/leaks"
	exact other
	rm -rf other.hpct
done
[ ! -x "$samples/storm" ] || event=MEMLEAK both storm "$samples/storm" 0.3
if [ -x "$samples/templates" ]; then # new calls malloc
	event=MEMLEAK both templates "$samples/templates" 0.05
	check "what C++ allocates is there" calc "$(bytes templates MEMLEAK:allocated 'operator new.*') > 0"
fi

# Paths of a thread that has more room for them than the one that frees.
record deeper -r -e MEMLEAK -- "$HPCT_BIN/../tests/frees" >out 2>err || fail "another frees: does not end well"
same "another frees: its output" 64 "$(cat out)"
same "another frees: allocated at depth, freed" "6400 6400" "$(bytes deeper MEMLEAK:allocated allocate) $(hpct-slice deeper.hpct \
	--format tsv | tsv '$c["metric"] == "MEMLEAK:freed" && $c["value"] >= 6400 { print $c["value"] }')"
# What the ring has no room for has no path, for those who free it neither.
record unordered -r -e MEMLEAK -- "$HPCT_BIN/../tests/frees" unordered >out 2>err || fail "no order: does not end well"
hpct-slice unordered.hpct --format tsv | tsv '$c["track"] == "values" && $c["path"] ~ /^<thread root>/ {
	n[$c["metric"] " " $c["path"]] += $c["value"] } END { for (k in n) print n[k], k }' | sort | cut -c 1-200 >values
check "no order: nothing is allocated where the thread began: $(cat values)" \
	awk '/<thread root>$/ { exit 1 } / MEMLEAK:allocated / { n += $1 } END { exit n != 6400 }' values
check "no order: freed where it was allocated, or nowhere known: $(cat values)" awk '
	$2 == "MEMLEAK:freed" { sum += $1; if ($0 !~ /<partial>$/) freed[$3] = $1 } $2 != "MEMLEAK:freed" { allocated[$3] = $1 }
	END { for (p in freed) if (freed[p] > allocated[p]) exit 1; exit sum != 6400 }' values
