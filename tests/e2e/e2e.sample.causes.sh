#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Why threads wait: samples/causes.c tells for each kind how long its main thread waited by its own clock; at least 95 %
# of that is attributed to the kind and to the thread that handed over. While the main thread waits for a core in such a
# call it waits for nothing else, though its clock goes on: that is taken off.
. "$(dirname -- "$0")/expect.sh"
record causes -- "$samples/causes" >truth || fail "causes"
hpct-blame causes.hpct --of waiting --by cause --format tsv >rows || fail "--by cause"
cat truth rows

main=$(hpct-info causes.hpct --streams --format tsv | tsv '$c["pid"] == $c["tid"] && $c["name"] == "causes" { print $c["stream"]; exit }')
runnable=$(hpct-slice causes.hpct --op runnable --format tsv | tsv '
	$c["stream"] == "'"$main"'" { n += $c["end_ns"] - $c["begin_ns"] } END { printf "%.0f", n }')

# told KIND PARTY : ns that wait for it; PARTY: a name, or - for none
told() {
	awk -F '\t' -v kind="$1" -v key="$1: $2" 'NR > 1 && $4 == kind && ($1 == key || (key == kind ": -" && $5 == "-")) {
		sum += $2 } END { printf "%.0f", sum }' rows
}

while read -r kind cause party; do
	waited=$(awk -v kind="$kind" '$1 == kind { print $2 }' truth)
	got=$(told "$cause" "$party")
	echo "$kind: $got of $waited ns"
	check "$kind: $got of $waited ns are attributed to $cause by $party" \
		awk -v got="$got" -v waited="$waited" -v runnable="$runnable" 'BEGIN { exit !(got >= 0.95 * waited - 1e6 - runnable && got <= 1.05 * waited + 2e6) }'
done <<'END'
pipe pipe pipe
polled pipe polled
socket socket socket
inet socket inet
eventfd eventfd eventfd
condition condition condition
semaphore semaphore semaphore
barrier barrier barrier
join join join
child child causes
timer timer -
piped pipe piped
END
unknown=$(hpct-blame causes.hpct --of waiting --by cause --summary --format tsv | tsv '
	{ v[$c["key"]] = $c["value"] }
	END { for (key in v) if (key ~ /_ns$/ && key != "waiting_ns") sum += v[key]
	printf "%s %d", sum == v["waiting_ns"] ? "sums" : "does not sum", 100 * v["unknown_ns"] / (v["waiting_ns"] - v["cpu_ns"]) }')
same "the kinds sum to what was waited; per cent unknown" "sums 0" "$unknown"
