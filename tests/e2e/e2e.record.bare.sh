#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Code without unwind tables and without frame pointers: its machine code tells where the callers are.
. "$(dirname -- "$0")/expect.sh"

[ "$(uname -m)" = x86_64 ] || skip "machine code is read on x86-64 alone"
bare=$HPCT_BIN/../tests/bare
readelf --debug-dump=frames "$bare" >frames 2>/dev/null
check "no tables but those of the start-up code: $(grep -c FDE frames)" [ "$(grep -c FDE frames)" -lt 10 ]
for seconds in 1.5 6; do # of CPU time; a slow tick takes few samples
	record bare --overwrite -e CPUTIME@f1000 -- "$bare" $seconds || fail "bare does not end well"
	hpct-slice bare.hpct --format tsv | tsv '
		$c["track"] == "samples" && $c["weight"] > 0 { all++; print $c["path"] }
		END { print all + 0 > "count" }' >paths
	samples=$(cat count)
	[ "$samples" -lt 300 ] || break
done
check "enough samples: $samples" [ "$samples" -gt 100 ]
# Behind it the kernel or the clock may be at work.
good=$(grep -cE '^main;outer(;middle(;inner(;(by_hand|(aligned|kept)(;leaf)?))?)?)?(;[^;]*(clock|sysvec|interrupt|exc_|kernel|entry).*)?$' paths)
check "samples on the paths that there are: $good of $samples" [ "$good" -ge $((samples * 99 / 100)) ]
check "samples in by_hand" grep -q ';inner;by_hand$' paths
for function in 'aligned' 'aligned;leaf' 'kept' 'kept;leaf'; do
	check "samples in $function" grep -q ";inner;$function$" paths
done
check "samples in inner" grep -q ';middle;inner$' paths
partial=$(info bare partial_stacks)
check "partial stacks: $partial of $samples" [ "$partial" -le $((samples / 100)) ]
