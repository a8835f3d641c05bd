#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Samples of GPU instructions, of several binaries whose addresses overlap: an address that its row's kernel tells belongs
# to that kernel's binary, whatever the order of the files and however the kernel is spelled.
. "$(dirname -- "$0")/expect.sh"
gpu=$HPCT_SOURCE/tests/gpu
places() { hpct-slice "$1.hpct" --format tsv | tsv '$c["track"] == "samples" { print $c["path"] }'; }
kernels() { readelf -sW "$1" | awk '$4 == "FUNC" && $5 == "GLOBAL" { print $NF }'; }
first=$gpu/faults-sm90.cubin second=$gpu/more_faults-sm90.cubin
for kernel in $(kernels "$second"); do
	printf '%s\t0x40\tlong_scoreboard\t3\n' "$kernel"
done | sed '1i kernel\toffset\treason\tweight' >offsets
hpct-import --from gpu-samples offsets --binary "$second" -o alone.hpct || fail "by offsets"
places alone >want
check "kernels of one binary: $(wc -l <want)" [ "$(wc -l <want)" -gt 10 ]
awk -F '[;+]' -v OFS='\t' 'BEGIN { print "kernel", "address", "reason", "weight" } { print $2, $NF, "long_scoreboard", 3 }' want >mangled
c++filt -p <mangled >plain
code_of() { sed 's/.*;//' "$1" | sort; } # binary and address
code_of want >code
for rows in mangled plain; do
	for files in "$first $second" "$second $first"; do
		read -r one two <<<"$files"
		hpct-import --from gpu-samples $rows --binary "$one" --binary "$two" -o $rows.hpct || fail "$rows"
		places $rows >places
		code_of places >got
		same_file "$rows, ${one##*/} first" code got
		rm -r $rows.hpct
	done
done

# A damaged file has a reason of its own in each row: 256 are told apart, with those of vendors that come first.
{
	printf 'kernel\taddress\treason\nk\t0x0\twaitcnt\n'
	for i in {1..1000}; do printf 'k\t0x%x\treason %d\n' "$i" "$i"; done
	printf 'k\t0x0\twaitcnt\n'
} >reasons
hpct-import --from gpu-samples reasons -o reasons.hpct 2>err || fail "many reasons"
check "that they are unknown is said: $(cat err)" grep -q '1000 reasons that are known of no vendor' err
same "metrics: waitcnt, 255 unknown ones, other" "257 1 2" "$(hpct-slice reasons.hpct --format tsv | tsv '$c["track"] == "samples" { n[$c["metric"]]++ } END {
	for (m in n) all++; print all, n["GINST:STL_OTH/reason_255/not_issued"], n["GINST:STL_GMEM/waitcnt/not_issued"] }')"
