#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kernels and their loops in both kinds of binaries of Intel's compiler, zebin (each kernel in a section that begins at
# 0) and patch tokens, of three generations, by hpct-names.
. "$(dirname -- "$0")/expect.sh"
own=$HPCT_BIN/../ocloc
if [ -x "$own/usr/bin/ocloc" ]; then
	ocloc() { LD_LIBRARY_PATH=$own/usr/lib/x86_64-linux-gnu "$own/usr/bin/ocloc" "$@"; }
fi
command -v ocloc >/dev/null || skip "Intel's offline compiler ocloc (package intel-opencl-icd) is not installed"
cat >k.cl <<'END'
__kernel void field(__global float *out, __global const float *in, int rows, int columns)
{
	for (int i = get_global_id(0); i < rows; i += get_global_size(0)) {
		float sum = 0;

		for (int j = 0; j < columns; j++)
			sum += in[i * columns + j] * in[j];
		out[i] = sum;
	}
}
__kernel void clear(__global float *out) { *out = 0; }
END
# nests FILE BEGIN BYTES : how many loops are around each address, without repeats
nests() {
	for ((at = $2; at < $2 + $3; at += 8)); do printf '%x\n' "$at"; done | hpct-names --no-shared -e "$1" 2>notes |
		tsv '$c["depth"] == 0 && NR > 2 { print n } { n = $c["kind"] == "loop" ? n + 1 : 0 } END { print n }' | uniq | tr '\n' ' '
}
made=0
for device in skl tgllp dg2; do
	rm -f k
	ocloc compile -device $device -file k.cl --format zebin -output_no_suffix -output k >said 2>&1 && [ -s k ] || continue
	made=$((made + 1))
	for kernel in field clear; do
		read -r base size < <(readelf -SW k | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".text.'$kernel'" { print $4, $5 }')
		same "$device: the kernel $kernel" "$kernel" "$(hpct-names --no-shared k "$base" | tsv '{ print $c["name"] }')"
	done
	read -r base size < <(readelf -SW k | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".text.field" { print $4, $5 }')
	nest=$(nests k $((16#$base)) $((16#$size)))
	check "$device: a loop in a loop ($nest)" grep -qE '0 1 2 1 0' <<<"$nest"
	same "$device: nothing is missing" "" "$(cat notes)"
done
[ "$made" -gt 0 ] || skip "this ocloc makes no zebin: $(tail -n 1 said)"

rm -f k
ocloc compile -device skl -file k.cl --format patchtokens -output_no_suffix -output k >said 2>&1 && [ -s k ] ||
	skip "this ocloc makes no patch tokens: $(tail -n 1 said); zebin was looked at"
python3 - k >places <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
at = data.index(b"CTNI")
kernels, tokens = struct.unpack_from("<I4xI", data, at + 16)
at += 28 + tokens
for _ in range(kernels):
    name, rest = struct.unpack_from("<I", data, at + 12)[0], sum(struct.unpack_from("<5I", data, at + 16))
    print(data[at + 40:at + 40 + name].rstrip(b"\0").decode(), at + 40 + name, struct.unpack_from("<I", data, at + 36)[0])
    at += 40 + name + rest
END
same "patch tokens: two kernels" 2 "$(wc -l <places)"
while read -r kernel base size; do
	same "patch tokens: $kernel" "$kernel" "$(hpct-names --no-shared k "$(printf %x "$base")" | tsv 'NR == 2 { print $c["name"] }')"
	[ "$kernel" != field ] || nest=$(nests k "$base" "$size")
done <places
check "patch tokens: a loop in a loop ($nest)" grep -qE '0 1 2 1 0' <<<"$nest"
for size in 10 40 60 2000 11000; do
	head -c $size k >cut
	hpct-names --no-shared cut 100 >out 2>&1
	check "patch tokens cut at $size bytes end no program by a signal ($?)" test $? -lt 128
done
