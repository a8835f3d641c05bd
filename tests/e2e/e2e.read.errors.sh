#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Readers and bad input: one sentence, the right exit code, no crash.
. "$(dirname -- "$0")/expect.sh"
record good -- "$samples/exits" return 0 || fail "recording"
readers="hpct-info hpct-profile hpct-stats hpct-slice hpct-stacks"
mkdir empty.hpct notrun.hpct && echo hello >notrun.hpct/host-1.mdb && echo text >file.hpct
cp -r good.hpct cut.hpct
for file in cut.hpct/*.mdb; do
	truncate -s 5000 "$file"
done
cp -r good.hpct torn.hpct
for file in torn.hpct/*.mdb; do
	dd if=/dev/urandom of="$file" bs=4096 seek=2 count=4 conv=notrunc status=none
done
for reader in $readers "hpct-view --print 80x24"; do
	for run in missing.hpct empty.hpct notrun.hpct file.hpct cut.hpct; do
		# shellcheck disable=SC2086
		code "$reader $run" 4 $reader $run
		sentence "$reader $run"
	done
	# Damaged pages may or may not be met; a crash never.
	# shellcheck disable=SC2086
	timeout 20 $reader torn.hpct >out 2>err
	torn=$?
	[ "$torn" -le 5 ] || fail "$reader torn.hpct: exit code $torn"
	# shellcheck disable=SC2086
	code "$reader --no-such-option" 2 $reader --no-such-option good.hpct
	sentence "$reader --no-such-option"
	# shellcheck disable=SC2086
	code "$reader good.hpct" 0 $reader good.hpct
done
for reader in hpct-profile hpct-stats hpct-slice; do
	code "$reader, no stream matches" 3 $reader good.hpct --streams 'name=nobody'
	sentence "$reader, no stream matches"
	code "$reader, empty window" 3 $reader good.hpct --time 3600s..3601s
	sentence "$reader, empty window"
	code "$reader, window that ends before it begins" 2 $reader good.hpct --time 2s..1s
	code "$reader, wrong time" 2 $reader good.hpct --time 1parsec..
	sentence "$reader, wrong time"
	code "$reader, wrong stream expression" 2 $reader good.hpct --streams 'name=a &'
	code "$reader, wrong format" 2 $reader good.hpct --format xml
	code "$reader, no match in monitored time" 0 $reader good.hpct --context 'nothing;like;this'
done
code "import of rubbish" 4 hpct-import --from tsv -o r.hpct /dev/urandom
sentence "import of rubbish"
printf 'stream\ttrack\nx\ty\n' >half.tsv
code "import without the columns" 4 hpct-import --from tsv -o r.hpct half.tsv
sentence "import without the columns"
code "import over a run" 2 hpct-import --from tsv -o good.hpct half.tsv
sentence "import over a run"
code "export to nothing known" 2 hpct-export --to nothing good.hpct
sentence "export to nothing known"

# The newest run here when none is named, and it says which.
mkdir here && mv good.hpct here/ && cd here || exit
code "no run named" 0 hpct-info
check "the newest run is named on stderr" grep -q good.hpct err
if command -v setsid >/dev/null; then
	hpct-slice --format tsv 2>/dev/null | head -n 1 >/dev/null
	same "a closed pipe is no error message" "" "$(hpct-slice --format tsv good.hpct 2>&1 >/dev/full | grep -c Assertion | grep -v 0)"
fi
code "no space on stdout" 5 sh -c 'hpct-slice good.hpct --format tsv >/dev/full'
