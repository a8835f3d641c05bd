#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Samples of GPU instructions against a CUPTI of our own (tests/cuda): what it hands over stands in the run, each sample
# once, also what it keeps to the end; and what goes wrong is said while operations are recorded as ever.
. "$(dirname -- "$0")/expect.sh"
tests=$HPCT_BIN/../tests
[ -f "$tests/cuda_cupti.so" ] || skip "hpct was built without CUPTI's headers"
need readelf
mkdir -p home/lib64
cupti=$PWD/home/lib64/libcupti.so.13
cp "$tests/cuda_cupti.so" "$cupti"
unset CUDA_PATH CUDA_INJECTION64_PATH
export CUDA_HOME=$PWD/home

printf 'void before(void) {}\nvoid axpy(void) {}\n' |
	"${CC:-cc}" -ffunction-sections -x c -c -o code.o - || skip "no C compiler for a binary"
symbol=$(readelf -sW code.o | awk '$8 == "axpy" { print $1 + 0 }')
begin=$((16#$(readelf -SW code.o | sed -n 's/.*\.text\.axpy *PROGBITS *[0-9a-f]* \([0-9a-f]*\).*/\1/p')))

pc() { # RUN WORDS [EVENT]
	FAKE_CUPTI="pcsymbol=$symbol $2 module=$PWD/code.o" record "$1" -e "${3:-gpu=nvidia,pc@16384}" -- \
		"$tests/cuda_program" "$cupti" >out 2>"$1.err"
	same "$1: exit code" 3 "$?"
	hpct-slice --format tsv "$1.hpct" | grep -e '^stream' -e '/pc	' >"$1.tsv"
	same "$1: kernels" 20 "$(hpct-slice --format tsv --op kernel "$1.hpct" | tsv '$c["op"] == "kernel"' | wc -l)"
	hpct-info --check "$1.hpct" >check || fail "$1: check"
}
weights() { # RUN METRIC : samples of it
	awk -F '\t' -v m="$2" '$9 == m { s += $8 } END { print s / 16384 }' "$1.tsv"
}

pc all ""
same "the period" "period 2^14" "$(grep period all.err)"
same "sampling has an end" 1 "$(grep -c 'no more samples' all.err)"
# Of each launch one sample that issued, and five that waited, two of them while nothing issued.
same "issued" 20 "$(weights all GINST:STL_NONE/selected)"
same "waited, another warp issued" 60 "$(weights all GINST:STL_GMEM/long_scoreboard)"
same "waited, none issued" 40 "$(weights all GINST:STL_GMEM/long_scoreboard/not_issued)"
key=$(sed -n 's/.*module=\([0-9a-f]\{16\}\).*/\1/p' <<<"$(hpct-slice --format tsv --op kernel all.hpct | grep axpy)" | head -n 1)
same "instructions" "<gpu kernel>;axpy;$key+0x$(printf %x "$begin")
<gpu kernel>;axpy;$key+0x$(printf %x $((begin + 16)))" "$(awk -F '\t' '$2 == "samples" { print $5 }' all.tsv | sort -u)"
check "period, multiprocessors and clock are facts of the stream" \
	grep -q 'monitored.*period=16384,multiprocessors=4,clock_khz=1000000' all.tsv
check "so that use of the GPU is known" grep -q '^utilization [0-9.]* %: 120 samples, each of 16384 cycles' \
	<(hpct-stats --metric GINST all.hpct)
same "nothing is said" "" "$(info all gpu_unsampled)"
hpct-advise all.hpct >advice 2>&1 || fail "advise"
check "code of another machine is not read" grep -q '100.0 % in code that the run does not keep' advice

# The view's pane is the same text, of the kernel under the cursor, of the window.
code "the pane Advice" 0 hpct-view all.hpct --print 160x60 --keys V
check "the pane is offered, and opened" grep -qF '[V Advice]' out
same "its text is hpct-advise's" "$(sed -n 's/^/ /; /samples: issued/p' advice | head -n 1)" "$(grep -m 1 '^   .* samples: issued' out | sed 's/[[:space:]]*$//')"
code "without it open" 0 hpct-view all.hpct --print 160x60
check "it is offered" grep -qF ' V Advice ' out
code "its code" 0 hpct-view all.hpct --print 160x60 --keys 'V<Tab><Tab><Enter>'
check "is in the pane Code, where the run keeps it" grep -q 'The run does not keep the code of axpy' out
code "and advice again" 0 hpct-view all.hpct --print 160x60 --keys 'V<Tab><Tab><Enter>V'
check "as before" grep -q 'samples: issued' out
pc default "" gpu=nvidia,pc
same "the default period" "period 2^16" "$(grep period default.err)"
pc none "" gpu=nvidia
same "not asked for" "" "$(grep samples none.err)"
code "a run without samples of instructions" 0 hpct-view none.hpct --print 160x60
same "the pane is not offered" 0 "$(grep -c 'V Advice' out)"
code "opened all the same" 0 hpct-view none.hpct --print 160x60 --keys V
check "it says why it is empty" grep -q 'no samples' out

pc dropped "pcdropped=7"
check "dropped samples are counted" [ "$(info dropped gpu_samples_lost)" -ge 7 ]
same "and said" "the GPU dropped samples: take a longer period" "$(info dropped gpu_unsampled)"
check "where they are missing" grep -q $'spans\t.*lost.*reason=the GPU dropped' dropped.tsv
pc full "pcfull"
same "a full buffer" "the GPU's buffer of samples was full: take a longer period" "$(info full gpu_unsampled)"
pc rights "pcenable=35"
same "no permission" "no permission: set NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia" \
	"$(info rights gpu_unsampled)"
same "no permission: no samples" 0 "$(tsv '$c["track"] == "samples"' <rights.tsv | wc -l)"
pc second "pcget=999"
same "a second sampler" "another process samples this GPU" "$(info second gpu_unsampled)"

code "a period that is none" 125 hpct-record -e gpu=nvidia,pc@1000 -- true
sentence "a period that is none"
