#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-advise --before --after: kernels by name, launches' mean times, where what was measured lies in the intervals of
# what was advised, and the stalls of a launch by reason.
. "$(dirname -- "$0")/expect.sh"
binary=$HPCT_SOURCE/tests/gpu/shared-sm90.cubin
# run NAME : NAME.hpct from rows "launch KERNEL NUMBER EACH_NS" and "sample KERNEL ADDRESS WEIGHT METRIC" on stdin
run() {
	awk -v OFS='\t' '
		BEGIN { print "stream", "track", "begin_ns", "end_ns", "path", "op", "weight", "metric", "attributes" }
		$1 == "launch" {
			for (i = 0; i < $3; i++) {
				print "gpu:h/-/7.0/0/1/7", "spans", at + 0, at + $4, "main;<gpu kernel>;" $2, "kernel", "", "", "grid=1056:1:1,block=128:1:1"
				at += $4 + 10
			}
		}
		$1 == "sample" { print "gpu:h/-/7.0/0/1/pc", "samples", 900000, "", "<gpu kernel>;" $2 ";0000000000005a3d+0x" $3, "", $4, "GINST:STL_" $5, "" }
	' >$1.tsv
	hpct-import --from tsv $1.tsv -o $1.hpct || fail "import $1"
}
# Half of few's samples wait at a barrier: Warp Balance, 1 to 2. often has no advice.
few="sample few e00 500 SYNC/barrier
sample few e10 500 NONE/selected"
run before <<<"launch few 10 1000
launch often 4 500
launch _Z3addIiEvPT_ 2 300
launch _Z3subIiEvPT_ 2 300
launch _Z3subIfEvPT_ 2 300
launch gone 1 70
$few"
run after <<<"launch few 5 800
launch often 8 500
launch _Z3addIiEvPT_i 4 100
launch _Z3subIdEvPT_ 2 300
launch fresh 1 80
sample few e00 200 SYNC/barrier
sample few e10 600 NONE/selected"
run slow <<<"launch few 10 1100"
run fast <<<"launch few 10 400"

compare() { hpct-advise --before before.hpct --after "$@" --binary "$binary"; }
compare after.hpct --format tsv >rows || fail "compare"
row() { awk -F '\t' -v OFS=' ' "\$3 == \"kernel\" && (\$1 == \"$1\" || \$2 == \"$1\") { print \$1, \$2, \$4, \$5, \$6, \$7, \$8 }" rows; }
same "means of launches, not sums" "few few 1000 800 10 5 1.25" "$(row few)"
same "unchanged" "often often 500 500 4 8 1" "$(row often)"
same "another parameter, the same function" "_Z3addIiEvPT_ _Z3addIiEvPT_i 300 100 2 4 3" "$(row _Z3addIiEvPT_)"
same "two that it might be: none" "_Z3subIiEvPT_  300  2  " "$(row _Z3subIiEvPT_)"
same "only before" "gone  70  1  " "$(row gone)"
same "only after" " fresh  80  1 " "$(row fresh)"
advice() { awk -F '\t' '$1 == "few" && $10 == "warp-balance" { print $12, $13, $14 }'; }
same "inside the interval" "1 2" "$(advice <rows | cut -d ' ' -f 1,2 | sed 's/\(2\)\..*/\1/')"
same "1.25 is inside" inside "$(advice <rows | cut -d ' ' -f 3)"
same "slower is below" below "$(compare slow.hpct --format tsv | advice | cut -d ' ' -f 3)"
same "2.5 is above" above "$(compare fast.hpct --format tsv | advice | cut -d ' ' -f 3)"
stalls() { awk -F '\t' -v OFS=' ' '$1 == "few" && $3 == "stall" { print $15, $4, $5, $16, $17 }'; }
same "stalls of a launch, in ns and percent" "NONE 500 600 50.00 75.00
SYNC 500 200 50.00 25.00" "$(stalls <rows)"
same "a run without samples has times alone" "NONE 500  50.00 
SYNC 500  50.00 " "$(compare slow.hpct --format tsv | stalls)"
compare after.hpct >text || fail "text"
check "in words" grep -qE '^few  10 launches of 1(\.0+)? us -> 5 launches of 800 ns: measured speedup 1\.250x$' text
check "the advice" grep -qE '^   1\. Warp Balance +1\.[0-9]+x   1\.00 to 2\.[0-9]+ +inside$' text
check "the stalls" grep -qE '^   SYNC +500 ns +50\.0 % +200 ns +25\.0 %  synchronization' text
check "both names" grep -q '^_Z3addIiEvPT_ -> _Z3addIiEvPT_i  2 launches' text
check "only after" grep -q '^fresh  only after: 1 launch of 80 ns$' text
check "the whole" grep -q '^all kernels of the window: ' text
same "one kernel" 1 "$(compare after.hpct --kernel few --format tsv | awk -F '\t' '$3 == "kernel"' | wc -l)"
compare after.hpct --format json --kernel few >json || fail "json"
check "its own schema" grep -q '"schema":"hpct-advise-compare","version"' json
check "a row in JSON" grep -q '"row":"advice".*"optimizer":"warp-balance".*"verdict":"inside"' json

# Names from the program: nothing that a terminal obeys, and no line of their own.
name='k\x1b[31m\nX'
run raw <<<"launch $name 10 1000
sample $name e00 500 SYNC/barrier
sample $name e10 500 NONE/selected"
for with in raw.hpct "raw.hpct --annotate" "--before raw.hpct --after raw.hpct" "--before raw.hpct --after before.hpct"; do
	# shellcheck disable=SC2086
	hpct-advise $with --binary "$binary" >text || fail "$with"
	check "$with: the name, escaped" grep -qF "$name" text
	same "$with: control characters" 0 "$(LC_ALL=C tr '\n' ' ' <text | LC_ALL=C grep -c '[[:cntrl:]]')"
done

code "one run alone" 2 hpct-advise --before before.hpct
sentence "one run alone"
mkdir empty
code "the other alone, and no run here" 2 env -C empty hpct-advise --after ../after.hpct
sentence "the other alone, and no run here"
compare after.hpct --kernel few --top 0 >text || fail "no advice"
check "no advice: the kernel" grep -q '^few  10 launches of 1' text
check "no advice: its stalls" grep -q '^   SYNC ' text
same "none of the advice is asked for" 0 "$(grep -cE 'nothing was advised|Warp Balance' text)"
code "a third run" 2 hpct-advise --before before.hpct --after after.hpct slow.hpct
sentence "a third run"
code "a run that is not there" 4 hpct-advise --before before.hpct --after none.hpct
sentence "a run that is not there"
code "no kernel of that name" 3 hpct-advise --before before.hpct --after after.hpct --kernel nix
sentence "no kernel of that name"
