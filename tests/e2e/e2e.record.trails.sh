#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Paths that were walked before and look like others: each mark stands on the path that its name tells.
. "$(dirname -- "$0")/expect.sh"

tests=$HPCT_BIN/../tests
# The loader is given relative names, and knows no others; the collector works elsewhere.
cp "$tests/trails_before.so" "$tests/trails_after.so" .
record trails -- "$tests/trails" 200 ./trails_before.so ./trails_after.so >out || fail "trails does not end well"
same "times that a library lay where the other had lain" 99 "$(cat out)"
hpct-slice trails.hpct --op mark --format tsv | tsv '
	$c["op"] == "mark" && $c["path"] !~ /;(fan8|deep|fore|aft);/ { n = split($c["path"], f, ";"); print substr($c["attributes"], 6), "is", f[n - 1], f[n] }' |
	sort | uniq -c | awk '{ $1 = $1 } 1' >got
cat >wanted <<'ROWS'
200 after near is after near
200 before near is before near
200 even near is even near
800 left far is left far
800 left near is left near
200 leap far is leap far
200 leap near is leap near
200 odd far is odd far
800 right far is right far
800 right near is right near
ROWS
sort -k2 wanted >wanted.sorted
sort -k2 got >got.sorted
same_file "marks by name and by path" wanted.sorted got.sorted
# d8 or u8, d7 or u7, ...: the path that the name spells, innermost first.
hpct-slice trails.hpct --op mark --format tsv | tsv '
	$c["op"] == "mark" && $c["path"] ~ /;fan8;/ {
		name = ""
		n = split($c["path"], f, ";")
		for (i = n; i > 0; i--)
			if (f[i] ~ /^[du][0-9]$/)
				name = name substr(f[i], 1, 1)
		print name == substr($c["attributes"], 6) ? "right" : "wrong"
		if (!seen[name]++)
			paths++
	} END { print paths, "paths" }' | sort | uniq -c | awk '{ $1 = $1 } 1' >got
printf '1 300 paths\n1800 right\n' >wanted
same_file "paths of a fan" wanted got
# Through code made at run time: who began is who ended.
hpct-slice trails.hpct --op mark --format tsv | tsv '
	$c["op"] == "mark" && match($c["path"], /;(fore|aft);/) {
		n = split($c["path"], f, ";")
		print substr($c["attributes"], 6), "is", substr($c["path"], RSTART + 1, RLENGTH - 2), f[n] }' |
	sort | uniq -c | awk '{ $1 = $1 } 1' >got
printf '199 fore is fore fore_end\n201 aft is aft aft_end\n' | sort >wanted
sort -o got got
same_file "paths through made code" wanted got
# 200 turns: by three.
hpct-slice trails.hpct --op mark --format tsv | tsv '
	$c["op"] == "mark" && match($c["path"], /;[a-z]*;deep;/) {
		print substr($c["attributes"], 6), "is", substr($c["path"], RSTART + 1, RLENGTH - 7) }' |
	sort | uniq -c | awk '{ $1 = $1 } 1' >got
printf '199 port is port\n201 starboard is starboard\n' >wanted
same_file "deep paths" wanted got
same "lost" 0 "$(info trails lost)"
