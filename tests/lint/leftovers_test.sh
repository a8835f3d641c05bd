#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# leftovers_test.sh ROOT - what a merge or a build leaves behind is not in the tree: lines that mark a conflict, and
# files at the top that are no part of it (those that git keeps).
set -uo pipefail
cd -- "$1" || exit 1
rooms='record store blame timeline tui formats tests samples docs man'
files='build.sh CMakeLists.txt README.md CHANGELOG.md CONTRIBUTING.md LICENSE'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

conflicts() { grep -rnIE '^(<{7}|>{7}) ' "$@"; }
strangers() { grep -vxE "\\..*|${rooms// /|}|${files// /|}"; }

# shellcheck disable=SC2086
if conflicts $rooms $files; then
	echo "these lines are what a merge could not settle"
	exit 1
fi
if git rev-parse --is-inside-work-tree >/dev/null 2>&1 && git ls-files | cut -d/ -f1 | sort -u | strangers; then
	echo "these names are no part of the tree"
	exit 1
fi
printf '%.0s<' {1..7} >"$work/planted"
echo ' HEAD' >>"$work/planted"
conflicts "$work" >/dev/null || { echo "a planted conflict was not found"; exit 1; }
[ "$(printf 'build.sh\nbuild.log\n.ci\nstore\n' | strangers)" = build.log ] || { echo "a planted name was not found"; exit 1; }
