#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which processes are measured: --no-children, --process-fraction, --ranks. The others run as ever, and are unmonitored.
. "$(dirname -- "$0")/expect.sh"

measured() { hpct-slice "$1.hpct" --op monitored --format tsv | tsv '{ print $c["stream"] }' | sort -u; }

# The program and what it becomes by exec, nothing else.
said=$(record alone --no-children -- sh -c 'sleep 0.02; (sleep 0.03; echo deep); echo done; exec sleep 0.05') ||
	fail "--no-children"
same "what it prints" $'deep\ndone' "$said"
same "processes measured" 1 "$(measured alone | sed 's/.*\/\([0-9]*\)\.[0-9]*\/.*/\1/' | sort -u | wc -l)"
same "its generations" 2 "$(measured alone | wc -l)"
check "the others are said" grep -q 'left out by --no-children' <(hpct-slice alone.hpct --op unmonitored --format tsv)

# Children of vfork are counted, as dash makes them: each of them is measured or not. The shell's own draw counts, too.
for number in 1 2 3; do
	record vforked -f 1/2 --overwrite -- dash -c 'for i in 1 2 3 4 5 6 7 8; do /bin/true; done' || fail "vforked"
	measured vforked >got
	grep -q 'dash' <(hpct-info vforked.hpct --streams) || continue # nobody looks at its children
	same "vforked: children, measured or counted" 8 $(($(wc -l <got) - 1 + $(info vforked children_unmonitored)))
done
record alone --no-children --overwrite -- dash -c 'for i in 1 2 3 4 5 6 7 8; do /bin/true; done' || fail "alone, vfork"
same "vforked, --no-children" 8 "$(info alone children_unmonitored)"

# By draw: 60 processes, a third of them; fewer than 4 or more than 38 come once in a million.
record drawn -f 1/3 -- sh -c 'for i in $(seq 60); do /bin/true; done' || fail "-f 1/3"
count=$(measured drawn | wc -l)
echo "$count of 60 processes drawn"
check "a third is drawn" calc "$count >= 4 && $count <= 38"
check "fraction and seed are in the run" grep -q 'FRACTION=[0-9]*,[0-9]*' <(hpct-info drawn.hpct)
record nobody -fp 0.0 -- true || fail "-fp 0.0"
same "nobody is drawn" '' "$(measured nobody)"
hpct-stats nobody.hpct 2>said
same "a run without a measured process" 3 $?
HPCRUN_PROCESS_FRACTION=nonsense record tenth -- true || fail "HPCRUN_PROCESS_FRACTION"
check "hpcrun takes a wrong fraction for a tenth" grep -q 'FRACTION=429496730,' <(hpct-info tenth.hpct)

# By rank, as launchers announce it; hpct-record may stand on either side of the launcher.
for rank in 0 1 2 3 4 5; do
	PMI_RANK=$rank record rank$rank --ranks 0-1,4:2 -- true || fail "rank $rank"
	measured rank$rank | grep -q . && echo $rank
done >kept
same "ranks 0-1,4:2" "0 1 4" "$(paste -sd' ' kept)"
PMI_RANK=0 record first -f 0 -- true || fail "rank 0"
same "rank 0 is always drawn" 1 "$(measured first | wc -l)"
for wrong in 3- , 1,,2 4:0 a; do
	hpct-record --ranks "$wrong" true 2>said
	same "--ranks $wrong" 125 $?
done
hpct-record -f 1.5 true 2>said
same "-f 1.5" 125 $?
