#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Samples of Intel's GPUs (Xe-HPC) with the binary that ocloc made: waits for tokens of the scoreboard find the message
# that set them, waits by distance the arithmetic before.
. "$(dirname -- "$0")/expect.sh"
code=$HPCT_SOURCE/tests/gpu/intel_faults-pvc.zebin
{
	printf 'kernel\toffset\treason\tweight\n'
	# mad {$4.dst} at 0x238, {$5.dst} at 0x250; loads that set $4 at 0x1e8, $5 at 0x208
	printf 'first_of_two\t%s\t%s\t%s\n' 0x238 SbidStall 90 0x238 Active 4 0x250 SbidStall 30 0x250 Active 4 0x1e8 Active 4
	# add {A@1} at 0x180 after math.inv at 0x170, its second half; math.sqt {$3.dst} at 0x140 for the load at 0x118
	printf 'roots\t%s\t%s\t%s\n' 0x180 DistStall 50 0x140 sbid 20 0x160 PipeStall 5
	printf 'tile\t%s\t%s\t%s\n' 0x218 SyncStall 10
} >rows.samples
hpct-import rows.samples --from gpu-samples --binary "$code" -o run.hpct 2>err || fail "import: $(cat err)"
same "nothing is left out" "" "$(cat err)"
hpct-advise run.hpct --annotate --format tsv >all.tsv || fail "annotate"
same "causes" "first_of_two 568 GMEM 95.74 488
first_of_two 592 GMEM 88.24 520
roots 320 GMEM 100.00 280
roots 384 IDEP 100.00 368" "$(awk -F '\t' 'NR > 1 && $16 != "" && $14 != "SYNC" { print $1, $3, $14, $15, $16 }' all.tsv | sort)"
hpct-advise run.hpct --annotate --kernel first_of_two >two || fail "annotate first_of_two"
check "tokens by Intel's names" grep -qE 'mad A@ <- \$4\.dst +waits for 1e8 send 96%' two
check "the message sets its token" grep -qE 'send \$4\.dst \$4\.src' two
hpct-advise run.hpct --kernel first_of_two --top 1 >two || fail "advise"
check "advice" grep -q 'Loop Unrolling' two
check "memory" grep -q 'global memory dependency (GMEM)' two
check "all of it has a cause" grep -q 'causes found for 100.0 %' two
hpct-advise run.hpct --kernel tile >tile || fail "tile"
check "barriers" grep -q 'barrier (SYNC)' tile
