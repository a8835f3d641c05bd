#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pages_test.sh HOUSE : what the pages name is there: each file in backquotes, each page that is linked, each program
# hpct-VERB, each verb of build.sh. Words with NAME, ROOM, PART or PID in them stand for many. What comments name is there
# as well: pages, and texts that methods come from (S4: docs/sources.md).
set -uo pipefail
cd -- "${1:-.}" || exit 1
failed=0
pages=(README.md CONTRIBUTING.md CHANGELOG.md store/FORMAT.md tui/SCREEN.md samples/README.md tests/gpu/README.md docs/*.md
	docs/recipes/*.md)

missing() { # PAGE WORD
	echo "$1 names $2, which is not there"
	failed=1
}

for page in "${pages[@]}"; do
	while read -r word; do
		case $word in
		*NAME* | *ROOM* | *PART* | *PID* | *\** | build/* | /*) continue ;;
		esac
		[ -e "$word" ] || [ -e "$(dirname "$page")/$word" ] || [ -e "$word.c" ] ||
			[ -n "$(find record store timeline blame tui formats tests samples docs man -path "*/$word" -print -quit)" ] ||
			missing "$page" "$word"
	done < <(grep -ohE '`[A-Za-z0-9_./*-]+`' "$page" | tr -d '`' |
		grep -E '\.(c|h|cc|cu|cl|map|md|sh|txt|py|awk|f90|yaml|1)$|^(record|store|timeline|blame|tui|formats|tests|samples|docs|man)/' | sort -u)
	while read -r link; do
		[ -e "$(dirname "$page")/$link" ] || missing "$page" "$link"
	done < <(grep -oE '\]\([^)#:]+\)' "$page" | tr -d '()]' | sort -u)
	while read -r program; do
		[ -f "man/$program.1" ] || missing "$page" "$program"
	done < <(grep -ohE '\bhpct-[a-z]+\b' "$page" |
		grep -vE '^hpct-(ranks|agent|dev|doc|arc|config|store)$' | sort -u)
	while read -r verb; do
		grep -q "^verb_$verb()" build.sh || missing "$page" "./build.sh $verb"
	done < <(grep -ohE '\./build\.sh [a-z0-9]+' "$page" | sed 's/.* //' | sort -u)
done
for page in man/*.1; do
	while read -r other; do
		[ -f "man/$other.1" ] || missing "$page" "$other(1)"
	done < <(sed -n 's/^\.Xr \(hpct[a-z-]*\) 1.*/\1/p' "$page" | sort -u)
done
code=(record store timeline blame tui formats tests samples docs)
while read -r page; do
	[ -e "$page" ] || [ -n "$(find . -path ./build -prune -o -path "*/$page" -print -quit)" ] || missing "a comment" "$page"
done < <(grep -rohE '(^|[ ("])[A-Za-z][A-Za-z0-9_./-]+\.md\b' --include='*.[ch]' --include='*.c[cu]' --include='*.sh' "${code[@]}" | tr -d ' ("' | sort -u)
while read -r text; do
	grep -q "^| $text |" docs/sources.md || missing "a comment" "$text, a text in docs/sources.md"
done < <(grep -rohE '\bS[0-9] ([0-9]+(\.[0-9]+)*|tables?|[IVX]+-)' --include='*.[ch]' --include='*.c[cu]' --include='*.sh' "${code[@]}" |
	cut -d' ' -f1 | sort -u)
for sample in samples/*.{c,cc,cu,f90,py}; do
	name=$(basename "$sample")
	grep -qE "\`(${name%.*}|$name)[\`,]" samples/README.md || { echo "samples/README.md has no line for $sample" && failed=1; }
done
exit "$failed"
