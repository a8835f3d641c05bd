#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-advise on what a GPU recorded of kernels with one planted fault each (tests/gpu/faults.cu): the fault comes first,
# and its estimate is within a quarter of what mending it gave (microseconds a launch, H200: faulty and mended).
. "$(dirname -- "$0")/expect.sh"
gpu=$HPCT_SOURCE/tests/gpu
# recorded NAME : NAME.hpct from tests/gpu/NAME-sm90.samples
recorded() {
	awk -F '\t' -v OFS='\t' '
		BEGIN {
			print "stream", "track", "begin_ns", "end_ns", "path", "op", "weight", "metric", "attributes"
			print "gpu:h/-/7.0/0/1/pc", "spans", 0, 900000000, "", "monitored", "", "", "period=65536,multiprocessors=132"
		}
		$1 == "launch" {
			print "gpu:h/-/7.0/0/1/7", "spans", sprintf("%.0f", at), sprintf("%.0f", at + $3), "main;measure;<gpu kernel>;" $2, "kernel", "", "", $4
			at += $3 + 1000
		}
		$1 == "sample" {
			print "gpu:h/-/7.0/0/1/pc", "samples", 800000000, "", "<gpu kernel>;" $2 ";00000000000fa017+0x" $3, "", sprintf("%.0f", $5 * 65536), "GINST:STL_" $4, ""
		}' "$gpu/$1-sm90.samples" >in.tsv
	rm -rf "$2.hpct"
	hpct-import --from tsv in.tsv -o "$2.hpct" || fail "import $1"
}
recorded faults run
advise() { hpct-advise run.hpct --binary "$gpu/faults-sm90.cubin" "$@"; }
advise --format tsv >all.tsv || fail "advise"

best() { # KERNEL : optimizer, estimate and interval of the best advice
	awk -F '\t' -v k="fault_$1P" 'index($1, k) && $11 == 1 && $17 == 0 { print $12, $14, $15, $16 }' all.tsv
}
near() { # FAULTY MENDED <ESTIMATE
	awk -v a="$1" -v b="$2" '{ d = $2 / (a / b) - 1; exit !($3 <= $2 && $2 <= $4 && d <= 0.25 && d >= -0.25) }'
}
fault() { # KERNEL OPTIMIZER FAULTY MENDED
	local got
	got=$(best "$1")
	same "$1: the fault comes first" "$2" "${got%% *}"
	check "$1: $got is not within a quarter of $3 / $4" near "$3" "$4" <<<"$got"
}
fault called function-inlining 150.3 64.4
fault one_warp warp-balance 29.0 7.4
fault precise fast-math 72.2 18.4
fault division strength-reduction 51.4 32.0
fault blocks block-increase 174.7 24.8
fault rolled loop-unrolling 37.5 13.1
fault late_load loop-unrolling 42.5 39.2
fault strided memory-transactions 135.9 17.6
fault constant strength-reduction 87.4 13.0
# Small blocks are no fault where they fill the multiprocessor all the same.
fault threads thread-increase 98.9 98.8
check "threads: promised $(best threads), was 1.00" awk '{ exit !($2 < 1.05) }' <<<"$(best threads)"
fault banks shared-memory 1041 63.3
fault diverging divergence 85.2 44.5
fault spilled register-reuse 1063 55.4
# Its upper end is what the schedulers need for the instructions that are left.
check "spilled: $(best spilled)" awk '{ exit !($3 < $2 && $2 < $4 && $4 > 20.5 && $4 < 21.5) }' <<<"$(best spilled)"

# The kernels of more_faults.cu likewise.
recorded more_faults more
hpct-advise more.hpct --binary "$gpu/more_faults-sm90.cubin" --format tsv >all.tsv || fail "advise, more"
fault tail270 wave-tail 586.957 402.361
fault tail330 wave-tail 588.283 491.373
fault tail400 wave-tail 781.119 595.319
fault tail600 wave-tail 976.952 892.103
fault fields memory-transactions 190.124 28.909
fault transpose memory-transactions 291.569 38.745
fault bytes vector-access 119.609 36.447
fault reload redundant-loads 94.153 30.026
fault matrix tensor-cores 1152.520 304.222
fault staged async-copy 95.352 73.182
fault trips divergence 257.426 150.858
fault turns divergence 245.974 10.315
fault data divergence 85.261 44.479
fault banks2 shared-memory 68.974 50.274
fault banks8 shared-memory 262.922 50.274
# Memory is as busy as it can be: neither coalesced loads of 16 bytes nor those of 4 can gain, nor a shorter tail.
for kernel in 9fair_wide 11fair_narrow 17fault_tail_memory; do
	check "$kernel: nothing to gain" awk -F '\t' -v k="_Z${kernel}P" \
		'index($1, k) == 1 { n++; bad += $14 > 1.05 } END { exit !(n && !bad) }' all.tsv
done
advise --format tsv >all.tsv || fail "advise"

# Where, by which cause, in words.
advise --kernel '*fault_rolled*' --top 1 >rolled || fail "one kernel"
check "the load" grep -q 'From _*.*fault_rolled.* at .*faults.cu:72 .* LDG in Loop' rolled
check "its use" grep -q 'To .*fault_rolled.* at .*faults.cu:72 .* FADD in Loop' rolled
check "a cause" grep -q 'global memory dependency (GMEM), importance' rolled
check "the path" grep -q 'main;measure;<gpu kernel>' rolled
check "how much is explained" grep -q 'causes found for 9[0-9]' rolled
same "only that kernel" 1 "$(grep -c 'of kernel time' rolled)"
advise --annotate --kernel '*fault_rolled*' >rolled || fail "annotate"
check "the loop's use stalls, and waits for its load" \
	grep -qE '^   82\.49  GMEM 99% +170  FADD R5 <- R2 R5 B2 +waits for 130 LDG 99%$' rolled
check "what a guard hides" grep -qE '  @!P0 BRA +waits for 160 ISETP' rolled
check "lines stand above their instructions" grep -qE '^  .*faults.cu:72, in the loop at line 72$' rolled
advise --annotate --kernel '*fault_strided*' >strided || fail "annotate, a part"
check "instructions without samples are left out" grep -qE '\.\.\. 6 without samples$' strided
advise --annotate --format tsv >annotated.tsv || fail "annotate, rows"
same "every instruction once" "" "$(cut -f 1,2,3 annotated.tsv | sort | uniq -d)"
same "samples of the rows are the kernels'" "$(awk -F '\t' 'NR > 1 { print $1, $6 }' all.tsv | sort -u)" \
	"$(awk -F '\t' 'NR > 1 { n[$1] += $10 } END { for (k in n) print k, n[k] }' annotated.tsv | sort)"
same "shares of a kernel" 13 "$(awk -F '\t' 'NR > 1 { n[$1] += $11 } END { for (k in n) c += n[k] > 99.5 && n[k] < 100.5; print c }' annotated.tsv)"
advise --format json --top 1 >all.json || fail "json"
check "json says its schema" grep -q '"schema":"hpct-advise"' all.json

# sampled RUN : functions, addresses and samples from stdin into RUN.hpct; code of another key is in no binary
sampled() {
	local function address samples key
	{
		printf 'stream\ttrack\tbegin_ns\tpath\tweight\tmetric\n'
		while read -r function address samples key; do
			printf 'gpu:h/-/7.0/0/1/pc\tsamples\t9\t<gpu kernel>;%s;%016x+0x%s\t%s\tGINST:STL_IDEP/wait\n' \
				"$function" "0x${key:-5a3d}" "$address" "$samples"
		done
	} >$1.tsv
	hpct-import --from tsv $1.tsv -o $1.hpct || fail "import"
}
totals() { # RUN BINARY [OPTION...] : samples of kernels
	local run=$1 binary=$2
	shift 2
	hpct-advise $run.hpct --binary "$gpu/$binary-sm90.cubin" --format tsv "$@" | awk -F '\t' 'NR > 1 { print $1, $6 }' | sort -u
}

# A function of a section of its own, sampled under its own name: to its callers, 5/15 and 10/15.
sampled shared <<<"few e00 5
often c80 10
both b20 30"
same "samples of kernels" "few 15
often 30" "$(totals shared shared)"
same "one kernel has the same" "few 15" "$(totals shared shared --kernel few)"
# a and b call x, 10 and 30 times: 10 and 30 of its 40, which call y, and a quarter of what could not be read. Of y's 80
# half is x's, as many as c's.
sampled callers <<<"a 1580 10
b 1400 30
x 1270 40
x 10 4 1
c 1100 40
y fa0 80"
same "samples of kernels, two calls deep" "a 31
b 93
c 80" "$(totals callers callers)"
# The shape of a kernel is that of most of its time: 40 + 30 of two paths, not 60 of one. 2^64 + 4 blocks are no 4.
{
	printf 'stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tattributes\n'
	printf 'gpu:h/-/7.0/0/1/7\tspans\t%d\t%d\tmain;%s;<gpu kernel>;few\tkernel\t\t\tgrid=%s,block=128:1:1\n' \
		0 40 one 16:1:1 100 160 one 8:1:1 200 230 two 16:1:1
	printf 'gpu:h/-/7.0/0/1/7\tspans\t300\t310\tmain;<gpu kernel>;often\tkernel\t\t\tgrid=769546:494770:48448661,block=32:1:1\n'
	awk -F '\t' 'NR > 1 { print $1 "\t" $2 "\t" $3 "\t\t" $4 "\t\t" $5 "\t" $6 "\t" }' shared.tsv
} >shapes.tsv
hpct-import --from tsv shapes.tsv -o shapes.hpct 2>err || fail "import: $(cat err)"
hpct-advise shapes.hpct --binary "$gpu/shared-sm90.cubin" >out || fail "shapes"
check "the shape of most time" grep -q '3 launches from 2 call paths, grid 16x1x1, block 128x1x1' out
check "a huge shape has more blocks than multiprocessors" \
	[ "$(sed -n '/^often /,$p' out | grep -c 'Block Increase')" = 0 ]
for file in missing . faults-sm90.samples; do
	code "a file that is no GPU binary" 2 hpct-advise callers.hpct --binary "$gpu/$file"
	sentence "a file that is no GPU binary"
	check "which one: $(cat err)" grep -qF -- "--binary $gpu/$file" err
done
code "no kernel of that name" 3 hpct-advise shared.hpct --kernel 'fewer*'
sentence "no kernel of that name"
check "it says so: $(cat err)" grep -qF "no kernel matches --kernel 'fewer*'" err

# A kernel that does nothing but wait: the numbers stay numbers. Without rows of advice nothing is said of gain.
printf 'stream\ttrack\tbegin_ns\tpath\tweight\tmetric\ngpu:h/-/7.0/0/1/pc\tsamples\t9\t<gpu kernel>;few;0000000000005a3d+0xe00\t9\tGINST:STL_SYNC/barrier\n' >waits.tsv
hpct-import --from tsv waits.tsv -o waits.hpct || fail "import"
few() { hpct-advise waits.hpct --binary "$gpu/shared-sm90.cubin" "$@"; }
few --format json >out
check "json has no number without end: $(cat out)" grep -q '"speedup_low":1,"speedup_high":1000' out
same "no infinity" "" "$(grep -i inf out; few | grep -i ' inf')"
same "--top 0: no verdict" "" "$(few --top 0 | grep 'no gain'; few --top 0 --format tsv | grep 'no gain')"
same "--top 0: a row" 1 "$(few --top 0 --format tsv | awk -F '\t' 'NR > 1 && $11 == 0' | wc -l)"

# Chains: a kernel of 0.8 us each, 4.3 us apart because its call takes as long, against one that is launched ahead of
# its time, and one whose thread does something else between two launches.
chain() { # NAME CALL_NS KERNEL_NS WORK_NS : 100 launches
	awk -v OFS='\t' -v name="$1" -v call="$2" -v ns="$3" -v work="$4" 'BEGIN {
		print "stream", "track", "begin_ns", "end_ns", "path", "op", "weight", "metric", "attributes", "link"
		for (i = 1; i <= 100; i++) {
			at += call + work
			free = at + 2000 > free ? at + 2000 : free
			print "cpu:h/-/7.0/0", "spans", at - call, at, "main", "launch", "", "", "link=" i
			print "gpu:h/-/7.0/0/1/7", "spans", free, free + ns, "main;<gpu kernel>;" name, "kernel", "", "", "link=" i ",grid=1056:1:1,block=128:1:1"
			free += ns
		}
		print "gpu:h/-/7.0/0/1/pc", "samples", 9, "", "<gpu kernel>;" name ";0000000000005a3d+0xe00", "", 65536, "GINST:STL_IDEP/wait", ""
	}' | cut -f 1-9 >chain.tsv
	rm -rf chain.hpct
	hpct-import --from tsv chain.tsv -o chain.hpct || fail "import"
	hpct-advise chain.hpct --format tsv | awk -F '\t' '$12 == "graph-launch" && $17 == 0 { printf "%.2f %.2f %.2f\n", $14, $15, $16 }'
}
same "launch-bound: gap and kernel 4.3 us, of which recording is 1, beside 0.3 and 0.8" "3.00 1.18 3.91" "$(chain few 4300 800 0)"
same "launched ahead: nothing waits for a launch" "" "$(chain few 2000 8000 0)"
same "the thread works between launches: a graph spares nothing of that" "" "$(chain few 4300 800 90000)"

# The whole run: 1000 us, of which a kernel takes 400 while its thread waits: no more than Amdahl has, and no less.
# Where another queue's kernel ends 20 us before it, the thread may wait for that one, too.
whole() { # OTHER_END_NS : run_low run_high of the best advice, and what Amdahl has
	{
		printf 'stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tattributes\n'
		printf 'cpu:h/-/7.0/0\tspans\t0\t1000000\t\tmonitored\t\t\t\n'
		printf 'cpu:h/-/7.0/0\tspans\t90000\t100000\tmain\tlaunch\t\t\tlink=1\n'
		printf 'cpu:h/-/7.0/0\tspans\t100000\t500000\tmain\tsync\t\t\t\n'
		printf 'gpu:h/-/7.0/0/1/7\tspans\t100000\t500000\tmain;<gpu kernel>;few\tkernel\t\t\tlink=1\n'
		[ -z "$1" ] || printf 'gpu:h/-/7.0/0/1/8\tspans\t100000\t%s\tmain;<gpu kernel>;often\tkernel\t\t\t\n' "$1"
		printf 'gpu:h/-/7.0/0/1/pc\tsamples\t600000\t\t<gpu kernel>;few;0000000000005a3d+0xe00\t\t5\tGINST:STL_SYNC/barrier\t\n'
		printf 'gpu:h/-/7.0/0/1/pc\tsamples\t600000\t\t<gpu kernel>;few;0000000000005a3d+0xe10\t\t5\tGINST:STL_NONE\t\n'
	} >whole.tsv
	rm -rf whole.hpct
	hpct-import --from tsv whole.tsv -o whole.hpct || fail "import"
	hpct-advise whole.hpct --binary "$gpu/shared-sm90.cubin" --top 1 --format tsv | awk -F '\t' '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
		$11 == 1 && $17 == 0 {
			low = $column["run_low"]; high = $column["run_high"]
			printf "%.4f %.4f %.4f %d\n", low, high, 1000 / (1000 - 400 * (1 - 1 / $14)), ($column["run_most"] >= high && $column["run_least"] <= low)
		}'
}
amdahl=$(whole "" | cut -d ' ' -f 3)
same "alone on the GPU: Amdahl" "$amdahl $amdahl $amdahl 1" "$(whole "")"
same "overlapped: the last 20 us of 1000, or Amdahl" "1.0204 $amdahl $amdahl 1" "$(whole 480000)"
check "in words" grep -qE '^      of the run.s 1 ms this spares 20 us to 117\.[0-9] us: 1\.020x to 1\.[0-9]+x \(interval: 1\.000 to 1\.[0-9]+\)$' \
	<(hpct-advise whole.hpct --binary "$gpu/shared-sm90.cubin")

# Launches below a call path, and a window that cuts a read-out: one of 40 + 30 us below `one`, one of 60 us below `two`,
# between 0 and 230 us; the read-out is at 0.9 s.
for kernel in few often; do
	printf 'gpu:h/-/7.0/0/1/pc\tsamples\t900000000\t\t<gpu kernel>;%s;0000000000005a3d+0x%s\t\t1300\tGINST:STL_IDEP/wait\t\n' $kernel \
		"$([ $kernel = few ] && echo e00 || echo c80)"
done >samples.tsv
{
	printf 'stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tattributes\n'
	printf 'gpu:h/-/7.0/0/1/7\tspans\t%d\t%d\tmain;%s;<gpu kernel>;few\tkernel\t\t\tgrid=%s,block=128:1:1\n' \
		0 40000 one 16:1:1 100000 160000 two 8:1:1 200000 230000 one 16:1:1
	printf 'gpu:h/-/7.0/0/1/7\tspans\t300000\t310000\tmain;two;<gpu kernel>;often\tkernel\t\t\tgrid=32:1:1,block=32:1:1\n'
	cat samples.tsv
} >paths.tsv
hpct-import --from tsv paths.tsv -o paths.hpct || fail "import"
paths() { hpct-advise paths.hpct --binary "$gpu/shared-sm90.cubin" "$@"; }
kernels() { awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } NR > 1 { print $1, $2, $4, $6, $c["exact_percent"], $c["cut_percent"] }' | sort -u; }
same "all launches" "few 130000 3 1300 0.00 0.00
often 10000 1 1300 100.00 0.00" "$(paths --format tsv | kernels)"
same "below a call path: its launches and their part of the samples" "few 70000 2 700 100.00 0.00" \
	"$(paths --format tsv --context '*one*' | kernels)"
same "a window: what ran in it" "few 80000 2 800 0.00 100.00" "$(paths --format tsv --time 0..140us | kernels)"
same "both" "few 40000 1 400 100.00 100.00" "$(paths --format tsv --time 0..140us --context '*one*' | kernels)"
paths --kernel few >out || fail "paths"
check "shared is said" grep -q '^  samples of launches: 0\.0 % of one call path, exact; 100\.0 % of several, shared by time$' out
paths --time 0..140us >out || fail "a window"
check "cut is said" grep -q '^  100\.0 % are of read-outs that the window cuts' out
# A launch that has not ended lasts to the run's end.
{
	head -1 paths.tsv
	printf 'cpu:h/-/7.0/0\tspans\t0\t900000000\t\tmonitored\t\t\t\n'
	printf 'gpu:h/-/7.0/0/1/7\tspans\t%s\t%s\tmain;%s;<gpu kernel>;few\tkernel\t\t\tgrid=16:1:1,block=128:1:1\n' \
		0 40000 one 899900000 '' two
	cat samples.tsv
} >open.tsv
hpct-import --from tsv open.tsv -o open.hpct || fail "import"
same "to the end" "140000 2" "$(hpct-advise open.hpct --kernel few --format tsv | awk -F '\t' 'NR == 2 { print $2, $4 }')"

code "no launch below it" 3 hpct-advise paths.hpct --context '*three*'
sentence "no launch below it"

# What is not there is said.
hpct-advise run.hpct >bare || fail "without the binary"
check "code that is missing" grep -q '100.0 % in code that the run does not keep' bare
hpct-simulate -o none.hpct --shape mixed --streams 3 --records 100 || fail "simulate"
code "no samples" 3 hpct-advise none.hpct
sentence "no samples"
code "a window without them" 3 hpct-advise run.hpct --time 850ms..860ms
