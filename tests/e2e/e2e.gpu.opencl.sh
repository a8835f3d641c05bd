#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# OpenCL on a real runtime (PoCL): linked and dlopen'ed programs, in-order and out-of-order queues, the program's own
# events and profiling, an _exit with work queued. The same checks as for any other vendor, then what is OpenCL's.
. "$(dirname -- "$0")/expect.sh"
. "$(dirname -- "$0")/gpu_conformance.sh"
[ -x "$samples/opencl" ] || skip "built without the OpenCL loader (ocl-icd-opencl-dev)"
"$samples/opencl" plain >/dev/null 2>&1 || skip "no OpenCL device (pocl-opencl-icd)"

for way in plain events; do
	for program in opencl opencl_dlopen; do
		both "$way-$program" "$samples/$program" "$way"
		gpu_conformance "$way-$program" <<-'END'
			5 copy 262144 H2D main;feed;plain;turns;turn;<gpu copy>
			5 copy 262144 D2D main;feed;plain;turns;turn;<gpu copy>
			5 copy 262144 D2H main;feed;plain;turns;turn;<gpu copy>
			5 set 262144 DEV main;feed;plain;turns;turn;<gpu set>
			5 kernel 0 - main;feed;plain;turns;turn;kernel_start;<gpu kernel>;scale
			5 kernel 0 - main;feed;plain;turns;turn;kernel_start;<gpu kernel>;add
			3 alloc 262144 DEV main;set_up
			3 free 262144 DEV main
			1 compile - - main;set_up
		END
	done
done
run=plain-opencl
same "blocking reads and clFinish as waits of the thread" "5 main;feed;plain;turns;turn 1 main;feed;plain;turns" \
	"$(cut -f4 $run.syncs | sort -r | uniq -c | sed 's/^ *//' | paste -sd ' ')"
same "grid and block of kernels" 10 "$(grep -c 'grid=1024:1:1,block=64:1:1' $run.ops)"
tsv '$c["kind"] == "gpu" { print $c["name"] }' < <(hpct-info $run.hpct --streams --format tsv) >names
same "queues and their names" "queue 0" "$(cat names)"
check "the device is not named" grep -q 'device=[^,]*' <(hpct-slice $run.hpct --op monitored --streams kind=gpu --format tsv)

# The host's own work between the kernels is what the GPU waited for: from the first operation on, since the
# runtime's compiler is as slow as the machine is busy.
first_ns=$(cut -f2 $run.ops | sort -n | head -n 1)
hpct-blame $run.hpct --time "${first_ns}ns.." --format tsv --of gpu-idle --by function >blame
same "whom the idle queue waited for" prepare_on_host "$(sed -n 2p blame | cut -f1)"
hpct-blame $run.hpct --time "${first_ns}ns.." >page
check "the page's first row names the culprit: $(grep -m 1 '^  1 ' page)" grep -q '^  1 prepare_on_host' page

# What hpct-stats sums, summed once more from the rows; the window is 0 and 1 queue at work.
sums() { sort | awk -F '\t' '
	{ k = $1 "\t" $2; if (k != last && last != "") put(); last = k; n++; t += $3; b += $4; if ($3 > m) m = $3 }
	function put() { printf "%s\t%d\t%.0f\t%.0f\t%.0f\n", last, n, t, m, b; n = t = b = m = 0 }
	END { put() }' | sort; }
awk -F '\t' 'BEGIN { OFS = "\t" } {
	key = $4; sub(/.*;/, "", key)
	if ($5 != "kernel") { match($7, /kind=[A-Z0-9]*/); key = substr($7, RSTART + 5, RLENGTH - 5) }
	print $5, key, $3 - $2, $6 }' $run.ops | sums >want
hpct-stats $run.hpct --operations --format tsv >operations
tsv 'BEGIN { OFS = "\t" } $c["op"] ~ /^(kernel|copy|set)$/ {
	print $c["op"], $c["key"], $c["count"], $c["total_ns"], $c["max_ns"], $c["bytes"] + 0 }' <operations | sort >got
same_file "operations by name" want got
same "the window, by queues at work" "$(($(info $run end_ns) - $(info $run begin_ns)))" \
	"$(tsv '$c["op"] == "queues at work" { n += $c["total_ns"] } END { printf "%.0f\n", n }' <operations)"
same "time with one queue at work, an in-order queue" "$(cut -f4 want | awk '{ n += $1 } END { printf "%.0f\n", n }')" \
	"$(tsv '$c["op"] == "queues at work" && $c["key"] == 1 { print $c["total_ns"] }' <operations)"

both unordered "$samples/opencl" unordered
gpu_conformance unordered unordered <<'END'
10 kernel 0 - main;feed;unordered;kernel_start;<gpu kernel>;spin
END
same "the wait for events" "main;feed;unordered" "$(grep 'kind=EVT' unordered.syncs | cut -f4)"
check "the queue is not called out of order" grep -q 'out of order' <(hpct-info unordered.hpct --streams)

# _exit while kernels run: what had ended is there, the rest is counted as lost.
both left "$samples/opencl" exit
same "exit code" 3 "$measured"
gpu_slice left
check "nothing of what had ended before _exit is there" [ "$(wc -l <left.ops)" -ge 3 ]
lost=$(info left gpu_lost) launched=$(wc -l <left.launches)
same "operations and losses make up the launches" "$launched" "$(($(wc -l <left.ops) + lost))"
check "nothing is said to be lost" [ "$lost" -gt 0 ]

# A loader that asks for no layers, as old ones do.
run=plain-opencl
both unlayered "$samples/opencl" unlayered
check "a loader without layers is not told: '$(info unlayered gpu_unwatched)'" \
	grep -q "^OpenCL's loader asked for no layers" < <(info unlayered gpu_unwatched)
same "nothing is said where there are layers" "" "$(info $run gpu_unwatched)"

# Off, another vendor's, and a program without OpenCL: no GPU stream.
record off -e gpu=off -- "$samples/opencl" plain >/dev/null
record other -e gpu=nvidia -- "$samples/opencl" plain >/dev/null
record none -- true
for run in off other none; do
	same "$run: GPU streams" 0 "$(hpct-info $run.hpct --streams --format tsv | tsv '$c["kind"] == "gpu"' | wc -l)"
done
