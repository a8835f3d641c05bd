#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every function of a chain of thirty is in every path.
. "$(dirname -- "$0")/expect.sh"
record deep -- "$samples/deep" 1 || fail "deep does not end well"
chain="main$(printf ';f%02d' $(seq 1 30))"
hpct-slice deep.hpct --format tsv | tsv '
	$c["track"] == "samples" && $c["weight"] > 0 {
		all++
		if (index($c["path"] ";", "'"$chain"';") == 1)
			whole++
		else
			print "not the chain: " $c["path"]
	}
	END { print whole + 0 " of " all + 0 " paths hold the chain"; exit !(all >= 50 && all - whole <= 2) }' ||
	fail "paths without the whole chain"
same "partial stacks" 0 "$(info deep partial_stacks)"
