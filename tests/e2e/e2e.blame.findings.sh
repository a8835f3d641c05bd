#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Habits that cost time, found in real runs of OpenCL (PoCL), and not found where the program does better.
. "$(dirname -- "$0")/expect.sh"
habits=$samples/opencl_habits
[ -x "$habits" ] || skip "built without the OpenCL loader (ocl-icd-opencl-dev)"
"$habits" in-order >/dev/null 2>&1 || skip "no OpenCL device (pocl-opencl-icd)"

# found WAY FINDING COUNT PATH: so often and there; absent WAY FINDING: nowhere.
findings() {
	[ -e "$1.tsv" ] || { record "$1" -- "$habits" "$1" >/dev/null; hpct-blame "$1.hpct" --findings --format tsv >"$1.tsv"; }
	tsv '$c["finding"] == "'"$2"'" { print $c["count"], $c["path"] }' <"$1.tsv"
}
found() { same "$1: $2" "$3${4:+ $4}" "$(findings "$1" "$2" | sed 's/ $//')"; }
absent() { same "$1: $2" "" "$(findings "$1" "$2")"; }
saves() {
	check "$1: $2 is said to save nothing" \
		[ "$(tsv '$c["finding"] == "'"$2"'" { printf "%.0f\n", $c["save_ns"] }' <"$1.tsv")" -gt 0 ]
}

found round-trip round-trip 1 "main;transfers;again;send;<gpu copy>"
saves round-trip round-trip
absent stays round-trip
found mapped round-trip 1 "main;mappings;<gpu copy>"
absent looked round-trip
for way in apart parts; do
	found $way not-aliased 3 "main;arguments;run;<gpu kernel>;advance"
done
found many not-aliased 1 "main;many;launch;<gpu kernel>;many"
found shared not-aliased 1 "main;shared;launch;<gpu kernel>;advance"
for way in alias twice shared-one; do
	absent $way not-aliased
done
found in-order in-order-queue 2 ""
saves in-order in-order-queue
absent unordered in-order-queue
found contexts many-contexts 1 "main;places;set_up"
saves contexts many-contexts
absent queues many-contexts
found in-order single-device 1 "main;queues;set_up"
saves in-order single-device

# Two devices, one of them used; both.
export POCL_DEVICES="basic basic"
same "two devices" "one-device on 2 devices" "$("$habits" one-device)"
found one-device unused-devices 1 ""
found one-device single-device 1 "main;places;set_up"
absent all-devices unused-devices
absent all-devices single-device
unset POCL_DEVICES
absent in-order unused-devices

# What the recorder says of it.
hpct-slice in-order.hpct --streams kind=gpu --format tsv >rows
check "the queue's order is not told" grep -q 'monitored.*order=in,devices=' rows
check "since when GPUs are used is not told" grep -q 'monitored.*since=first-use' rows
check "the queue is older than its context" \
	[ "$(tsv '$c["op"] == "monitored" { print $c["begin_ns"] }' <rows)" -gt 0 ]

# A phase that compiles is its caller's, whatever functions the compiler has; start-up before is nobody's.
hpct-blame in-order.hpct --of gpu-idle --format tsv >blame
same "whom the GPU waited for while code was compiled" set_up "$(sed -n 2p blame | cut -f1)"
hpct-blame in-order.hpct >page
check "the page's first row names it: $(grep -m 1 '^  1 ' page)" grep -q '^  1 set_up ' page
check "the time before the first use is not told" grep -q 'before the first use of a GPU' page
hpct-blame in-order.hpct --summary --format tsv >sums
same "unused, and in the unknown" 1 "$(awk '{ v[$1] = $2 } END { print (v["unused_ns"] > 0 && v["unused_ns"] <= v["unknown_ns"]) }' sums)"
# A wait while nothing is queued is the thread's own fault: two runs of one finish.
same "a synchronization of an idle queue" "1 main;twice" "$(findings finish-twice needless-sync | grep 'twice$')"

# Time in synchronization calls by call path, and the kernels that it was spent for: what they cover and what they do
# not is all of it.
record turns -- "$samples/opencl" >/dev/null
hpct-blame turns.hpct --of cpu-idle --by path --format tsv >idle
check "who waits in synchronization calls: $(head -n 3 idle)" \
	[ "$(sed -n 2p idle | cut -f1)" = "main;feed;plain;turns;turn" ]
hpct-blame turns.hpct --of cpu-idle-cause --format tsv >cause
check "for which kernel: $(head -n 3 cause)" [ "$(sed -n 2p cause | cut -f1)" = add ]
same "the kernels' shares, and what none covers" "$(awk -F '\t' 'NR > 1 { n += $2 } END { printf "%.0f", n }' idle)" \
	"$(awk -F '\t' 'NR > 1 { n += $2 } END { printf "%.0f", n }' cause)"
