#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Figures of GPUs from an NVML of our own (tests/gauges), whose every figure is known; and libraries that hang, crash,
# are old or broken: the recording is whole whatever they do.
. "$(dirname -- "$0")/expect.sh"
need perl
export LD_LIBRARY_PATH=$HPCT_BIN/../tests/nvml
[ -f "$LD_LIBRARY_PATH/libnvidia-ml.so.1" ] || skip "the test's NVML is not built"
waits="select(undef, undef, undef, 1.5)"

values() { # RUN METRIC DEVICE : its values in order, on one line
	hpct-slice "$1.hpct" --streams kind=gauges --format tsv 2>/dev/null |
		tsv '$c["metric"] == "'"$2"'" && $c["stream"] ~ /\/'"$3"'$/ { printf "%s ", $c["value"] }'
}
first() { # RUN METRIC DEVICE
	values "$@" | cut -d' ' -f1
}

record two --gauges 100ms -- perl -e "$waits"
code "check" 0 hpct-info two.hpct --check
same "devices" "0 1" "$(hpct-info two.hpct --streams --format tsv | tsv '$c["device"] != "" { printf "%s%s", n++ ? " " : "", $c["device"] }')"
check "by UUID" grep -q 'GPU-00000000-0000-0000-0000-000000000001' <<<"$(hpct-info two.hpct --streams --format tsv)"
check "busy: $(values two gpu_busy 1)" grep -q '^11 90 11 90 ' <<<"$(values two gpu_busy 1)"
same "memory, without what the driver keeps" $((300 << 20)) "$(first two gpu_memory_used 0)"
same "memory of the device" $((1000 << 20)) "$(first two gpu_memory_total 0)"
same "power at the moment" 222001 "$(first two gpu_power 1)"
same "energy, which is dear to ask for, once in five seconds" "5250 " "$(values two gpu_energy 0)"
same "a device without energy" "" "$(values two gpu_energy 1)"
same "clocks" "1980000000 3201000000" "$(first two gpu_clock 0) $(first two gpu_memory_clock 0)"
same "held down by heat, which has the board's bit, too" "0 100 0" \
	"$(first two gpu_capped_power 0) $(first two gpu_capped_heat 0) $(first two gpu_capped_other 0)"
same "an idle device is not held down" "0 0 0" \
	"$(first two gpu_capped_power 1) $(first two gpu_capped_heat 1) $(first two gpu_capped_other 1)"
same "temperature" 41000 "$(first two gpu_temperature 0)"
check "PCIe by a counter of 32 bits, where it wraps, too: $(values two gpu_pcie_sent 0)" \
	calc "$(first two gpu_pcie_sent 0) > 1 && $(values two gpu_pcie_sent 0 | tr ' ' '\n' | sort -n | tail -n 1) <= 1000 / 0.01"
check "and by one of 64: $(values two gpu_pcie_received 0)" calc "$(first two gpu_pcie_received 0) > 1"
same "NVLink, in KiB" 3072 "$(first two gpu_nvlink_sent 0)"
same "a device without NVLink and ECC" "" "$(values two gpu_nvlink_sent 1)$(values two gpu_ecc_corrected 1)"
same "errors mended" 7 "$(first two gpu_ecc_corrected 0)"
hpct-plot two.hpct 'gpu_*' --width 40 >plot || fail "no plot"
check "in watts: $(grep gpu_power plot)" grep -q '^gpu_power .*222 W' plot
check "names of devices are printed harmlessly: $(grep -m1 gpu_busy plot)" grep -qF 'gpu0 Test\tGPU' plot
code "while it was idle" 0 hpct-stats two.hpct --when 'gpu_busy<30' --by stream

record some --gauges gpu_busy,100ms -- perl -e "$waits"
same "one figure" "gpu_busy" "$(hpct-slice some.hpct --streams kind=gauges --format tsv | tsv '{ print $c["metric"] }' | sort -u)"
record others --gauges gpu_capped_other,gpu_pcie_sent,gpu_memory_total,gpu_memory_busy,gpu_ecc_uncorrected,100ms -- perl -e "$waits"
same "figures that others come with" "gpu_capped_other gpu_ecc_uncorrected gpu_memory_busy gpu_memory_total gpu_pcie_sent" \
	"$(hpct-slice others.hpct --streams kind=gauges --format tsv | tsv '{ print $c["metric"] }' | sort -u | paste -sd' ')"
record default -- perl -e "$waits"
check "by default, too: $(values default gpu_busy 0)" grep -q '^10 90 10' <<<"$(values default gpu_busy 0)"
record quick -- true
same "a short program has none" "" "$(values quick gpu_busy 0)"
record off --gauges off -- perl -e "$waits"
same "off" "" "$(values off gpu_busy 0)"

export FAKE_NVML=old
record old --gauges 100ms -- perl -e "$waits"
same "an old driver's power and memory" "111000 $((400 << 20))" "$(first old gpu_power 0) $(first old gpu_memory_used 0)"
same "its PCIe, of 20 ms" "2000000 1000000" "$(first old gpu_pcie_received 0) $(first old gpu_pcie_sent 0)"

# Whatever the library does, the program and its recording are whole.
for word in hang crash broken devices=0 devices=99; do
	export FAKE_NVML=$word
	record "$word" --gauges 100ms -- perl -e "$waits; exit 3"
	same "$word: exit code" 3 $?
	check "$word: figures of the host" calc "$(values "$word" cpu_busy - | wc -w) > 3"
	code "$word: check" 0 hpct-info "$word.hpct" --check
	same "$word: state" complete "$(info "$word" state)"
	[ "$word" = crash ] || [ "$word" = devices=99 ] || same "$word: figures" "" "$(values "$word" gpu_busy 0)"
done
check "before it crashed: $(values crash gpu_busy 0)" grep -q '^10 90 10 90 $' <<<"$(values crash gpu_busy 0)"
check "more devices than there can be" grep -q . <<<"$(values devices=99 gpu_busy 15)"

# A program that sees one device of two calls it 0, whatever the driver does: UUIDs tell.
export FAKE_NVML=visible=1
if [ -f "$HPCT_BIN/../tests/cuda_cupti.so" ]; then
	mkdir -p home/lib64
	cp "$HPCT_BIN/../tests/cuda_cupti.so" home/lib64/libcupti.so.13
	CUDA_HOME=$PWD/home FAKE_LINGER=1 record seen --gauges 100ms -- "$HPCT_BIN/../tests/cuda_program" "$PWD/home/lib64/libcupti.so.13" >/dev/null
	hpct-slice seen.hpct -o seen-copy.hpct || fail "no copy"
	met_ns() { # RUN CONDITION KIND : the time of such streams while it was so
		hpct-stats "$1.hpct" --when "$2" --streams "kind=$3" --by stream --format tsv 2>/dev/null |
			tsv '$c["key"] != "absent" { t += $c["time_ns"] } END { printf "%.0f\n", t }'
	}
	for run in seen seen-copy; do # device 1 is busy for 11 or 90 %, device 0 for 10 or 90
		same "$run: the queue is not its number's device" 0 "$(met_ns "$run" 'gpu_busy<=10' gpu)"
		check "$run: but its UUID's" calc "$(met_ns "$run" 'gpu_busy<=11' gpu) > 100e6"
		check "$run: and that of its process's threads" calc "$(met_ns "$run" 'gpu_busy<=11' cpu) > 100e6"
	done
fi

# Level Zero's system management, by the real loader and a driver of our own (tests/level0).
unset LD_LIBRARY_PATH FAKE_NVML
[ -f "$HPCT_BIN/../tests/level0_driver.so" ] || { echo "built without Level Zero's headers: that is not tested"; exit; }
export ZE_ENABLE_ALT_DRIVERS=$HPCT_BIN/../tests/level0_driver.so
record level0 --gauges 100ms -- perl -e "$waits"
same "Level Zero's devices" "0 1" "$(hpct-info level0.hpct --streams --format tsv | tsv '$c["device"] != "" { printf "%s%s", n++ ? " " : "", $c["device"] }')"
same "its share of the time, of the whole device" 25 "$(first level0 gpu_busy 0)"
same "its power" 75000 "$(first level0 gpu_power 1)"
same "its memory, all parts of it" "$((2 << 30)) $((16 << 30))" "$(first level0 gpu_memory_used 0) $(first level0 gpu_memory_total 0)"
same "its clock and what holds it down" "1550500000 100 0" \
	"$(first level0 gpu_clock 0) $(first level0 gpu_capped_power 0) $(first level0 gpu_capped_heat 0)"
same "its temperature" 62500 "$(first level0 gpu_temperature 0)"
same "its PCIe" "8000000 3000000" "$(first level0 gpu_pcie_received 0) $(first level0 gpu_pcie_sent 0)"
hpct-plot level0.hpct gpu_busy --time 0.5s.. --width 20 >plot || fail "no plot of Level Zero"
check "its name: $(head -n 1 plot)" grep -q '^gpu_busy  gpu0 Test Xe 0 ' plot
