#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NVIDIA's vendor file against a CUPTI of our own (tests/cuda), since the real one needs a driver: twenty launches by
# the same checks as any vendor, then each kind of CUPTI that hpct has to live with. Whatever it is, the program does
# what it does without hpct, and the summary has a sentence. And runtimes that hpct was built without.
. "$(dirname -- "$0")/expect.sh"
. "$(dirname -- "$0")/gpu_conformance.sh"
tests=$HPCT_BIN/../tests
mkdir -p home/lib64
cupti=$PWD/home/lib64/libcupti.so.13
unset CUDA_PATH CUDA_INJECTION64_PATH
export CUDA_HOME=$PWD/home

# cuda RUN WORDS : the program with such a CUPTI, its output and exit code its own
cuda() {
	export FAKE_CUPTI=$2
	both "$1" "$tests/cuda_program" "$cupti"
	same "$1: exit code" 3 "$measured"
}

# stood_down RUN WORDS SENTENCE
stood_down() {
	cuda "$1" "$2"
	same "$1: why GPUs were not watched" "$3" "$(info "$1" gpu_unwatched)"
	same "$1: operations" "" "$(info "$1" gpu_operations | grep -v '^0$')"
	same "$1: GPU streams" 0 "$(hpct-info "$1.hpct" --streams --format tsv | tsv '$c["kind"] == "gpu"' | wc -l)"
}

# ---- without the headers ----

mkdir -p bare/bin bare/lib
cp "$HPCT_BIN/hpct-record" "$HPCT_BIN/hpct-names" bare/bin
cp -r "$tests/vendorless/lib/hpct" bare/lib
bare() { # RUN PROGRAM... : recorded by an hpct that knows no vendor
	local run=$1
	shift
	bare/bin/hpct-record -o "$run.hpct" -- "$@" >/dev/null
	info "$run" gpu_unwatched
}
same "built without CUPTI" "hpct was built without CUPTI's headers" "$(bare no-cupti "$tests/cuda_program")"
same "a program without a GPU is told nothing" "" "$(bare no-gpu true)"
if [ -x "$samples/opencl" ] && "$samples/opencl" plain >/dev/null 2>&1; then
	same "built without OpenCL" "hpct was built without OpenCL's headers" "$(bare no-opencl "$samples/opencl" plain)"
fi
if [ -x "$samples/level0" ] && [ -f "$tests/level0_driver.so" ]; then
	export ZE_ENABLE_ALT_DRIVERS=$tests/level0_driver.so
	same "built without Level Zero" "hpct was built without Level Zero's headers" \
		"$(bare no-level0 "$samples/level0" immediate)"
fi

# ---- with them ----

[ -f "$tests/cuda_cupti.so" ] || { echo "built without CUPTI's headers: only that is tested"; exit; }
cp "$tests/cuda_cupti.so" "$cupti"

cuda plain ""
gpu_conformance plain <<'END'
10 kernel 0 - main;work;launch;<gpu kernel>;axpy
10 kernel 0 - main;work;launch;<gpu kernel>;relax
END
waits() { awk -F '\t' '{ sub(/.*kind=/, "", $7); sub(/,.*/, "", $7); print $4, $7 }' "$1.syncs"; }
same "the waits" "main;work CTX
main;waits STR" "$(waits plain)"
FAKE_ALLOCATES=1 cuda allocates "" # whose first parameter is no stream
gpu_slice allocates
same "allocations are no waits" "$(waits plain)" "$(waits allocates)"
same "allocations are calls" 2 "$(awk -F '\t' '$4 == "main;work" && $5 == "launch"' allocates.launches | wc -l)"
same "what a kernel is like" 20 \
	"$(grep -c 'grid=4:1:1,block=128:1:1,registers=32,occupancy_permille=1000' plain.ops)"
same "nothing is said" "" "$(info plain gpu_unwatched)"

# A kernel's binary, which CUPTI does not name: the one that was loaded with a kernel of that name. An object file of
# this machine has sections like a cubin's.
printf 'void axpy(void) {}\n' | "${CC:-cc}" -ffunction-sections -x c -c -o code.o - || skip "no C compiler for a binary"
cuda module "module=$PWD/code.o"
gpu_slice module
same "kernels that name their binary" "10 axpy" \
	"$(awk -F '\t' '$7 ~ /,module=[0-9a-f]+$/ { n = split($4, f, ";"); print f[n] }' module.ops | sort | uniq -c | sed 's/^ *//')"

# Code that is loaded is one thing, and code that is compiled another, where CUPTI has records of that.
calls() { # RUN WORDS : the operations of the call that loads, where they are, and how many take time
	cuda "$1" "$2"
	gpu_slice "$1"
	awk -F '\t' '{ n[$5 " " $4]++; long[$5 " " $4] += $3 > $2 } END { for (o in n) print o, n[o], long[o] }' "$1.calls" | sort
}
same "code that is loaded" "load main;work 1 1" "$(calls loaded "")"
same "code that is compiled" "compile main;work;<gpu compile> 1 1
load main;work 1 1" "$(calls compiled "ptx module=$PWD/code.o")"
same "compiled, nobody knows when" "compile main;work;<gpu compile> 1 1
load main;work 1 1" "$(calls untimed "ptx untimed module=$PWD/code.o")"
same "a CUPTI that does not tell" "compile main;work 1 1" "$(calls untold "older")"
# Records of compilations beside those of whole graphs made programs fail: nobody asks for them.
FAKE_CUPTI="ptx module=$PWD/code.o" record whole --cuda-graphs graph -- "$tests/cuda_program" "$cupti" >/dev/null
gpu_slice whole
same "whole graphs" "load main;work 1" "$(awk -F '\t' '{ print $5, $4, ($3 > $2) }' whole.calls)"
same "a binary's own memory" "alloc main;work;<gpu alloc> 1 1
load main;work 1 1" "$(calls static "static module=$PWD/code.o")"
same "what could be gained, once" "single-device 1" \
	"$(for run in loaded compiled; do hpct-blame $run.hpct --findings --format tsv; done | tsv '$c["finding"] ~ /^(compile|single-device)$/ { print $c["finding"], $c["count"] }')"

# An allocation is a moment to CUPTI: here it lasts as long as its call.
cuda alloc alloc
gpu_slice alloc
same "allocations, as long as their calls" "20 20" "$(grep -c "	alloc	" alloc.calls) $(awk -F '\t' '
	FNR == NR { call[$8] = $2 "-" $3; next } call[$8] == $2 "-" $3 && $3 > $2 { n++ } END { print n + 0 }' alloc.launches alloc.calls)"
same "their metrics" "81920 20" "$(hpct-profile alloc.hpct --metric GMEM:DEV,GMEM:COUNT --depth 0 --format tsv |
	tsv '{ print $c["GMEM:DEV:incl"], $c["GMEM:COUNT:incl"] }')"

stood_down old version=17 "hpct was not built for this version of CUPTI"
stood_down new version=990000 "hpct was not built for this version of CUPTI"
stood_down mute getversion=999 "this CUPTI lacks functions that hpct needs"
stood_down held subscribe=39 "another tool holds CUPTI"
stood_down refused subscribe=999 "CUPTI refused hpct as its tool"
stood_down driverless subscribe=15 "CUPTI finds no driver that it supports"
stood_down forbidden activity=35 "no permission to use CUPTI: set NVreg_RestrictProfilingToAdminUsers=0"
stood_down recordless activity=999 "CUPTI refused activity records"
printf 'not a library' >"$cupti"
if [ ! -e /usr/local/cuda/lib64/libcupti.so ]; then
	stood_down broken "" "libcupti.so was not found: set CUDA_HOME to the CUDA toolkit"
fi
cp "$tests/cuda_cupti.so" "$cupti"

# Whole graphs, but for a program with XLA, which they would end.
graphs() { # RUN COMMAND... : what CUPTI is asked for, and what is said
	local run=$1
	shift
	FAKE_CUPTI=none hpct-record -o "$run.hpct" --cuda-graphs graph --summary "$run.summary" -- "$@" 2>&1 >/dev/null |
		cat - "$run.summary" | grep -E 'whole graphs$|^CUDA graphs' || true
	info "$run" gpu_graphs_by_node
}
same "graphs are wholes when asked for" "whole graphs" "$(graphs wholes "$tests/cuda_program" "$cupti")"
cp "$tests/cuda_cupti.so" xla_cuda_plugin.so
same "graphs of XLA are not" \
	"$(printf '%s\n' "CUDA graphs traced by node: CUPTI fails on XLA's graphs when they are traced as wholes" 1)" \
	"$(graphs xla env LD_PRELOAD="$PWD/xla_cuda_plugin.so" "$tests/cuda_program" "$cupti")"
same "graphs are not from the first one on that XLA may make" \
	"$(printf '%s\n' "whole graphs" "no more whole graphs" "CUDA graphs traced by node: CUPTI fails on XLA's graphs when they are traced as wholes" 1)" \
	"$(graphs xla_late "$tests/cuda_program" "$cupti" "$PWD/xla_cuda_plugin.so")"

# The driver's variable names another tool, and stays as it is: libcuda.so is there, and has not called us.
cp "$tests/cuda_cupti.so" libcuda.so.1
CUDA_INJECTION64_PATH=/other/tool.so both other env LD_PRELOAD="$PWD/libcuda.so.1" "$tests/cuda_program"
same "another tool of the driver's" "CUDA_INJECTION64_PATH names another tool" "$(info other gpu_unwatched)"

# Two models: each queue is its own device's, occupancy by what that one holds.
cuda models models
same "operations on two models" 20 "$(info models gpu_operations)"
hpct-slice models.hpct --streams kind=gpu --format tsv >models.rows
same "their names" "Model One Model Two" "$(grep -o 'device=Model [A-Z][a-z]*' models.rows | cut -d= -f2 | sort -u | paste -sd ' ')"
same "launches of each" "10 10" "$(tsv '$c["op"] == "kernel" { n[$c["stream"]]++ } END { for (s in n) print n[s] }' <models.rows | paste -sd ' ')"

# Times that cannot be are counted and given to the launch; an order that cannot be is put right.
for odd in zero inverted; do
	cuda $odd $odd=4
	same "$odd: operations" 20 "$(info $odd gpu_operations)"
	same "$odd: without possible times" 5 "$(info $odd gpu_untimed)"
	code "$odd: hpct-info --check" 0 hpct-info $odd.hpct --check
done
cuda backwards backwards
gpu_conformance backwards <<'END'
20 kernel 0 - -
END

# A signal that ends the program: what CUPTI keeps is asked for first, by a thread of ours. The program ends as it
# does without hpct, sees no handler of ours, and whatever never came is counted.
ends() { # RUN WORDS HOW CODE OPERATIONS LOST
	export FAKE_CUPTI=$2
	FAKE_END=$3 both "$1" "$tests/cuda_program" "$cupti"
	same "$1: exit code" "$4" "$measured"
	same "$1: operations and lost ones" "$5 $6" "$(info "$1" gpu_operations) $(info "$1" gpu_lost)"
	code "$1: hpct-info --check" 0 hpct-info "$1.hpct" --check
}
ends aborts keeps abort 134 20 0
ends aborts_own keeps own 134 20 0
ends faults keeps segv 139 20 0
ends terminated keeps 15 143 20 0
ends broken_pipe keeps 13 141 20 0
ends killed keeps 9 137 0 20
ends stuck stuck abort 134 0 20
same "lost operations have a stream and a time" "gpu:- 20 lost" "$(hpct-slice stuck.hpct --op lost --format tsv |
	tsv '$c["stream"] ~ /^gpu:.*\/-\/-\/-$/ && $c["end_ns"] > $c["begin_ns"] { print "gpu:-", $c["weight"], $c["op"] }')"
same "lost operations in the header" 20 "$(hpct-info stuck.hpct --format tsv | tsv '$1 == "lost" { print $2 }')"
export FAKE_CUPTI=never=4
both holes "$tests/cuda_program" "$cupti"
same "launches without an operation" "15 5" "$(info holes gpu_operations) $(info holes gpu_lost)"
same "each where it is missing" 5 "$(hpct-slice holes.hpct --op lost --format tsv | tsv '$c["stream"] ~ /^gpu:/ { n += $c["weight"] } END { print n }')"
code "holes: hpct-info --check" 0 hpct-info holes.hpct --check

# A kernel that faults: what CUPTI holds then has no times. Nothing is known of the queue from the first of them on,
# and the page begins with the kernel.
faulted() { # RUN WORDS [LAUNCHES BEFORE A WAIT] : the page's row of it
	FAKE_CUPTI=$2 FAKE_WAIT=${3-} hpct-record -o "$1.hpct" -- "$tests/cuda_program" "$cupti" >/dev/null
	code "$1: hpct-info --check" 0 hpct-info "$1.hpct" --check
	hpct-blame "$1.hpct" --format tsv | tsv '$c["section"] == "fault" { print $c["key"], $c["path"], $c["count"], $c["text"] }'
}
same "the kernel that faulted" "axpy main;work;launch 1 A kernel faulted (CUDA_ERROR_ILLEGAL_ADDRESS)" \
	"$(faulted illegal "keeps illegal=22" 19)"
same "one that never came" "<unknown> main;work;launch 1 A kernel faulted (CUDA_ERROR_ILLEGAL_ADDRESS)" \
	"$(faulted illegal_mute "keeps mute illegal=22" 19)"
same "one of those since the last wait" \
	"relax main;work;launch 10 One of 10 kernels faulted (CUDA_ERROR_ILLEGAL_ADDRESS); the first of them" \
	"$(faulted illegal_one_of "keeps illegal=22" 10)"
hpct-slice illegal.hpct --streams kind=gpu --format tsv >illegal.rows
same "operations without times say so" 20 "$(grep -c 'untimed=1' illegal.rows)"
same "their time is not known" "unmonitored reason=operations without times" \
	"$(tsv '$c["op"] == "unmonitored" { print $c["op"], $c["attributes"] }' <illegal.rows)"
same "it is neither busy nor idle" "0 $(tsv '$c["op"] == "unmonitored" { print $c["end_ns"] - $c["begin_ns"] }' <illegal.rows)" \
	"$(hpct-blame illegal.hpct --of gpu-idle --summary --format tsv | tsv '{ v[$1] = $2 } END { print v["busy_ns"], v["unknown_ns"] }')"
hpct-blame illegal.hpct >illegal.page
same "the page says so first" "A kernel faulted (CUDA_ERROR_ILLEGAL_ADDRESS): axpy, launched at" \
	"$(grep -m 1 -A 9 . illegal.page | grep faulted)"
same "the wait that shows it is not needless" "" "$(hpct-blame illegal.hpct --findings --format tsv | grep needless-sync)"

# Buffers are small, so that a killed program loses little, but not those that fill at once.
cuda hot hot 2>rooms
same "the first buffer's bytes" "room 262144" "$(head -n 1 rooms)"
grep -qx "room 1048576" rooms || fail "no buffer is larger although they fill at once: $(sort rooms | uniq -c | tr '\n' ' ')"

# No names, numbers out of range, and what CUPTI says it dropped.
cuda nameless nameless
same "kernels without a name" 20 "$(info nameless gpu_operations)"
cuda strange strange
same "devices and streams out of range" "20 0" "$(info strange gpu_operations) $(info strange gpu_unmatched)"
code "strange: hpct-info --check" 0 hpct-info strange.hpct --check
cuda dropped dropped=3
same "dropped by CUPTI" "20 3" "$(info dropped gpu_operations) $(info dropped gpu_lost)"

# The driver begins a thread of its own before it calls a tool: not the program's, so not measured.
printf '#include <pthread.h>
	static void *work(void *x) { for (volatile long i = 0; i < 50000000; i++); return x; }
	void begin(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); }' >driver.c
printf 'void begin(void); int main(void) { begin(); return 0; }' >uses.c
for name in libcuda.so.1 libother.so.1; do
	gcc -shared -fPIC -o $name driver.c -pthread && gcc -o uses uses.c "./$name" || fail "cannot build $name"
	hpct-record -o "${name%%.*}" -- ./uses || fail "$name: exit code $?"
done
streams() { hpct-info --streams "$1.hpct" --format tsv | tsv '$c["kind"] == "cpu" { n++ } END { print n }'; }
same "threads of a driver, and of another library" "1 2" "$(streams libcuda) $(streams libother)"

# ---- an agent that comes later ----

cat >late.c <<'END'
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int (*call)(const char *name, const char *argument);
static volatile sig_atomic_t is_over;
static long launched;
static void over(int number) { is_over = number; }
static void tool_find(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD), *symbol = library ? dlsym(library, "fake_call") : NULL;
	memcpy(&call, &symbol, sizeof call);
	if (library) dlclose(library);
}
__attribute__((noinline)) static void launch(void)
{
	if (call) { call("cuLaunchKernel", "axpy"); launched++; }
	__asm__ volatile("" ::: "memory");
}
int main(int argc, char **argv)
{
	signal(SIGUSR1, over);
	if (argc < 2 || !dlopen("./libcuda.so.1", RTLD_NOW)) return 1;
	while (!is_over) {
		tool_find(argv[1]);
		launch();
		for (volatile long i = 0; i < 1000000; i++);
	}
	return launched < 100;
}
END
if [ "$(uname -m)" = x86_64 ] && echo 'int driver;' | gcc -shared -fPIC -x c -o libcuda.so.1 - && gcc -O1 -o late late.c -ldl; then
	FAKE_CUPTI='' ./late "$cupti" &
	pid=$!
	is_late() { grep -q libcuda.so.1 "/proc/$pid/maps"; }
	await is_late
	kernels() { # below their launches
		hpct-slice $run.hpct --streams kind=gpu --format tsv 2>/dev/null | tsv '$c["path"] ~ /main;launch;<gpu kernel>;axpy/ { n++ } END { print n + 0 }'
	}
	has_kernels() { [ "$(kernels)" -ge 50 ]; }
	for run in late again; do
		hpct-record -p "$pid" --inject -o $run.hpct 2>err &
		recorder=$!
		await has_kernels || fail "$run: no kernels: $(cat err)"
		kill -INT "$recorder"
		wait "$recorder" || fail "$run: hpct-record fails: $(cat err)"
		has_left() { ! grep -q '^hpct' "/proc/$pid"/task/*/comm 2>/dev/null; }
		await has_left || fail "$run: threads of the agent's are left"
	done
	code=0
	kill -USR1 "$pid"
	wait "$pid" || code=$?
	same "exit code of a program that two agents came to" 0 "$code"
fi
