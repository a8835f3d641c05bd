#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Profiles of GPU instructions go from the kernel through functions inlined there, loops and lines to the instruction: for
# each instruction of a kernel the chain of lines is nvdisasm's (tests/gpu/flow-sm90.listing).
set -euo pipefail
. "$(dirname -- "$0")/expect.sh"
gpu=$HPCT_SOURCE/tests/gpu
{
	printf 'kernel\toffset\treason\tweight\ttime_ns\tend_ns\n'
	printf 'nest\t\t\t\t1000\t900000\n'
	for ((at = 0; at < 0x580; at += 16)); do
		printf 'nest\t%#x\tlong_scoreboard\t10\t100000\t\n' $at
	done
} >nest.samples
hpct-import --from gpu-samples nest.samples --binary "$gpu/flow-sm90.cubin" -o nest.hpct || fail "import"
hpct-profile --metric 'GINST*' --format tsv nest.hpct >top || fail "profile"
base=$(tsv '$c["kind"] == "instruction" { print $c["name"] }' <top | sed 's/.*+//' | sort | sed -n 1p)

# By instruction: its offset, places of calls outwards to its own line, functions, loops; by depth, a row stands below
# the last one that is less deep.
tsv '
	function place(text) { sub(/.*\//, "", text); return text ":" }
	function number(hex, n, i) { n = 0; for (i = 3; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
	{ d = $c["depth"]; kind[d] = $c["kind"]; name[d] = $c["name"]; at[d] = place($c["file"]) $c["line"] }
	$c["kind"] == "instruction" {
		places = functions = loops = ""
		for (i = 2; i < d; i++) {
			if (kind[i] == "inline") places = places " " at[i]
			if (kind[i] == "inline" || kind[i] == "function") functions = functions " " name[i]
			if (kind[i] == "loop") loops = loops " " at[i]
		}
		sub(/.*\+/, "", $c["name"])
		printf "%x\t%s %s\t%s\t%s\t%s\n", number($c["name"]) - number("'"$base"'"), places, kind[d - 1] == "line" ? at[d - 1] : "?", functions, loops, at[d]
	}' <top | sort >instructions
same "each instruction once" 88 "$(cut -f 1 instructions | sort -u | wc -l)"
awk 'function number(hex, n, i) { n = 0; for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
	$1 == "line" && $2 == "nest" { from[n] = number($3); sub(/^line nest [0-9a-f]+/, ""); chain[n++] = $0 }
	END { from[n] = 88 * 16; for (i = 0; i < n; i++) for (at = from[i]; at < from[i + 1]; at += 16) printf "%x\t%s\n", at, chain[i] }' \
	"$gpu/flow-sm90.listing" | sort >chains
check "chains of lines are nvdisasm's" diff <(cut -f 1,2 instructions) chains
row() { awk -F '\t' -v at="$1" '$1 == at { print $3 "|" $4 "|" $5 }' instructions; }
same "a loop in an inlined function in a loop" " nest row_sum| flow.cu:37 flow.cu:21|flow.cu:22" "$(row 280)"
same "inlined in what is inlined, without a loop" " nest twice<float> row_sum||flow.cu:22" "$(row 3b0)"
same "a device function that is called stands below its kernel" " nest poly| flow.cu:11|flow.cu:12" "$(row 480)"

# What was sampled at its instructions is the function's own; lines and loops have theirs.
values() { # KIND NAME : inclusive, exclusive of the rows
	tsv '$c["kind"] == "'"$1"'" && index($c["name"], "'"$2"'") == 1 { print $(NF - 1), $NF }' | xargs
}
same "the kernel: 88 instructions, 24 of poly, 14 inlined" "880 500" "$(values function nest <top)"
same "poly" "240 240" "$(values function poly <top)"
hpct-profile --metric 'GINST*' --format tsv --view flat nest.hpct >flat || fail "flat"
same "flat: the kernel's own" "880 500" "$(values function nest <flat)"
same "flat: modules hold each sample once" 880 "$(tsv '$c["kind"] == "module" { sum += $NF } END { print sum }' <flat)"
hpct-profile --metric 'GINST*' --format tsv --view bottom-up nest.hpct >up || fail "bottom-up"
same "bottom-up: the kernel's own" "880 500" "$(awk -F '\t' 'NR == 1 || $1 == 1' up | values function nest)"

# Functions of the report are the sampled ones, whatever is inlined.
same "samples of the kernel" "nest 880" "$(hpct-advise nest.hpct --format tsv | awk -F '\t' 'NR > 1 { print $1, $6 }' | sort -u)"
same "by function" "nest 880" "$(hpct-stats --metric GINST --format tsv nest.hpct | tsv '{ print $c["key"], $c["weight"] }')"
same "by loop" "/usr/src/flow/flow.cu:21" "$(hpct-stats --metric GINST --by loop --format tsv nest.hpct | tsv '{ print $c["key"] }' | grep ':21$')"
