#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Six functions inlined into each other: the chain, its kinds, its call sites and the sampled lines.
. "$(dirname -- "$0")/expect.sh"
record inline -- "$samples/inline" 3 || fail "inline does not end well"
near "time in the innermost inlined function" 100 "$(share inline i6)" 3
hpct-slice inline.hpct --format tsv | tsv '$c["track"] == "samples" { w[$c["path"]] += $c["weight"]; all += $c["weight"] }
	END { exit !(w["main;outer;i1;i2;i3;i4;i5;i6"] > 0.95 * all) }' ||
	fail "the path is not main;outer;i1;..;i6"
source=$HPCT_SOURCE/samples/inline.c
line_of() { grep -n -- "$1" "$source" | tail -n 1 | cut -d: -f1; }
hpct-profile inline.hpct --view top-down --format tsv >top
for k in 1 2 3 4 5 6; do
	caller=$([ "$k" -eq 1 ] && echo outer || echo "i$((k - 1))")
	got=$(tsv '{ name[$c["id"]] = $c["name"] }
		$c["name"] == "i'"$k"'" && $c["kind"] == "inline" && name[$c["parent"]] == "'"$caller"'" {
			print $c["file"]; exit }' <top)
	same "i$k is an inline node below $caller, in file" inline.c "${got##*/}"
done
begin=$(line_of 'MARK begin') end=$(line_of 'MARK end')
hpct-stats inline.hpct --by line --format tsv >lines
check "95 % of the time in the lines $begin to $end of inline.c" tsv '
	match($c["key"], /inline\.c:[0-9]+/) {
		line = substr($c["key"], RSTART + 9, RLENGTH - 9) + 0
		all += $c["time_ns"]
		if (line >= '"$begin"' && line <= '"$end"')
			in_it += $c["time_ns"]
	}
	END { exit !(in_it > 0 && in_it >= 0.95 * all) }' <lines
