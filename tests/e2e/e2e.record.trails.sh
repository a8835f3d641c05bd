#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Paths that were walked before and look like others: each mark stands on the path that its name tells.
. "$(dirname -- "$0")/expect.sh"

record trails -- "$HPCT_BIN/../tests/trails" 200 || fail "trails does not end well"
hpct-slice trails.hpct --op mark --format tsv | tsv '
	$c["op"] == "mark" { n = split($c["path"], f, ";"); print substr($c["attributes"], 6), "is", f[n - 1], f[n] }' |
	sort | uniq -c | awk '{ $1 = $1 } 1' >got
cat >wanted <<'ROWS'
800 left far is left far
800 left near is left near
800 right far is right far
800 right near is right near
ROWS
same_file "marks by name and by path" wanted got
same "lost" 0 "$(info trails lost)"
