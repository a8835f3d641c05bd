#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# claims_test.sh HOUSE : every line of tests/lint/claims has words that the README says and tests that are there, and every
# point of three sections of the README has a line.
set -uo pipefail
cd -- "${1:-.}" || exit 1
failed=0
bad() { failed=1 && echo "tests/lint/claims: $*"; }
folded() { tr -s ' \t\n' ' ' | tr -d '*' | tr '[:upper:]' '[:lower:]'; }
readme=$(folded <README.md)
claims=()
while read -r line; do
	words=${line% | *} proofs=${line##* | }
	claims+=("$(folded <<<"$words" | sed 's/ $//')")
	[[ $readme == *"${claims[-1]}"* ]] || bad "the README does not say: $words"
	for proof in $proofs; do
		case $proof in
		./build.sh:*) grep -q "^verb_${proof#*:}()" build.sh || bad "$proof is no verb" ;;
		*/*) [ -e "$proof" ] || bad "$proof is not there" ;;
		*) [ -e "tests/e2e/$proof.sh" ] || bad "$proof is no test" ;;
		esac
	done
done < <(grep -v '^#' tests/lint/claims)
[ ${#claims[@]} -gt 20 ] || bad "too few lines"
# Points: items of "Why", rows of the first table of "Requirements", rows of "Beside other tools".
points() { # SECTION PATTERN
	awk -v section="## $1" '/^## / { in_it = $0 == section; tables = 0 } in_it && /^\|---/ { tables++ } in_it { print tables "\t" $0 }' README.md |
		sed 's/^[01]\t//; /^[0-9]\t/d' | awk '/^- / { if (item) print item; item = $0; next } /^  / && item { item = item $0; next } { if (item) print item; item = ""; print } END { if (item) print item }' |
		grep -E "$2" | grep -vE '^\|(---| (part|package) \| (needed|for))|^\| \| hpct'
}
seen=0
while read -r point; do
	seen=$((seen + 1)) found=
	point=$(folded <<<"$point")
	for claim in "${claims[@]}"; do
		[[ $point != *"$claim"* ]] || found=1
	done
	[ -n "$found" ] || bad "nothing holds this: ${point:0:90}"
done < <(points Why '^- ' && points Requirements '^\| ' && points "Beside other tools" '^\| ')
[ "$seen" -ge 20 ] || bad "only $seen points are seen in the README"
exit $failed
