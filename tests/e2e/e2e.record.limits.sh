#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Limits that a program sets itself, memory that it locks and its core file are about its own memory alone.
. "$(dirname -- "$0")/expect.sh"
limits=$HPCT_BIN/../tests/limits
for mode in as data mlockall current future core rttime; do
	both "$mode" "$limits" "$mode"
	same "$mode: state" complete "$(info "$mode" state)"
done
# Its own limits cost it no thread's measurement.
for mode in as data; do
	check "$mode: threads that were measured" calc "$(hpct-info "$mode.hpct" --streams --format tsv | tsv '{ n++ } END { print n }') >= 17"
done
# What a limit that was there before leaves to the program: with -r paths may be long, and no thread has room for a million frames.
for limit in d v; do
	(ulimit -S -$limit 8000000 && record "small-$limit" -r -- grep VmData /proc/self/status) >out || fail "ulimit -$limit: does not end well"
	check "ulimit -$limit: private memory in KiB: $(cat out)" awk '{ exit $2 > 60000 }' out
done
# Nor do the paths that allocate take it.
for limit in d v; do
	(ulimit -S -$limit 600000 && record "leaks-$limit" -e MEMLEAK -- grep VmData /proc/self/status) >out || fail "-e MEMLEAK, ulimit -$limit: does not end well"
	check "-e MEMLEAK, ulimit -$limit: private memory in KiB: $(cat out)" awk '{ exit $2 > 60000 }' out
done
# Without privileges what may be locked is limited, and hard limits are final.
command -v setpriv >/dev/null && [ "$(id -u)" = 0 ] || exit 0
chmod 711 . && mkdir -m 777 user && cd user || exit
mkdir -m 777 run
for mode in as data mlockall current future rttime; do
	bare=0 got=0
	(ulimit -S -l 131072 && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$limits" "$mode") >bare.out 2>/dev/null || bare=$?
	(ulimit -S -l 131072 && exec setpriv --reuid 65534 --regid 65534 --clear-groups hpct-record -o "run/$mode.hpct" -- "$limits" "$mode") \
		>got.out 2>got.err || got=$?
	same "user, $mode: exit code" "$bare" "$got"
	same_file "user, $mode: stdout" bare.out got.out
done
