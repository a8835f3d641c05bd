#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A flight recording: what is old loses its records, and its weights stay.
. "$(dirname -- "$0")/expect.sh"

cat >spin <<'END'
while [ ! -e over ]; do i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); done; done
END
# left : how many samples have records
left() {
	hpct-slice flight.hpct --format tsv 2>/dev/null | tsv '$c["track"] == "samples" { n++ } END { print n + 0 }'
}
weight() { # [--no-rollups] : of the whole run; of what has records
	hpct-profile flight.hpct "$@" --format tsv 2>/dev/null | tsv 'NR == 2 { print $c["CPUTIME:incl"] }'
}
has_dropped() { # 200 samples and half of all, in number and in weight, while it goes on
	local taken
	taken=$(sample_count flight 2>/dev/null)
	[ "${taken:-0}" -gt 200 ] && [ $(($(left) + 200)) -lt "$taken" ] && [ $(($(left) * 2)) -lt "$taken" ] &&
		calc "$(weight) > 2 * $(weight --no-rollups)"
}
record flight --keep 1s -e CPUTIME@f500 -- bash spin &
check "what is old is dropped" await has_dropped
touch over
wait "$!" || fail "the program does not end well"
code "check" 0 hpct-info flight.hpct --check
taken=$(info flight samples)
left=$(left)
check "records are dropped" [ "$(info flight dropped)" -gt 0 ]
check "$left of $taken samples are left" calc "$left < $taken * 0.8"
weight=$(weight) scanned=$(weight --no-rollups)
check "the run's weight is known: $weight ns, $scanned in records" calc "$weight > 1.2 * $scanned"
same "rows say what is missing" 1 "$(hpct-slice flight.hpct --streams kind=cpu --op thinned --format tsv | tsv '
	$c["op"] == "thinned" && $c["weight"] > 100 { n++ } END { print n + 0 }')"
hpct-profile flight.hpct >table
check "the profile says so" grep -q 'thinned (known by rollups' table
hpct-blame flight.hpct >page
check "the page says why it knows little: $(head -n 4 page)" grep -q 'hpct-record --keep kept were dropped' page
code "a slice" 0 hpct-slice flight.hpct -o part.hpct
check "a slice says that sums of what was dropped are not in it" grep -q 'part.hpct has the records that are left' err
hpct-info part.hpct >out
check "its own pages say that time is thinned" grep -q '^thinned_ns *[1-9]' out
for reader in profile stats "profile --jobs 3"; do
	# shellcheck disable=SC2086 # words
	hpct-$reader part.hpct >out 2>err
	check "hpct-$reader of it: $(cat err out | head -n 1)" grep -q 'thinned (records were dropped' err out
done
code "an archive" 0 hpct-slice flight.hpct -o kept.hpct --archive
check "an archive says nothing: $(cat err)" [ ! -s err ]
same "the archive's weight" "$weight" "$(hpct-profile kept.hpct --format tsv | tsv 'NR == 2 { print $c["CPUTIME:incl"] }')"
code "a slice's check" 0 hpct-info part.hpct --check
for bad in 5x 0.5s s ''; do
	code "--keep '$bad'" 125 hpct-record --keep "$bad" -o bad.hpct true
	sentence "--keep '$bad'"
done
