#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 300 random addresses of a program of many units: lines and inlined calls as addr2line -i has them. The same for
# 10,000 addresses of large binaries: ./build.sh compare.
. "$(dirname -- "$0")/expect.sh"
need python3 addr2line nm
seed=$RANDOM
python3 "$HPCT_SOURCE/tests/compare/lines.py" --names "$HPCT_BIN/hpct-names" --count 300 --seed "$seed" --floor 99 \
	"$HPCT_BIN/hpct-view" || fail "seed $seed: fewer than 99 % of the chains are equal"
