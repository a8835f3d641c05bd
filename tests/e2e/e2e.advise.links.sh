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

# Tensor copies (tensor_copies.cu): a wait for a barrier in shared memory leads to the copy that tells it, also where
# another warp copies, and not to another array's barrier.
waits tensor tensor_copies fault_tensor <<<"0x3b0 long_scoreboard 900
0x3b0 selected 300"
same "a tensor's box" "752 UTMALDG copy 100.00" "$(chain tensor 0x3a0 0x3b0)"
waits rows tensor_copies rows_bulk <<<"0x3a0 long_scoreboard 900
0x3a0 selected 300"
same "another warp copies" "2176 UBLKCP copy 100.00" "$(chain rows 0x360 0x3a0)"
# The warp that copies waits until the others have read: they are late by their sum before that.
waits empty tensor_copies rows_bulk <<<"0x770 long_scoreboard 900
0x770 selected 300
0x470 wait 400
0x4a0 wait 500"
same "others arrive" "1136 FFMA barrier 100.00" "$(chain empty 0x760 0x770| cut -d ';' -f 1)"
# The end of a group of copies: the copies of the group.
waits stores tensor_copies stores_tensor <<<"0x500 long_scoreboard 900
0x500 selected 300"
same "a box is stored" "1248 UTMASTG copy 100.00" "$(chain stores 0x4f0 0x500)"
waits adds tensor_copies adds_tensor <<<"0x2f0 long_scoreboard 900
0x2f0 selected 300"
same "a box is added" "640 UTMAREDG copy 100.00" "$(chain adds 0x2b0 0x2f0)"

# Doubles that are the program's data, and doubles that a constant has made of floats (doubles.cu): only of the second can cheaper
# arithmetic compute the same.
for kernel in in_double by_constant; do
	waits "$kernel" doubles "$kernel" <<<"$(for ((at = 0x100; at < 0x4c0; at += 16)); do printf '0x%x wait 10\n' $at; done)"
	hpct-advise "$kernel.hpct" --format tsv | tsv '$c["hotspot"] == 0 { print $c["optimizer"] }' >"$kernel.said"
done
check "floats by a constant" grep -qx strength-reduction by_constant.said
same "doubles" "" "$(grep -x strength-reduction in_double.said)"

# Relocatable code (sections.cu): calls go to other sections by relocations, which differ before sm_90; or by pointers.
linked() { # RUN BINARY : kernels, addresses, reasons and weights from stdin
	local kernel address reason weight
	{
		printf 'stream\ttrack\tbegin_ns\tpath\tweight\tmetric\n'
		while read -r kernel address reason weight; do
			printf 'gpu:h/-/7.0/0/1/pc\tsamples\t9\t<gpu kernel>;%s;0000000000005a3d+0x%s\t%s\tGINST:STL_%s\n' \
				"$kernel" "$address" "$weight" "$reason"
		done
	} >"$1.in"
	hpct-import --from tsv "$1.in" -o "$1.hpct" || fail "import $1"
	hpct-advise "$1.hpct" --binary "$gpu/$2.cubin" --format tsv >"$1.tsv" || fail "advise $1"
}
linked linked sections-sm90 <<<"hands_over 6fc0 IDEP/wait 800
_Z10other_stepff 7e90 IDEP/wait/not_issued 500
_Z10other_stepff 7e90 NONE/selected 100"
same "a call to another section: one kernel" "hands_over 1400" "$(awk -F '\t' 'NR > 1 { print $1, $6 }' linked.tsv | sort -u)"
same "its operand is of the caller" "hands_over+320 LDG call 100.00;hands_over+304 IMAD IDEP 66.67" \
	"$(tsv '$c["hotspot"] > 0 && $c["from_address"] == 0 && $c["to_address"] == 16 { print $c["chain"]; exit }' <linked.tsv)"
linked older sections-sm80 <<<"hands_over 3510 IDEP/wait 800
_Z10other_stepff 4410 IDEP/wait 500"
same "a call to another section, sm_80" "hands_over 1300" "$(awk -F '\t' 'NR > 1 { print $1, $6 }' older.tsv | sort -u)"
linked ways sections-sm90 <<<"goes_ways 6420 IDEP/wait 100
_ZN49_INTERNAL_4f2d10ac_18_sections_callee_cu_c7b4365b7way_addEff 7a80 IDEP/wait 400"
same "a call through a pointer" "goes_ways 500" "$(awk -F '\t' 'NR > 1 { print $1, $6 }' ways.tsv | sort -u)"
