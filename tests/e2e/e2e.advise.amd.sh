#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Samples of AMD's GPUs: rows that another tool wrote, and the code object, become a run; hpct-advise names what each wait
# waits for, by file and line. The samples are those of a model (tests/gpu/amd_model.py), which knows the causes.
. "$(dirname -- "$0")/expect.sh"
gpu=$HPCT_SOURCE/tests/gpu
rows=$gpu/amd_faults-gfx90a.samples
code=$gpu/amd_faults-gfx90a.co
hpct-import "$rows" --binary "$code" -o run.hpct 2>err || fail "import: $(cat err)"
same "nothing is left out" "" "$(cat err)"
hpct-advise run.hpct --annotate --format tsv >all.tsv || fail "annotate"

# caused SAMPLES : waits of the model with so many samples whose cause is another one than the report's, and their number.
# A wait counts if one instruction is behind 90 % of its samples.
caused() {
	awk -F '\t' -v least="$1" '
		FNR == 1 { next }
		NR == FNR {
			n[$1, $2] += $4
			if ($4 > most[$1, $2]) { most[$1, $2] = $4; cause[$1, $2] = $3 }
			next
		}
		($1, $3) in n && n[$1, $3] >= least && most[$1, $3] >= 0.9 * n[$1, $3] {
			count++
			if ($16 "" != cause[$1, $3] "") print $1, $3, "waits for", cause[$1, $3], "not", $16
		}
		END { print count + 0, "compared" }' "$gpu/amd_faults-gfx90a.truth" "$2"
}
same "causes are the model's" "25 compared" "$(caused 100 all.tsv)"
same "the whole code is known" 0 "$(awk -F '\t' '$4 == "?"' all.tsv | wc -l)"
same "samples of the rows" "$(awk -F '\t' 'NR > 1 { n += $4 } END { print n }' "$rows")" \
	"$(awk -F '\t' 'NR > 1 { n += $10 } END { print n }' all.tsv)"

# In words: where, why, from which root.
line() { grep -n "// .*$1" "$gpu/amd_faults.cl" | cut -d : -f 1; }
first() { # KERNEL : the title of the best advice
	hpct-advise run.hpct --kernel "$1" --top 1 | sed -n 's/^   1\. \(.*\): importance.*/\1/p'
}
same "dependent loads" "Loop Unrolling" "$(first chase)"
same "registers in memory" "Register Reuse" "$(first spilled)"
same "divisions of doubles" "Strength Reduction" "$(first division)"
hpct-advise run.hpct --kernel first_of_two --top 1 >two || fail "first_of_two"
check "the load that is waited for" grep -q "From first_of_two at .*amd_faults.cl:[0-9]* 0x58 global_load_dword in Loop" two
check "the wait that leaves the other load under way, before its use at $(line 'WAITS first_of_two')" \
	grep -q "To   first_of_two at .*amd_faults.cl:$(line 'WAITS first_of_two') 0x94 s_waitcnt in Loop" two
check "the other load is its own wait's" grep -q "From first_of_two at .*amd_faults.cl:$(line 'SECOND first_of_two') 0x74 global" two
check "all has its cause" grep -q 'causes found for 100.0 %' two
hpct-advise run.hpct --kernel indirect --top 1 >indirect || fail "indirect"
check "the address comes from another load: the root" \
	grep -q "which waits for 0x48 global_load_dword at .*amd_faults.cl:[0-9]* (GMEM, .* of its stalls): the root" indirect
hpct-advise run.hpct --kernel tile >tile || fail "tile"
check "barriers" grep -q "barrier (SYNC), importance" tile
check "shared memory" grep -q "shared memory dependency (GMEM), importance" tile
check "launches and their shape" grep -q 'launch from 1 call path, grid 440x1x1, block 256x1x1' tile
hpct-advise run.hpct --kernel scalars >scalars || fail "scalars"
check "scalar memory" grep -q "constant memory dependency (GMEM), importance" scalars
same "scalar memory can be asked for earlier" "Loop Unrolling" "$(first scalars)"
hpct-advise run.hpct --annotate --kernel first_of_two >two || fail "annotate"
check "registers and counters by AMD's names" grep -qE 'global_load_dword v3 vmcnt <- v8-v9$' two
check "the wait" grep -qE 's_waitcnt <- vmcnt +waits for 58 global_load_dword 99%' two

# Offsets from the kernel's begin, AMD's names of it and of reasons: the same as addresses.
{
	printf 'kernel\toffset\treason\tweight\n'
	printf 'chase.kd\t0x2c\tROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT\t90\n'
	printf 'chase.kd\t44\tissued\t10\n'
} >offsets.samples
hpct-import offsets.samples --from gpu-samples --binary "$code" -o offsets.hpct || fail "import offsets"
same "a wait by its offset" "chase 44 100 GMEM 72" "$(hpct-advise offsets.hpct --annotate --format tsv |
	awk -F '\t' '$10 > 0 && NR > 1 { print $1, $3, $10, $14, $16 }')"
# A sampler that gives no reasons: what the instruction is tells. Addresses tell the kernel.
{
	printf 'address\tweight\n'
	awk -F '\t' 'NR > 1 && $2 != "" { print $2 "\t" $4 }' "$rows"
} >plain.samples
hpct-import --from gpu-samples plain.samples --binary "$code" -o plain.hpct 2>err || fail "import plain: $(cat err)"
hpct-advise plain.hpct --annotate --format tsv >plain.tsv || fail "annotate plain"
same "causes without reasons, but of arithmetic, which does not tell that it waits" "15 compared" "$(caused 1000 plain.tsv |
	grep -v '^division')"
# What rocprofv3 writes as JSON becomes rows by the script in docs/advice.md.
sed -n '/^```python$/,/^```$/p' "$HPCT_SOURCE/docs/advice.md" | sed '1d;$d' >rows.py
cat >rocprof.json <<'JSON'
{"rocprofiler-sdk-tool": [{"buffer_records": {"pc_sample_host_trap": [], "pc_sample_stochastic": [
{"inst_index": 1, "record": {"pc": {"code_object_id": 2, "code_object_offset": 11820}, "wave_issued": 0, "snapshot":
 {"stall_reason": "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT", "arb_state_issue_valu": 0}}},
{"inst_index": 1, "record": {"pc": {"code_object_id": 2, "code_object_offset": 11820}, "wave_issued": 0, "snapshot":
 {"stall_reason": "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT", "arb_state_issue_valu": 1}}},
{"inst_index": 2, "record": {"pc": {"code_object_id": 2, "code_object_offset": 11824}, "wave_issued": 1, "snapshot": {}}},
{"inst_index": 3, "record": {"pc": {"code_object_id": 1, "code_object_offset": 4}, "wave_issued": 1, "snapshot": {}}}]}}]}
JSON
python3 rows.py rocprof.json 2 >rocprof.samples || fail "the script"
hpct-import rocprof.samples --binary "$code" -o rocprof.hpct || fail "import rocprof"
same "rocprofv3's samples" "chase 44 2 50.00 GMEM 72
chase 48 1 0.00  " "$(hpct-advise rocprof.hpct --annotate --format tsv |
	awk -F '\t' 'NR > 1 && $10 > 0 { print $1, $3, $10, $13, $14, $16 }')"
# The code may come later.
hpct-import --from gpu-samples "$rows" -o bare.hpct || fail "import bare"
hpct-advise bare.hpct --binary "$code" --annotate --format tsv >bare.tsv || fail "annotate bare"
same "the code from a file" "$(cat all.tsv)" "$(cat bare.tsv)"
# The run keeps the code: functions and lines for all readers.
hpct-profile run.hpct --metric 'GINST:STL_GMEM*' --format tsv >profile.tsv || fail "profile"
check "lines in profiles" awk -F '\t' -v line="$(line 'FAULT spilled')" \
	'$4 == "line" && $5 == "amd_faults.cl:" line { n++ } END { exit !n }' profile.tsv

# Wrong input: which line, which column.
wrong() { # TEXT WORDS
	printf '%b' "$1" >wrong.samples
	code "wrong: $1" "${3:-4}" hpct-import --from gpu-samples wrong.samples -o wrong.hpct
	sentence "wrong: $1"
	check "wrong: $1: $(cat err)" grep -qF -- "$2" err
	check "nothing remains" [ ! -e wrong.hpct ]
}
wrong 'kernel\treason\nchase\tWAITCNT\n' "no column address or offset"
wrong 'kernel\taddress\treason\nchase\t0xzz\tWAITCNT\n' "line 2, column address: '0xzz' is no number"
wrong 'kernel\toffset\treason\nchase\t0\tWAITCNT\n' "line 2, column kernel: 'chase' is in none of the files of --binary"
wrong 'address\treason\n0x10\tWAITCNT\n' "has no kernel"
wrong 'kernel\taddress\treason\tnot_issued\nchase\t1\twaitcnt\t7\n' "is neither 0 nor 1"
wrong 'kernel\taddress\treason\n' "has no samples"
code "no GPU binary" 2 hpct-import --from gpu-samples "$rows" --binary "$rows" -o wrong.hpct
sentence "no GPU binary"
code "--binary of another format" 2 hpct-import --from folded "$rows" --binary "$code" -o wrong.hpct
sentence "--binary of another format"
printf 'kernel\taddress\treason\nchase\t0x2e2c\tNEWS\n' >news.samples
hpct-import --from gpu-samples news.samples -o news.hpct 2>err || fail "an unknown reason"
check "an unknown reason is said: $(cat err)" grep -q '1 reasons that are known of no vendor' err

# How threads of a wave differ (amd_lanes.cl): accesses far apart, banks, branches by EXEC.
lanes() { # KERNEL : rows of its samples from stdin
	{
		printf 'kernel\taddress\treason\tweight\tnot_issued\ttime_ns\tend_ns\tattributes\n'
		printf '%s\t\t\t\t\t1000\t900000\tgrid=512:1:1,block=256:1:1,registers=16\n' "$1"
		while read -r address reason weight; do
			printf '%s\t%s\t%s\t%s\t%d\t100000\t\t\n' "$1" "$address" "$reason" "$weight" "$([ "$reason" = issued ] || echo 1)"
		done
	} >"$1.samples"
	rm -rf "$1.hpct"
	hpct-import --from gpu-samples "$1.samples" --binary "$gpu/amd_lanes-gfx90a.co" -o "$1.hpct" || fail "import $1"
	hpct-advise "$1.hpct" --format tsv | tsv '
		$c["kernel"] == "'"$1"'" { is_there = 1 }
		$c["rank"] == 1 && $c["hotspot"] == 0 { said = $c["optimizer"] }
		END { print said ? said : is_there ? "nothing" : "no kernel" }'
}
same "far apart" memory-transactions "$(lanes strided <<<"0x2758 WAITCNT 9000
0x2758 issued 3
0x2744 issued 3
0x275c issued 3")"
same "beside each other" nothing "$(lanes coalesced <<<"0x265c WAITCNT 9000
0x265c issued 3
0x2644 issued 3")"
same "columns of a tile" shared-memory "$(lanes column <<<"0x2878 WAITCNT 900
0x2878 issued 30
0x2864 issued 30
0x287c issued 30")"
same "neighbours go different ways" divergence "$(lanes neighbours <<<"0x2a70 issued 900
0x2a68 issued 900
0x2a54 issued 9")"
same "whole waves" wave-tail "$(lanes waves <<<"0x2b74 issued 900
0x2b6c issued 900
0x2b58 issued 9")"
