#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# seeds_test.sh HOUSE : every random unit test takes its seed by the one rule of tests/unit/seed.h.
set -uo pipefail
cd -- "${1:-.}/tests/unit" || exit 1
failed=0
while read -r line; do
	echo "tests/unit/$line: takes a seed past seed.h"
	failed=1
done < <(grep -nE 'getenv\("HPCT_(SEED|RANDOM)"\)|srand\((time|[0-9(]*getpid)|srand\([0-9]+\)|seed = (\(unsigned\))?(time\(|getpid|[0-9]+;)' \
	-- *.c *.h | grep -vE '^(seed\.h|timeline_gpu_flow\.c):')
while read -r file; do
	grep -qE 'seed_(take|rounds)|small_seed' "$file" || {
		echo "tests/unit/$file draws, and takes no seed by seed.h"
		failed=1
	}
done < <(grep -lE '\b(srand|rand_r)\(' -- *.c)
exit "$failed"
