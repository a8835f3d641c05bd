#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Chains of causes lead on to their root through memory, barriers and calls: in binaries whose dataflow is known, with
# samples where warps would wait.
set -euo pipefail
. "$(dirname -- "$0")/expect.sh"
gpu=$HPCT_SOURCE/tests/gpu
# waits RUN BINARY KERNEL : offsets, reasons and weights from stdin
waits() {
	local offset reason weight
	{
		printf 'kernel\toffset\treason\tweight\tnot_issued\ttime_ns\tend_ns\n'
		printf '%s\t\t\t\t\t1000\t900000\n' "$3"
		while read -r offset reason weight; do # none issued while it waited
			printf '%s\t%s\t%s\t%s\t%d\t100000\t\n' "$3" "$offset" "$reason" "$weight" "$([ "$reason" = selected ] || echo 1)"
		done
	} >"$1.samples"
	hpct-import --from gpu-samples "$1.samples" --binary "$gpu/$2-sm90.cubin" -o "$1.hpct" || fail "import $1"
}
chain() { # RUN FROM TO : of the hotspot between these offsets, the chain
	hpct-advise "$1.hpct" --format tsv | tsv '
		$c["hotspot"] > 0 && $c["from_address"] == '"$(($2))"' && $c["to_address"] == '"$(($3))"' { print $c["chain"]; exit }'
}

# In shared memory: the sum waits for its load, whose value another thread stored when its own load had come.
waits shared links passed <<<"0x1a0 short_scoreboard 900
0x170 wait 300
0x160 long_scoreboard 600"
same "through shared memory" "368 STS memory 100.00;352 FADD IDEP 100.00;288 LDG GMEM 100.00" "$(chain shared 0x190 0x1a0)"
# One barrier is reached late by what stalls before it, since the barrier before.
waits late links passed <<<"0x180 barrier 3000
0x160 long_scoreboard 600
0x1a0 short_scoreboard 50"
same "through a barrier" "352 FADD barrier 100.00;288 LDG GMEM 100.00" "$(chain late 0x180 0x180)"
waits later links passed <<<"0x1b0 barrier 3000
0x160 long_scoreboard 600
0x1a0 short_scoreboard 50"
same "the other one by what is behind the first" "416 FADD barrier 100.00;400 LDS IDEP 100.00" "$(chain later 0x1b0 0x1b0)"
# A device function computes with what its caller loaded: its first product waits for nothing of its own, but both factors
# are of its caller, which waits 800 samples for one of them, and 90 for the other.
waits called links handed <<<"0x110 wait 500
0x110 selected 400
0x80 long_scoreboard 800
0x60 long_scoreboard 90"
same "through a call" "handed+128 FMUL call 89.89;handed+112 LDG GMEM 100.00" "$(chain called 16 32)"
hpct-advise called.hpct >called || fail "text"
check "in words" grep -qE '^ +which computes with what its caller has from 0x80 FMUL in handed at .*links.cu:13 \(89.9 % of the stalls where it is computed\)$' called
check "back to the root" grep -qE '^ +which waits for 0x70 LDG at .*links.cu:12 \(GMEM, 100.0 % of its stalls\): the root$' called

# A barrier in memory is told by the bulk copy into shared memory, whether the wait counts as long or short.
for reason in short_scoreboard long_scoreboard; do
	waits $reason operations _Z8clustersPfPKfi <<<"0x2f0 $reason 900
0x2f0 selected 300"
	same "through a copy, $reason" "560 UBLKCP copy 100.00" "$(chain $reason 0x2e0 0x2f0)"
done

# Local memory by its address: the load at 0x1450 of R1 + 0x5c reads what 0x15e0 stored there in the round before, and
# nothing of the store of R1 + 0xac just above it, though that waits longer.
waits local faults _Z13fault_spilledPfPKfi <<<"0x1590 long_scoreboard 900
0x15e0 wait 400
0x1440 wait 800
0x1440 long_scoreboard 800"
same "through local memory" "5600 STL memory 100.00;5520 FFMA IDEP 100.00" "$(chain local 0x1450 0x1590)"
