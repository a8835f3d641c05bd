#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Loops in a function, in an inlined one and around a call: their nests and lines, their time, the flat view.
. "$(dirname -- "$0")/expect.sh"
hpct-names "$samples/loops" "$(nm "$samples/loops" | awk '$3 == "work" { print $1 }')" 2>&1 | grep -q capstone && skip "hpct was built without capstone: no loops"
# Long enough for shares: on a crowded machine a CPU second has a hundred samples.
record loops -- "$samples/loops" 6 || fail "loops does not end well"
source=$HPCT_SOURCE/samples/loops.c
line_of() { grep -n -- "MARK $1 " "$source" | tail -n 1 | cut -d: -f1; }
outer=$(line_of outer) middle=$(line_of middle) called=$(line_of called) inner=$(line_of inner) leaf=$(line_of leaf)

# paths of kinds and names, root first: the most time is in each marked nest
nests() { # VIEW : path, exclusive ns
	hpct-profile loops.hpct --view "$1" --format tsv | tsv '
		{ path[$c["id"]] = path[$c["parent"]] "/" $c["name"]; print path[$c["id"]] "\t" $c["CPUTIME:excl"] "\t" $c["CPUTIME:incl"] }'
}
nests top-down >top
nest_is() { # SENTENCE PATH TABLE
	check "$1: $2" awk -F '\t' -v want="$2" 'index($1, want) && substr($1, length($1) - length(want) + 1) == want { f = 1 } END { exit !f }' "$3"
}
nest_is "the loop in the inlined function" "/work/loop at loops.c: $outer/loop at loops.c: $middle/sum_row/loop at loops.c: $inner/loops.c:$((inner + 1))" top
nest_is "the loop around a call" "/work/loop at loops.c: $outer/loop at loops.c: $called/leaf/loop at loops.c: $leaf" top
nests flat >flat
nest_is "flat: the loop in the inlined function" "/work/loop at loops.c: $outer/loop at loops.c: $middle/sum_row/loop at loops.c: $inner" flat
nest_is "flat: leaf is a function of its own" "/loops.c/leaf/loop at loops.c: $leaf" flat
outer_share=$(awk -F '\t' -v want="/work/loop at loops.c: $outer" '
	NR == 2 { all = $3 } index($1, want) && substr($1, length($1) - length(want) + 1) == want { n = $3 } END { print 100 * n / all }' flat)
near "flat: all time in the outer loop, what it calls included" 100 "$outer_share" 2

hpct-stats loops.hpct --by loop --format tsv >stats
share_of_loop() { tsv '$c["key"] ~ /loops.c:'"$1"'$/ { n = $c["time_ns"] } $c["key"] ~ /loops.c:/ { all += $c["time_ns"] } END { print 100 * n / all }' <stats; }
near "time by loop: the inner one" 66.7 "$(share_of_loop "$inner")" 8
near "time by loop: the leaf's" 33.3 "$(share_of_loop "$leaf")" 8
for by in inline file instruction module line; do
	hpct-stats loops.hpct --by "$by" --format tsv >"by.$by" || fail "--by $by does not work"
	same "--by $by: all rows sum to the same" "$(tsv '{ n += $c["time_ns"] } END { print n }' <stats)" \
		"$(tsv '{ n += $c["time_ns"] } END { print n }' <"by.$by")"
done
check "--by inline: work;sum_row" grep -q '^work;sum_row	' by.inline
check "--by file: loops.c" grep -q '/samples/loops.c	' by.file
check "--by instruction: in the program" grep -Eq '/loops\+0x[0-9a-f]+	' by.instruction
