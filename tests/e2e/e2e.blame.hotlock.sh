#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A hot lock of a Python program: Python's locks are semaphores of libc, whose post tells who held them.
. "$(dirname -- "$0")/expect.sh"
need python3
record hot -- python3 "$HPCT_SOURCE/tests/e2e/hot_lock.py" >measured.out || fail "hot_lock.py does not end well"
read -r holder waiter rounds <measured.out
hpct-info hot.hpct --streams --format tsv | tsv '{ print $c["tid"], $c["stream"] }' >threads
stream_of() { awk -v t="$1" '$1 == t { print $2; exit }' threads; }
owner=$(stream_of "$holder") other=$(stream_of "$waiter")
hpct-slice hot.hpct --streams "stream=$other" --op wait --format tsv | tsv '$c["path"] ~ /look_up/ { print $c["begin_ns"], $c["end_ns"] }' >waits
check "each round waits in look_up ($(wc -l <waits) of $rounds)" [ "$(wc -l <waits)" -ge "$rounds" ]
# Window by window: who let each of those waits go on?
while read -r begin end; do
	hpct-blame hot.hpct --of waiting --by cause --streams "stream=$other" --time "${begin}ns..${end}ns" --format tsv |
		tsv '$c["cause"] == "semaphore" { print $c["party"]; exit }'
done <waits >parties
same "whom they waited for" "$rounds $owner" "$(sort parties | uniq -c | sort -rn | awk 'NR == 1 { print $1, $2 }')"
