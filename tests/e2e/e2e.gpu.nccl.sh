#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NCCL's calls: a kernel is named with its communicator, its number there, size, count and rank, by each version of NCCL's
# plug-in interface; and of a program that hangs hpct-stacks says which rank has not come. With a CUPTI and an NCCL of our
# own (tests/cuda), as the real ones need GPUs.
. "$(dirname -- "$0")/expect.sh"
tests=$HPCT_BIN/../tests
[ -f "$tests/cuda_cupti.so" ] || skip "built without CUPTI's headers"
mkdir -p home/lib64
cp "$tests/cuda_cupti.so" home/lib64/libcupti.so.13
unset CUDA_PATH CUDA_INJECTION64_PATH NCCL_PROFILER_PLUGIN
export CUDA_HOME=$PWD/home FAKE_CUPTI=
cupti=$PWD/home/lib64/libcupti.so.13
world=nccl:98066c5c7eb7905a even=even_ranks:98066c5c7eb7905b

for version in 4 3 2; do
	run=v$version
	record $run -- "$tests/cuda_nccl" "$cupti" 3 $version steps >$run.out || fail "$run: does not end well"
	same "$run: its output" "rank 0 rank 1 rank 2" "$(sort $run.out | xargs)"
	hpct-slice $run.hpct --op kernel --format tsv | tsv '$c["op"] == "kernel" {
		n = split($c["path"], f, ";"); split($c["stream"], s, "/"); a = $c["attributes"]
		sub(/.*occupancy_permille=[0-9]+,?/, "", a); sub(/,?link=.*/, "", a); print s[2], f[n], $c["bytes"] + 0, a }' | sort >$run.kernels
	size=,ranks=3 of_even=,ranks=2 of_send=,channels=2
	[ $version -eq 4 ] || size='' of_even='' of_send=''
	for rank in 0 1 2; do
		echo "$rank axpy 0 "
		echo "$rank ncclDevKernel_AllReduce_Sum_f32_RING_LL 4000 call=AllReduce,comm=$world,seq=1,rank=$rank$size,count=1000,type=Float32,algorithm=RING,protocol=SIMPLE,channels=24"
		echo "$rank ncclDevKernel_Broadcast_RING_LL 150 call=Broadcast,comm=$world,seq=2,calls=2,rank=$rank$size,count=150,channels=24"
		[ $rank -eq 1 ] || echo "$rank ncclDevKernel_AllGather_RING_LL 16 call=AllGather,comm=$even,seq=1,rank=$((rank / 2))$of_even,count=8,type=Bfloat16,algorithm=RING,protocol=SIMPLE,channels=24"
		[ $rank -eq 2 ] || echo "$rank ncclDevKernel_SendRecv 32 call=$([ $rank -eq 0 ] && echo Send || echo Recv),comm=$world,rank=$rank$size,peer=$((1 - rank)),count=4,type=Float64$of_send"
	done | sort >wanted
	same_file "$run: kernels" wanted $run.kernels
	same "$run: lost" 0 "$(info $run lost)"
done
# The call is on the thread as well, with the launch's link.
hpct-slice v4.hpct --format tsv | tsv '$c["op"] == "nccl" || $c["op"] == "kernel" { a = $c["attributes"]
	if (a ~ /call=/ && match(a, /link=[0-9]+/)) n[$c["op"] substr(a, RSTART, RLENGTH)]++; ops[$c["op"]] += a ~ /call=/ }
	END { for (k in n) if (k ~ /^nccl/) { sub(/^nccl/, "", k); met += ("kernel" k) in n }; print ops["nccl"], ops["kernel"], met }' >calls
same "calls on threads, on queues, and linked" "10 10 10" "$(cat calls)"

hpct-record -o hang.hpct -- "$tests/cuda_nccl" "$cupti" 3 4 hang 2 >hang.out 2>/dev/null &
recorder=$!
await grep -q hangs hang.out || fail "it does not hang"
says() { hpct-stacks hang.hpct 2>/dev/null | grep -q '^AllReduce.*: 2 are in it; rank 2 has not come, its last'; }
await says || fail "hpct-stacks never says who is missing"
same "who has not come, while it hangs" "AllReduce 2 of $world: 2 are in it; rank 2 has not come, its last was AllReduce 1" \
	"$(hpct-stacks hang.hpct | grep '^AllReduce' | sed 's/ since [^:]*:/:/')"
hpct-info hang.hpct --streams --format tsv | tsv '$c["kind"] == "cpu" { print $c["pid"] }' | sort -u | while read -r pid; do
	kill -KILL "$pid" 2>/dev/null
done
wait $recorder
same "who has not come, after it was killed" "AllReduce 2 of $world: 2 are in it; rank 2 has not come, its last was AllReduce 1" \
	"$(hpct-stacks hang.hpct --at -0.01s | grep '^AllReduce' | sed 's/ since [^:]*:/:/')"
same "as a column" "0 in AllReduce 2 of $world 1 in AllReduce 2 of $world 2 not in AllReduce 2 of $world" \
	"$(hpct-stacks hang.hpct --at -0.01s --format tsv | tsv '$c["collective"] != "" { split($c["stream"], s, "/"); print s[2], $c["collective"] }' | sort | xargs)"

record off -e gpu=off -- "$tests/cuda_nccl" "$cupti" 2 4 steps >/dev/null || fail "off: does not end well"
same "with -e gpu=off" "" "$(hpct-slice off.hpct --format tsv | tsv '$c["op"] == "nccl"')"
