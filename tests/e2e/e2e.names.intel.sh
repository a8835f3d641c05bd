#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kernels in a binary of Intel's compiler (zebin), each in a section that begins at 0, by hpct-names.
. "$(dirname -- "$0")/expect.sh"
command -v ocloc >/dev/null || skip "Intel's offline compiler ocloc (package intel-opencl-icd) is not installed"
cat >k.cl <<'END'
__kernel void field(__global float *out, int n) { out[n] = out[0] * n; }
__kernel void clear(__global float *out) { *out = 0; }
END
ocloc compile -device tgllp -file k.cl --format zebin -output_no_suffix -output k >said 2>&1 && [ -s k ] ||
	skip "this ocloc makes no zebin: $(tail -n 1 said)"
for kernel in field clear; do
	base=$(readelf -SW k | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".text.'$kernel'" { print $4 }')
	same "the kernel $kernel" "$kernel" "$(hpct-names --no-shared k "$base" | tsv '{ print $c["name"] }')"
done
