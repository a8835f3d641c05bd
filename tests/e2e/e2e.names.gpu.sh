#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names and lines of GPU binaries by hpct-names, as the compilers' own tables say them: cubins kept with the tests,
# AMD objects made here, before and after linking, with DWARF 4 and 5. A cut binary costs a message.
. "$(dirname -- "$0")/expect.sh"
gpu=$HPCT_SOURCE/tests/gpu
name_at() { # FILE ADDRESS : name, file, line; of what is inlined there the innermost
	hpct-names --no-shared --no-loops "$1" "$2" | sed '1n; $!d' | tsv '{ print $c["name"], $c["file"], $c["line"] }'
}
line_of() { grep -n -- "$1" "$2" | head -n 1 | cut -d: -f1; }

# .text.field begins at 0x1780 in the file, gain lies 0xf0 in it, slope 0x120.
source=/usr/src/field/field.cu
same "a kernel" "field $source $(line_of 'void field' "$gpu/field.cu")" "$(name_at "$gpu/field-sm75.cubin" 1780)"
same "its own code before what lies inside it" field "$(name_at "$gpu/field-sm75.cubin" 186f | cut -d' ' -f1)"
same "a function inside it" "gain $source $(line_of 'return x' "$gpu/field.cu")" "$(name_at "$gpu/field-sm75.cubin" 1870)"
same "another, by its demangled name" slope "$(name_at "$gpu/field-sm75.cubin" 18a0 | cut -d' ' -f1)"
same "another section that begins at 0" "clear $source" "$(name_at "$gpu/field-sm75.cubin" 1700 | cut -d' ' -f1,2)"
hpct-names --no-shared "$gpu/debug-sm90.cubin" 1700 2>said >out
check "of -G it is said that inlined calls may be missing" grep -q 'some inlined calls are not recorded' said
hpct-names --no-shared "$gpu/flow-sm90.cubin" 1700 2>said >out
same "of -lineinfo nothing is" "" "$(cat said)"
for size in 50 700 5000 8000; do
	head -c $size "$gpu/field-sm75.cubin" >cut.cubin
	hpct-names --no-shared cut.cubin 1780 >out 2>said
	check "a cubin cut at $size bytes ends no program by a signal ($?)" test $? -lt 128
done

# Who calls whom below the kernels.
calls() { hpct-names --calls "$gpu/$1.cubin" | tsv 'NR > 1 { print $c["kind"], $c["caller"], $c["callee"] }' | LC_ALL=C sort | uniq -c | sed 's/^ *//'; }
same "calls, inside functions, to others, through a pointer (?)" "2 function fib fib
2 kernel nest poly
1 kernel pointers ?
1 kernel pointers __cuda_sm3x_div_rn_noftz_f32_slowpath
1 kernel pointers fib" "$(calls flow-sm90)"
same "a call has a line" "$(line_of 'poly(sum' "$gpu/flow.cu")" \
	"$(hpct-names --calls "$gpu/flow-sm90.cubin" | tsv '$c["caller"] == "nest" { print $c["line"] }' | uniq)"
same "a call left to the linker" "1 kernel nest half" "$(calls debug-sm90 | grep nest)"
hpct-names --calls "$samples/loops" >out 2>said
same "a program has no calls of GPU code" 5 $?
same "which is one sentence and no table" "0 1" "$(wc -l <out) $(wc -l <said)"
check "that names it" grep -q 'samples/loops is not a GPU binary' said
hpct-names --calls no-such.hpct >out 2>said
same "nor is a run that is not there a table" "4 0 1" "$? $(wc -l <out) $(wc -l <said)"
for size in 50 700 5000 8000; do
	head -c $size "$gpu/flow-sm90.cubin" >cut.cubin
	hpct-names --calls cut.cubin >out 2>said
	check "calls of a cubin cut at $size bytes end no program by a signal ($?)" test $? -lt 128
done

[ "$failed" -eq 0 ] || exit
clang=$(command -v clang-14 clang | head -n 1)
[ -n "$clang" ] || skip "AMD objects need clang, which is not installed; cubins were looked at"
grep -q amdgcn <("$clang" --print-targets 2>/dev/null) || skip "$clang makes no AMD objects; cubins were looked at"
cat >amd.c <<'END'
__attribute__((noinline)) static float gain(float x)
{
	return x * x + 1.0f;
}

void field(__attribute__((address_space(1))) float *out, int n)
{
	float sum = 0;

	for (int i = 0; i < n; i++)
		sum += gain(out[i]);
	*out = sum;
}
END
lld=$(command -v ld.lld-14 ld.lld | head -n 1)
for version in 4 5; do
	"$clang" -target amdgcn-amd-amdhsa -mcpu=gfx906 -nogpulib -O1 -gdwarf-$version -c amd.c -o amd.o ||
		fail "clang does not compile for AMD"
	base=$(readelf -SW amd.o | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".text" { print $4 }')
	got=$(name_at amd.o "$base")
	same "DWARF $version: a function of an object" "gain amd.c 2" "$(echo "$got" | sed 's,[^ ]*/,,')"
	[ -n "$lld" ] && "$lld" -shared --export-dynamic amd.o -o amd.so || continue
	# Linked, a symbol's value is its address; each row of the line table that has a line is asked for.
	readelf --debug-dump=decodedline amd.so 2>/dev/null |
		awk '$2 ~ /^[0-9]+$/ && $2 > 0 && $3 ~ /^0x/ { line[$3] = $2; order[++n] = $3 }
			END { for (i = 1; i <= n; i++) print order[i], line[order[i]] }' | sort -u >rows
	check "DWARF $version: rows of a linked object" test "$(wc -l <rows)" -gt 5
	while read -r address line; do
		same "DWARF $version: line at $address" "$line" "$(name_at amd.so "$address" | cut -d' ' -f3)"
	done <rows
done
