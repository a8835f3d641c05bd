#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Readers and bad input: one sentence, the right exit code, no crash.
. "$(dirname -- "$0")/expect.sh"
record good -- "$samples/exits" return 0 || fail "recording"
readers="hpct-info hpct-profile hpct-stats hpct-slice hpct-stacks hpct-blame hpct-report"
mkdir empty.hpct notrun.hpct && echo hello >notrun.hpct/host-1.mdb && echo text >file.hpct
cp -r good.hpct cut.hpct
for file in cut.hpct/*.mdb; do
	truncate -s 5000 "$file"
done
cp -r good.hpct torn.hpct
for file in torn.hpct/*.mdb; do
	dd if=/dev/urandom of="$file" bs=4096 seek=2 count=4 conv=notrunc status=none
done
code "a file that is no store" 4 hpct-info notrun.hpct
check "it says what to do: $(cat err)" grep -q 'restore it, or take it out of the run$' err
for reader in $readers "hpct-view --print 80x24" "hpct-export --to folded" "hpct-diff good.hpct"; do
	for run in missing.hpct empty.hpct notrun.hpct file.hpct cut.hpct; do
		# shellcheck disable=SC2086
		code "$reader $run" 4 $reader $run
		sentence "$reader $run"
	done
	# Damaged pages may or may not be met; a crash never.
	# shellcheck disable=SC2086
	timeout 300 $reader torn.hpct >out 2>err
	torn=$?
	[ "$torn" -le 5 ] || fail "$reader torn.hpct: exit code $torn"
	# shellcheck disable=SC2086
	code "$reader --no-such-option" 2 $reader --no-such-option good.hpct
	sentence "$reader --no-such-option"
	# shellcheck disable=SC2086
	code "$reader good.hpct" 0 $reader good.hpct
done
for reader in hpct-profile hpct-stats hpct-slice hpct-blame hpct-report "hpct-export --to folded" "hpct-diff good.hpct"; do
	# shellcheck disable=SC2086 # a reader and its options
	set -- $reader
	code "$reader, no stream matches" 3 "$@" good.hpct --streams 'name=nobody'
	sentence "$reader, no stream matches"
	code "$reader, empty window" 3 "$@" good.hpct --time 3600s..3601s
	sentence "$reader, empty window"
	code "$reader, window that ends before it begins" 2 "$@" good.hpct --time 2s..1s
	code "$reader, wrong time" 2 "$@" good.hpct --time 1parsec..
	sentence "$reader, wrong time"
	code "$reader, wrong stream expression" 2 "$@" good.hpct --streams 'name=a &'
	code "$reader, unknown field" 2 "$@" good.hpct --streams 'colour=red'
	sentence "$reader, unknown field"
	check "$reader: the fields there are" grep -q 'rank.*thread.*queue' err
	code "$reader, unknown mark" 2 "$@" good.hpct --time @nowhere
	sentence "$reader, unknown mark"
	code "$reader, wrong format" 2 "$@" good.hpct --format xml
	[ "$1" = hpct-report ] || code "$reader, no match in monitored time" 0 "$@" good.hpct --context 'nothing;like;this'
done
code "a moment that is none" 2 hpct-stacks good.hpct --at soon
check "hpct-stacks names the option that was given" grep -q -- '--at' err
code "addresses of a directory" 2 hpct-names good.hpct 0x10
sentence "addresses of a directory"
echo 'no program' >words
code "addresses of a file that is no program" 5 hpct-names words 0x10
sentence "addresses of a file that is no program"
same "of which there is no table" "" "$(cat out)"
code "an address that is none" 2 hpct-names "$(command -v hpct-names)" 4000 main
sentence "an address that is none"
same "of which there is no table, either" "" "$(cat out)"
for reader in "hpct-profile good.hpct" "hpct-names good.hpct"; do
	code "$reader: --debug-path of nothing" 2 $reader --debug-path nothing
	sentence "$reader: --debug-path of nothing"
	code "$reader: --debug-path of a file" 2 $reader --debug-path file.hpct
done
code "hpct-names, an option without its value" 2 hpct-names -e
sentence "hpct-names, an option without its value"
code "hpct-link, unknown option" 125 hpct-link --no-such-option
sentence "hpct-link, unknown option"
code "hpct-simulate, unknown option" 2 hpct-simulate --no-such-option
sentence "hpct-simulate, unknown option"
code "hpct-simulate over a run" 2 hpct-simulate -o good.hpct
sentence "hpct-simulate over a run"
code "hpct-simulate, too large a number" 2 hpct-simulate -o new.hpct --seed 99999999999999999999
check "it names the option: $(cat err)" grep -q -e '--seed 99999999999999999999: say a whole number' err
code "hpct-simulate, an argument too many" 2 hpct-simulate -o new.hpct more
check "it names the argument: $(cat err)" grep -q 'more is one argument too many' err

# A path of the root alone is empty for scripts, and has a name for people.
check "a row without a path: $(hpct-stats good.hpct --by path --format tsv | cut -f1 | paste -sd,)" \
	[ "$(hpct-stats good.hpct --by path --format tsv | grep -c "^$(printf '\t')")" -eq 1 ]
for table in 'hpct-stats good.hpct --by path' 'hpct-diff good.hpct good.hpct --by path'; do
	check "$table: the root's name" grep -q '  <program root>$' <($table)
done

# Near misses: a second run, the directory above the runs, a run's own file, none of these.
mkdir -p above/none above/nothing && cp -r good.hpct above/only.hpct && echo x >above/none/words
for reader in $readers "hpct-export --to folded"; do
	# shellcheck disable=SC2086 # a reader and its options
	set -- $reader
	code "$reader, a run twice" 2 "$@" good.hpct good.hpct
	sentence "$reader, a run twice"
	check "$reader, a run twice: $(cat err)" grep -q 'good.hpct is named twice' err
	if [ "$1" != hpct-report ]; then # it reads several
		code "$reader, two runs" 2 "$@" good.hpct above/only.hpct
		sentence "$reader, two runs"
		check "$reader, two runs: $(cat err)" grep -q 'one run too many.*hpct-diff' err
	fi
	code "$reader, above the runs" 4 "$@" above
	sentence "$reader, above the runs"
	check "$reader, above the runs: $(cat err)" grep -q 'has 1 in it.*above/only.hpct' err
	code "$reader, an empty directory" 4 "$@" above/nothing
	check "$reader, an empty directory: $(cat err)" grep -q 'it is empty; name' err
	code "$reader, any directory" 4 "$@" above/none
	check "$reader, any directory: $(cat err)" grep -q 'no recording.*; name' err
	code "$reader, a run's file" 4 "$@" "$(echo good.hpct/*.mdb)"
	sentence "$reader, a run's file"
	check "$reader, a run's file: $(cat err)" grep -q 'name its directory, good.hpct$' err
done
rm -r above
code "hpct, a run and no verb" 2 hpct good.hpct/
sentence "hpct, a run and no verb"
check "hpct, a run and no verb: $(cat err)" grep -q 'hpct view good.hpct/$' err
code "hpct, a word like a run" 2 hpct nothere.hpct
check "hpct, a word like a run: $(cat err)" grep -q 'no verb' err

# A copy of a store beside it would count everything twice; slices of one recording are parts of it.
cp -r good.hpct twice.hpct && cp good.hpct/*.mdb twice.hpct/copy.mdb
hpct-slice good.hpct --archive -o packed.hpct && cp -r good.hpct both.hpct && cp packed.hpct/*.mdz both.hpct
for reader in $readers; do
	for run in twice both; do
		code "$reader $run.hpct" 4 "$reader" "$run.hpct"
		sentence "$reader $run.hpct"
		check "$reader $run.hpct: $(cat err)" grep -q "$run.hpct holds one recording twice, as .* and as .*: move" err
	done
done
rm -r twice.hpct both.hpct packed.hpct
hpct-simulate -o whole.hpct && hpct-slice whole.hpct --time ..1s -o parts.hpct && hpct-slice whole.hpct --time 1s.. -o rest.hpct ||
	fail "slices"
cp rest.hpct/*.mdb parts.hpct/rest.mdb
same "slices of two windows beside each other" "$(weight_sum whole)" "$(weight_sum parts)"
cp parts.hpct/rest.mdb parts.hpct/more.mdb
code "a slice twice" 4 hpct-stats parts.hpct
check "a slice twice: $(cat err)" grep -q 'twice' err
rm -r whole.hpct parts.hpct rest.hpct

# What may not grow (ulimit -f) is like a full disk: a sentence, and nothing is left of the run.
hpct-simulate -o long.hpct --shape mixed --records 20000 && hpct-slice long.hpct --format tsv >long.tsv || fail "simulate"
for blocks in 1 8 24 60; do
	for writer in "hpct-slice long.hpct -o small.hpct" "hpct-slice long.hpct --archive -o small.hpct" \
		"hpct-import --from tsv long.tsv -o small.hpct" "hpct-export long.hpct --to chrome -o small.json" \
		"hpct-simulate -o small.hpct --shape mixed --records 20000"; do
		# shellcheck disable=SC2086 # words
		code "$writer, $blocks KiB" 5 bash -c "ulimit -f $blocks; exec \"\$@\"" - $writer
		sentence "$writer, $blocks KiB"
		check "$writer, $blocks KiB: it says what lifts that: $(cat err)" grep -q 'raise .ulimit -f' err
		same "$writer, $blocks KiB: what is left" "" "$(ls -Ad small* .small* 2>/dev/null)"
	done
done
got=0
(ulimit -f 8 && hpct-slice long.hpct --format tsv) >cut.tsv 2>err || got=$?
same "an answer that a file does not hold" 5 "$got"
sentence "an answer that a file does not hold"
rm -r long.hpct long.tsv cut.tsv

# A run of somebody else's, which is for its owner alone: what it is, and what lifts that.
cp -r good.hpct locked.hpct && chmod 755 . locked.hpct && chmod 000 locked.hpct/*.mdb
cp -r good.hpct closed.hpct && chmod 000 closed.hpct
somebody=
[ "$(id -u)" -ne 0 ] || somebody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if $somebody hpct-info --version >/dev/null 2>&1; then
	for reader in $readers; do
		for run in locked closed; do
			code "$reader $run.hpct" 4 $somebody "$reader" "$run.hpct"
			sentence "$reader $run.hpct"
			check "$reader $run.hpct: what lifts it" grep -q "chmod -R go+rX $run.hpct$" err
		done
	done
else
	echo "another user cannot run the programs here: unreadable runs were not tried"
fi
chmod -R u+rwX locked.hpct closed.hpct
# One chunk is damaged: the sentence sends to other streams, and these are there.
tab=$'\t'
{
	echo "stream${tab}track${tab}begin_ns${tab}path${tab}weight${tab}metric"
	for thread in 0 1; do
		seq 1 3000 | awk -v OFS="$tab" -v t=$thread '{ print "cpu:h/-/1.0/" t, "samples", $1 * 1000 + $1 * $1 % 977, "main;f" $1 * t % 97, $1 % 613, "CPUTIME" }'
	done
} >two.tsv
hpct-import --from tsv two.tsv || fail "import of two streams"
store=$(echo two.hpct/*.mdb) found=
for ((page = $(stat -c %s "$store") / 4096 - 1; page > 1; page--)); do
	cp "$store" whole.mdb
	printf 'damage' | dd of="$store" bs=1 seek=$((page * 4096 + 2000)) conv=notrunc status=none
	hpct-slice two.hpct --format tsv >out 2>err || found=$(grep -c -- '--streams' err)
	[ "${found:-0}" -eq 0 ] || break
	cp whole.mdb "$store"
done
check "a damaged chunk was met" [ "${found:-0}" -eq 1 ]
sentence "a damaged chunk"
check "the other stream can be read" eval "hpct-slice two.hpct --streams thread=0 >out 2>&1 || hpct-slice two.hpct --streams thread=1 >out 2>&1"
code "the view of it" 4 hpct-view two.hpct --print 80x20
sentence "the view of it"
hpct-view two.hpct --print 80x20 >screen 2>/dev/null || true
check "the view shows the other stream, and this one as not read: $(sed -n 3,8p screen)" \
	eval '[ "$(grep -c "^!.*:::::::::" screen)" -eq 1 ] && grep -qE "^[> ] (main|thread 1) +[^: ]" screen && grep -q damaged screen'
hpct-view two.hpct --print 80x12 --keys l >screen 2>/dev/null || true # the sentence is gone
check "what is not read is not covered: $(grep 'cov' screen)" eval '! grep -q "cov 100 %" screen && grep -q "cov [0-9]" screen'
hpct-view two.hpct --print 200x50 >screen 2>/dev/null || true
check "nor added up: $(grep 'all lines' screen)" grep -q "= 1 stream x" screen
for thread in 0 1; do
	hpct-view two.hpct --streams "thread=$thread" --print 80x12 --keys l >screen 2>/dev/null || true
	check "nor said to be nothing" eval '! grep -q "Nothing was recorded" screen && grep -q "cov" screen'
done
code "import of rubbish" 4 hpct-import --from tsv -o r.hpct /dev/urandom
sentence "import of rubbish"
printf 'stream\ttrack\nx\ty\n' >half.tsv
code "import without the columns" 4 hpct-import --from tsv -o r.hpct half.tsv
sentence "import without the columns"
code "import of a run" 4 hpct-import --from tsv -o r.hpct good.hpct
sentence "import of a run"
check "import of a run: what to name: $(cat err)" grep -q 'is a directory: name a file' err
code "import of nothing" 4 hpct-import --from tsv -o r.hpct no-such.tsv
sentence "import of nothing"
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
for reader in hpct-info hpct-profile hpct-stats hpct-slice hpct-stacks hpct-blame 'hpct-diff good.hpct' 'hpct-export --to tsv' \
	'hpct-export --to folded' 'hpct-export --to chrome' 'hpct-view --print 80x24' hpct-names; do
	code "$reader: no space on stdout" 5 sh -c "$reader good.hpct >/dev/full"
	sentence "$reader: no space on stdout"
	check "$reader: no space on stdout: what helps: $(cat err)" grep -q 'written in full.*; make room' err
	code "$reader: stdout is closed" 5 sh -c "$reader good.hpct >&-"
	sentence "$reader: stdout is closed"
done
code "names by hand: stdout is closed" 5 sh -c 'hpct-names "$(command -v hpct-names)" 4000 >&-'
code "help: no space on stdout" 5 sh -c 'hpct-info --help >/dev/full'
for answer in 'hpct --version' 'hpct-names --version' 'hpct-doctor --help' 'hpct-doctor --version' 'hpct-simulate --help'; do
	code "$answer: no space on stdout" 5 sh -c "$answer >/dev/full"
	sentence "$answer: no space on stdout"
done
for answer in 'hpct-record --help' 'hpct-link --help' 'hpct-link --version' 'hpct-link --print' 'hpct-link --check "$(command -v hpct)"'; do
	code "$answer: no space on stdout" 125 sh -c "$answer >/dev/full"
	sentence "$answer: no space on stdout"
done
code "events: no space on stdout" 125 sh -c 'hpct-record -L >/dev/full'
for two in '--check --sizes' '--streams --modules'; do
	# shellcheck disable=SC2086
	code "two answers at once: $two" 2 hpct-info good.hpct $two
	sentence "two answers at once: $two"
done
