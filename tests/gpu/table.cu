// SPDX-License-Identifier: Apache-2.0
// table.cu - a branch through a table, in a loop: see README.md.
extern "C" __global__ void table(int *out, int n)
{
	int a = 0;
#pragma unroll 1
	for (int i = 0; i < n; i++) {
		int k = out[i];
		asm volatile("{\n"
			"tab: .branchtargets A0, A1, A2, A3;\n"
			"brx.idx %1, tab;\n"
			"A0: add.s32 %0, %0, 3; bra.uni E;\n"
			"A1: mul.lo.s32 %0, %0, 5; bra.uni E;\n"
			"A2: xor.b32 %0, %0, 9; bra.uni E;\n"
			"A3: sub.s32 %0, %0, 11;\n"
			"E:\n}" : "+r"(a) : "r"(k & 3));
	}
	out[0] = a;
}
