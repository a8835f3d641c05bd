#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Locks that are never had: the waits that the program's end finds are spans `lock` with the lock and who holds it, and
# hpct-view names the circle in three keys.
. "$(dirname -- "$0")/expect.sh"
deadlock=$HPCT_BIN/../tests/deadlock

for threads in 2 3; do
	run=dead$threads
	record "$run" -- "$deadlock" "$threads" >tids
	same "$run: its status" 3 $?
	hpct-info "$run.hpct" --streams --format tsv | tsv '{ print $c["stream"], $c["tid"] }' >streams
	hpct-slice "$run.hpct" --op lock --format tsv | tsv '{ print $c["stream"], $c["attributes"] }' |
		sed -n 's/\(.*\) .*holder=\([0-9]*\).*/\1 \2/p' >waits
	# who waits for whom, by thread ids
	awk 'NR == FNR { tid[$1] = $2; next } { print tid[$1], $2 }' streams waits | sort >got
	awk '{ tid[NR] = $1 } END { for (i = 1; i <= NR; i++) print tid[i], tid[i % NR + 1] }' tids | sort >wanted
	same_file "$run: who waits for whom" wanted got
	same "$run: each for a lock of its own" "$threads" \
		"$(hpct-slice "$run.hpct" --op lock --format tsv | grep -o 'lock=0x[0-9a-f]*' | sort -u | wc -l)"
	hpct-view "$run.hpct" --print 200x40 --keys '!<Enter><Enter>' >screen
	check "$run: the view names the circle: $(tail -2 screen)" grep -q '^deadlock: .* waits for ' screen
	same "$run: all of it" "$threads" "$(grep '^deadlock' screen | grep -o ' for ' | wc -l)"
done
