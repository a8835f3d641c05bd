#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# modules_test.sh HOUSE : docs/modules.md is what the headers say, and a header that says something else is found.
set -euo pipefail
cd -- "${1:-.}"
python3 tests/lint/modules.py .
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r docs "$work"
for room in record store timeline blame tui formats; do cp -r "$room" "$work"; done
sed -i 's/heap\.h - binary heaps/heap.h - ternary heaps/' "$work/store/base/heap.h"
if python3 tests/lint/modules.py "$work" >"$work/said"; then
	echo "a header that says something else was not found"
	exit 1
fi
grep -q 'lacks: .*ternary heaps' "$work/said"
