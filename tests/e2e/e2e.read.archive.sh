#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An archive is a run: smaller, and every reader gives the same bytes.
. "$(dirname -- "$0")/expect.sh"

size() { cat "$1".hpct/*.md[bz] | wc -c; }
# alike A B [OPTION...] : all readers say the same of both
alike() {
	local a=$1 b=$2 reader
	shift 2
	for reader in "slice" "stats --by path" "stats --by stream" "profile" "profile --view bottom-up" "blame" "info --streams"; do
		# shellcheck disable=SC2086 # words
		hpct-$reader "$a.hpct" --format tsv "$@" >a.out 2>a.err
		# shellcheck disable=SC2086
		hpct-$reader "$b.hpct" --format tsv "$@" 2>b.err | sed "s/$b\.hpct/$a.hpct/g" >b.out
		same_file "hpct-$reader $* of $a and of $b" a.out b.out
	done
	hpct-view "$a.hpct" --print 100x30 | tail -n +2 >a.out # the first line is the run's name
	hpct-view "$b.hpct" --print 100x30 | tail -n +2 >b.out
	same_file "hpct-view of $a and of $b" a.out b.out
}

record real --gauges off -e CPUTIME@f500 -- "$samples/phases" 0.6 >/dev/null || fail "phases does not end well"
hpct-simulate -o mixed.hpct --shape mixed --streams 12 --records 30000 || fail "simulate"
hpct-simulate -o odd.hpct --shape odd --records 2000 || fail "simulate odd"
printf 'name\tbegin_ns\tend_ns\nhere\t1000\t2000\n' >mixed.hpct/marks.tsv
for run in real mixed odd; do
	code "archive of $run" 0 hpct-slice $run.hpct -o $run-kept.hpct --archive
	code "check of $run's archive" 0 hpct-info $run-kept.hpct --check
	alike $run $run-kept
	same "archived stores" 1 "$(info $run-kept archived)"
	echo "$run: $(size $run) bytes, archived $(size $run-kept)"
done
# Names and call paths of a run that has ended are packed already.
check "an archive of a recording takes at most three quarters: $(size real-kept) of $(size real)" calc "$(size real-kept) * 4 <= $(size real) * 3"
# So are a run's values since 4.0, without room between them: what is packed of noise is little.
check "an archive of simulated noise takes at most 0.85" calc "$(size mixed-kept) * 100 <= $(size mixed) * 85"
same "bytes that hpct-info tells" "$(size mixed-kept)" "$(info mixed-kept bytes)"
same_file "bookmarks come along" mixed.hpct/marks.tsv mixed-kept.hpct/marks.tsv
same "nothing else lies there" "$(ls -A real-kept.hpct)" "$(cd real-kept.hpct && ls -- *.mdz)"

# A part of a run, an archive of an archive, and a slice out of one.
hpct-slice mixed.hpct --time 1s..4s --streams 'kind=cpu' -o part.hpct
code "archive of a part" 0 hpct-slice mixed.hpct --time 1s..4s --streams 'kind=cpu' -o part-kept.hpct --archive
alike part part-kept
hpct-slice mixed-kept.hpct --time 1s..4s --streams 'kind=cpu' -o part-again.hpct
alike part part-again
code "archive of an archive" 0 hpct-slice mixed-kept.hpct -o twice.hpct --archive
check "packed twice is as large as packed once" cmp mixed-kept.hpct/*.mdz twice.hpct/*.mdz

# What a flight recording dropped is still summed up in its archive.
cat >spin <<'END'
while [ ! -e over ]; do i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); done; done
END
has_dropped() { [ "$(info flight dropped 2>/dev/null)" -gt 0 ] 2>/dev/null; }
record flight --keep 1s -- bash spin &
await has_dropped
touch over
wait "$!" || fail "the program does not end well"
code "archive of a flight recording" 0 hpct-slice flight.hpct -o flight-kept.hpct --archive
alike flight flight-kept
check "it had dropped some" [ "$(info flight-kept dropped)" -gt 0 ]

code "--archive without -o" 2 hpct-slice mixed.hpct --archive
sentence "--archive without -o"
code "an archive that is there" 2 hpct-slice mixed.hpct -o part.hpct --archive
code "an archive of nothing" 4 hpct-slice none.hpct -o no.hpct --archive

# Read-only, and without room for what is unpacked but in memory.
chmod -R a-w mixed-kept.hpct
alike mixed mixed-kept
TMPDIR=/nowhere alike mixed mixed-kept
chmod -R u+w mixed-kept.hpct

# Damage is an error and a sentence; what is cut short is, too.
store=$(echo mixed-kept.hpct/*.mdz)
cp "$store" whole
bytes=$(wc -c <whole)
for at in 9 20 41 60 500 5000 $((RANDOM * 2 % (bytes - 2))) $((RANDOM * 3 % (bytes - 2))); do
	cp whole "$store"
	printf '\xa5\x5a' | dd of="$store" bs=1 seek="$at" conv=notrunc status=none
	code "a damaged archive, at $at" 4 hpct-info mixed-kept.hpct --check
	sentence "a damaged archive, at $at"
done
for bytes in 0 7 39 64 300 10000; do
	head -c "$bytes" whole >"$store"
	code "an archive cut at $bytes" 4 hpct-info mixed-kept.hpct --check
	sentence "an archive cut at $bytes"
done

cp -r mixed.hpct circle.hpct
ln -sf marks.tsv circle.hpct/marks.tsv
code "an archive of a run whose bookmarks cannot be read" 5 hpct-slice circle.hpct -o circle-kept.hpct --archive
sentence "bookmarks that cannot be read"
check "it is not there by half" [ ! -e circle-kept.hpct ]
