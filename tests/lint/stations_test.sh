#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# stations_test.sh HOUSE : the chains of CONTRIBUTING.md hold, and one with a call that is not made is found.
set -euo pipefail
cd -- "${1:-.}"
python3 tests/lint/stations.py .
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for room in record store timeline blame tui; do ln -s "$PWD/$room" "$work/$room"; done
sed 's/handle -> handler_call_take/handle -> sample_take_wait/' CONTRIBUTING.md >"$work/CONTRIBUTING.md"
if python3 tests/lint/stations.py "$work" >"$work/said"; then
	echo "a planted call that is not made was not found"
	exit 1
fi
grep -q 'handle does not call sample_take_wait' "$work/said"
