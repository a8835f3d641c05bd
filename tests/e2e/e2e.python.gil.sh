#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Python's lock: samples/gil.py, in which one thread holds it while another wants it: who held it, and in what; the waits
# are spans of their own, whole ones.
. "$(dirname -- "$0")/expect.sh"
. "$HPCT_SOURCE/tests/e2e/pythons.sh"
rounds=40
stream_of() { # TID
	hpct-info r.hpct --streams --format tsv | tsv '$c["tid"] == '"$1"' { print $c["stream"] }'
}
while read -r python; do
	rm -rf r.hpct
	record r -- "$python" "$HPCT_SOURCE/samples/gil.py" $rounds >out || fail "$python: the program does not end well"
	read -r holder waiter <out
	holder=$(stream_of "$holder") waiter=$(stream_of "$waiter")
	hpct-blame r.hpct --of gil-pair --format tsv >pairs
	same "$python: who waits most, for whom" "$waiter $holder" "$(tsv 'NR == 2 { print $c["waiter"], $c["holder"] }' <pairs)"
	hpct-slice r.hpct --op gil --format tsv | tsv '$c["stream"] == "'"$waiter"'" && $c["op"] == "gil"' >spans
	# The holder never gives the lock away within a round: most of the rounds have a wait, and no round two.
	check "$python: $(wc -l <spans) waits in $rounds rounds" [ "$(wc -l <spans)" -ge $((rounds / 2)) ]
	same "$python: waits that another thread interrupts" 0 "$(grep -c again= spans)"
	check "$python: most are longer than the interpreter's 5 ms" awk -F '\t' '
		{ n++; long += $4 - $3 > 10000000 } END { exit !(n && 2 * long > n) }' spans
	check "$python: waits have the waiter's path" grep -q ';waiter;' spans
	# Of the waiter's waits alone, all of which are for the holder: the planted call has 99 %, less what the machine
	# takes from the holder elsewhere.
	hpct-blame r.hpct --of gil --by path --streams "stream=$waiter" --format tsv >held
	tsv '{ all += $c["blame_ns"]; if ($c["key"] ~ /;planted(;|$)/) it += $c["blame_ns"] }
		END { printf "planted has %.2f %% of the wait\n", all ? 100 * it / all : 0; exit !(it >= 0.95 * all) }' <held ||
		fail "$python: what the holder did: $(head -5 held)"
	hpct-blame r.hpct --of gil --summary --format tsv | tsv '{ v[$c["key"]] = $c["value"] }
		END { exit !(v["waits"] > 0 && v["held_ns"] + v["unknown_ns"] == v["waited_ns"]) }' ||
		fail "$python: waited = held + unknown"
	same "$python: sites sum to what was waited" "$(tsv '{ n += $c["blame_ns"] } END { printf "%.0f", n }' <pairs)" \
		"$(hpct-blame r.hpct --of gil-wait --format tsv | tsv '{ n += $c["blame_ns"] } END { printf "%.0f", n }')"
	tsv '$c["cause"] == "gil" { n++ } END { exit !n }' < <(hpct-blame r.hpct --of waiting --by cause --format tsv) ||
		fail "$python: a cause of waits"
done < <(pythons)
