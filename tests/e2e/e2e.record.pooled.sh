#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All samples of the real programs together: at least 2,000 (fast machines take few), at least 99.9 % with full stacks.
. "$(dirname -- "$0")/expect.sh"
cat "$HPCT_POOL"/* >pooled
awk -F '\t' '
	$3 !~ /^[0-9]+$/ { print "no count of partial stacks: " $1; bad = 1 }
	{ samples += $2; partial += $3 }
	END {
		printf "%d samples in %d runs, %d with partial stacks: %.3f %% full\n", samples, NR, partial,
			samples ? 100 - 100 * partial / samples : 0
		exit bad || samples < 2000 || partial > samples / 1000
	}' pooled || fail "too few samples, or too many partial stacks"
