#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shares of time within two points of the program's own reading, at 2000 samples and more that come in time; names of threads.
. "$(dirname -- "$0")/expect.sh"
for scale in 3 8; do # a busy machine brings some samples late, as one with a larger weight
	record phases --overwrite -- "$samples/phases" "$scale" >reading || fail "phases does not end well"
	count=$(sample_count phases)
	echo "scale $scale: $count samples"
	[ "$count" -lt 2000 ] || break
done
check "at least 2000 samples, got $count" [ "$count" -ge 2000 ]
limit=$(share_limit phases)
while IFS=$'\t' read -r function ns; do
	percent=$(awk -v f="$function" '{ all += $2 } $1 == f { n = $2 } END { print 100 * n / all }' reading)
	near "share of $function (CPU $ns ns)" "$percent" "$(share phases "$function")" "$limit"
done <reading
near "weights against the program's own sum" "$(awk '{ n += $2 } END { print n }' reading)" \
	"$(weight_sum phases)" "$(awk '{ n += $2 } END { print n / 100 + 25e6 }' reading)"
hpct-info phases.hpct --streams --format tsv | tsv '$c["kind"] == "cpu" { print $c["name"] }' | sort >names
same "names of the threads" "phases worker 1 worker 2 worker 3 worker 4 " "$(tr '\n' ' ' <names)"
hpct-profile phases.hpct --view top-down --format tsv >top
for path in "main read_input" "main exchange" "worker step" "step assemble" "step solve" "solve smooth"; do
	read -r above below <<<"$path"
	check "$below is called from $above in the profile" tsv '
		{ name[$c["id"]] = $c["kind"] == "loop" ? name[$c["parent"]] : $c["name"]
		  if ($c["name"] == "'"$below"'" && name[$c["parent"]] == "'"$above"'") found = 1 }
		END { exit !found }' <top
done
weights_agree phases
