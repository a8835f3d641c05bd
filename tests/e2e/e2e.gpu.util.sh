#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counters of a GPU over time against a CUPTI of our own (tests/cuda/cupti_util.c): each sample's figures stand in the
# run once, at its time, on the device's stream, which lanes and --when find; and what goes wrong is said while
# operations are recorded as ever.
. "$(dirname -- "$0")/expect.sh"
tests=$HPCT_BIN/../tests
[ -f "$tests/cuda_cupti.so" ] || skip "hpct was built without CUPTI's headers"
grep -q cuptiPmSamplingStart "$tests/cuda_cupti.so" || skip "CUPTI's headers are older than CUDA 12.6"
mkdir -p home/lib64
cupti=$PWD/home/lib64/libcupti.so.13
cp "$tests/cuda_cupti.so" "$cupti"
unset CUDA_PATH CUDA_INJECTION64_PATH
export CUDA_HOME=$PWD/home

util() { # RUN WORDS SAMPLES [EVENT] : ends once so many samples are read
	FAKE_SAMPLES=$3 FAKE_CUPTI="util $2" record "$1" --summary "$1.sum" --gauges off -e "${4:-gpu=nvidia,util@5ms}" -- \
		"$tests/cuda_program" "$cupti" >out 2>"$1.err"
	same "$1: exit code" 3 "$?"
	same "$1: kernels" 20 "$(hpct-slice --format tsv --op kernel "$1.hpct" | tsv '$c["op"] == "kernel"' | wc -l)"
	hpct-slice --format tsv --streams kind=gauges "$1.hpct" >"$1.tsv" 2>/dev/null
	hpct-info --check "$1.hpct" >check || fail "$1: check"
}
values() { # RUN METRIC : its values in order, one a line
	tsv '$c["metric"] == "'"$2"'" { print $c["value"] }' <"$1.tsv"
}

util all "" 120
same "all eight fit into one pass" "8 counters each 5000000 ns" "$(grep counters all.err | head -n 1)"
same "sampling has an end" 1 "$(grep -c 'no more counters' all.err)"
same "figures" "dram_read dram_written pcie_received pcie_sent sm_active sm_fma sm_occupancy sm_tensor" \
	"$(tsv '{ print $c["metric"] }' <all.tsv | sort -u | paste -sd' ')"
n=$(values all sm_active | wc -l)
check "each 5 ms: $n" calc "$n >= 100"
same "their values: sample 1 is the first whole one" "877 123 877 123" "$(values all sm_active | head -n 4 | paste -sd' ')"
same "no value that cannot be" 455 "$(values all sm_fma | sort -u)"
same "occupancy" 500 "$(values all sm_occupancy | sort -u)"
same "bytes are counted from 0" "0 1000000 2000000" "$(values all dram_read | head -n 3 | paste -sd' ')"
same "to the last sample's end" "$((n * 1000000)) $((n * 3000))" "$(values all dram_read | tail -n 1) $(values all pcie_received | tail -n 1)"
same "equal steps" 5000000 "$(tsv '$c["metric"] == "dram_read" { if (t) print $c["begin_ns"] - t; t = $c["begin_ns"] }' <all.tsv | sort -u)"
same "on the device" "0 GPU-01010101-0101-0101-0101-010101010101" \
	"$(hpct-info all.hpct --streams --format tsv | tsv '$c["kind"] == "gauges" { print $c["device"], $c["name"] }')"
same "streams are threads and queues" 2 "$(info all streams)"
same "nothing is said" "" "$(info all gpu_uncounted)"
hpct-plot all.hpct dram_read sm_active --format tsv >plot || fail "plot"
near "bytes a second" 200000000 "$(tsv '$c["metric"] == "dram_read" { m = $c["mean"] > m ? $c["mean"] : m } END { printf "%.0f", m }' <plot)" 2000000
same "percent" 87.7 "$(tsv '$c["metric"] == "sm_active" { m = $c["most"] > m ? $c["most"] : m } END { print m }' <plot)"
met_ns() { # CONDITION
	hpct-stats all.hpct --when "$1" --by stream --format tsv 2>/dev/null |
		tsv '$c["key"] == "absent" { next } $c["stream"] ~ /^cpu/ { t += $c["time_ns"] } END { printf "%.0f\n", t }'
}
code "while it read" 0 hpct-stats all.hpct --when 'dram_read>100MB/s' --by stream
code "while it did not" 0 hpct-stats all.hpct --when 'dram_read>1GB/s' --by stream
check "it never read so much: $(cat out err)" grep -q 'never' out err
code "lanes" 0 hpct-view all.hpct --print 100x24 --lanes dram_read,sm_active
check "the lane of its process's threads: $(grep dram_read out)" grep -qE '^dram_read .*@@@@' out
hpct-export all.hpct --to chrome >chrome || fail "export"
check "counters of Perfetto" grep -q '"ph":"C".*dram_read' chrome

util few utilfew 40
same "as many as fit into a pass" "4 counters each 5000000 ns" "$(grep counters few.err | head -n 1)"
same "by the names that this chip has" "sm_active sm_fma sm_occupancy sm_tensor" \
	"$(tsv '{ print $c["metric"] }' <few.tsv | sort -u | paste -sd' ')"
util gap utilgap 40
same "where samples are missing nothing grows" $(($(values gap sm_active | wc -l) * 1000000)) "$(values gap dram_read | tail -n 1)"
same "and that is said" "samples of the GPU's counters were lost: take a longer interval" "$(info gap gpu_uncounted)"
util default "" 2 gpu=nvidia,util
same "the default interval" "8 counters each 10000000 ns" "$(grep counters default.err | head -n 1)"
util none "" 0 gpu=nvidia
same "not asked for" "" "$(grep counters none.err)"

said() { # RUN WORDS SENTENCE
	util "$1" "$2" "${4:-10}"
	same "$1: is said" "$3" "$(info "$1" gpu_uncounted)"
	check "$1: in the summary, too" grep -qF "gpu counters not sampled as asked: $3" "$1.sum"
}
said rights utilavail=35 "no permission: set NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia"
same "no permission: no figures" "" "$(values rights sm_active)"
said second utilenable=999 "another process reads this GPU's counters"
said other utilconfig=27 "CUPTI cannot sample counters of this GPU"
said full utilfull "the GPU's buffer of counters was full: take a longer interval"
said small utilsmall "samples of the GPU's counters were lost: take a longer interval" 100
said stray utilstray "times of the GPU's counters are not on the run's clock"
same "no figure at a wrong time" "" "$(values stray sm_active)"
said back utilback "times of the GPU's counters are not on the run's clock"
same "nor at another" "" "$(values back sm_active)"
said broken utildecode=7 "CUPTI cannot sample counters of this GPU"

# A library that lacks one of the functions, as those before CUDA 12.6 lack all.
mv "$cupti" newer && sed 's/cuptiPmSamplingDecodeData/cuptiPmSamplingDecodeNone/g' newer >"$cupti"
said older "" "this CUPTI samples no counters: CUDA 12.6 or later does" 0
mv newer "$cupti"

code "both" 125 hpct-record -e gpu=nvidia,pc -e gpu=nvidia,util -- true
sentence "both"
check "exclude each other, and that is said" grep -q 'exclude each other' err
code "an interval that is none" 125 hpct-record -e gpu=nvidia,util@1 -- true
sentence "an interval that is none"
