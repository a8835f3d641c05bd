#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Loops of -O3 kernels beside the compiler's own report: every loop that gcc or gfortran says it vectorized is found, by
# its line (of do ... while, its end, one below the body that the report names), and every loop found is marked LOOP in
# the source: unrolled, vectorized, fused, Fortran array notation, a switch in a loop, goto. Then tables of computed goto in
# every form that linkers leave them in, and loops over iterators.
. "$(dirname -- "$0")/expect.sh"
need gcc gfortran nm
hpct-names "$samples/loops" "$(nm "$samples/loops" | awk '$3 == "work" { print $1 }')" 2>&1 | grep -q capstone && skip "hpct was built without capstone: no loops"
cat >kernels.c <<'CODE'
#include <stddef.h>
void axpy(float *restrict y, const float *restrict x, float a, int n)
{
	for (int i = 0; i < n; i++) // LOOP
		y[i] += a * x[i];
}
float nest(const float *m, const float *v, int rows, int columns)
{
	float best = 0;
	for (int i = 0; i < rows; i++) { // LOOP
		float sum = 0;
		for (int j = 0; j < columns; j++) // LOOP
			sum += m[i * columns + j] * v[j];
		best = sum > best ? sum : best;
	}
	return best;
}
int machine(const unsigned char *code, int n)
{
	int a = 1;
	for (int i = 0; i < n; i++) { // LOOP
		switch (code[i]) {
		case 0: a += 3; break;
		case 1: a *= 5; break;
		case 2: a ^= n; break;
		case 3: a = -a; break;
		case 4: a >>= 1; break;
		case 5: a -= i; break;
		default: a++;
		}
	}
	return a;
}
int hop(int *p, int n)
{
	int i = 0, s = 0;
again:
	s += p[i] * i;
	i += p[i] & 3;
	if (i < n) // LOOP
		goto again;
	return s;
}
void copy(double *restrict to, const double *restrict from, size_t n)
{
	size_t i = 0;
	do { // vectorized: its end is its line
		to[i] = from[i] * 2;
	} while (++i < n); // LOOP
}
size_t length(const char *s)
{
	const char *at = s;
	while (*at && *at != '%') // LOOP
		at++;
	return (size_t)(at - s);
}
void clear(int *restrict p, int *restrict q, int n)
{
	for (int i = 0; i < n; i++) // LOOP
		p[i] = q[i] ^ i;
	for (int i = 0; i < n; i++) // LOOP
		q[i] = p[n - 1 - i];
}
CODE
cat >arrays.f90 <<'CODE'
subroutine arrays(a, b, c, n)
  integer, intent(in) :: n
  real, intent(inout) :: a(n), b(n), c(n, n)
  integer :: i
  a = a * 2 + b ! LOOP
  do i = 1, n ! LOOP
    c(:, i) = a + c(:, i) * b(i) ! LOOP
  end do
  b = sqrt(abs(a)) ! LOOP
end subroutine
CODE
gcc -O3 -g -fPIC -fopt-info-vec-optimized -c kernels.c 2>report || fail "kernels.c does not compile"
gfortran -O3 -g -fPIC -fopt-info-vec-optimized -c arrays.f90 2>>report || fail "arrays.f90 does not compile"
gcc -shared -o kernels.so kernels.o arrays.o -lm || fail "the kernels do not link"
nm -S kernels.so | awk '$3 == "T" { print $1, $2 }' | while read -r begin size; do
	for ((at = 16#$begin; at < 16#$begin + 16#$size; at += 2)); do printf '%x\n' "$at"; done
done | hpct-names --no-shared -e kernels.so | tsv '$c["kind"] == "loop" && $c["decl_file"] ~ /(kernels.c|arrays.f90)$/ {
	sub(".*/", "", $c["decl_file"]); print $c["decl_file"] ":" $c["decl_line"] }' | sort -u >found
sed -n 's/^\([a-z]*\.[cf90]*\):\([0-9]*\):.*loop vectorized.*/\1 \2/p' report | sort -u >vectorized
check "gcc says what it vectorized" test "$(wc -l <vectorized)" -ge 6
while read -r file line; do
	if sed -n "$((line + 1))p" "$file" | grep -q '} while'; then line=$((line + 1)); fi
	check "$file:$line is vectorized, and found" grep -qx "$file:$line" found
done <vectorized
grep -n 'LOOP$' kernels.c arrays.f90 | cut -d: -f1,2 | sort -u >marked
same_file "loops that are found, and that there are" marked found

# An interpreter's loop: goto through a table of addresses, which may be zeros in the file that the loader fills in
cat >dispatch.c <<'CODE'
int run(const unsigned char *code, int n)
{
	static const void *const labels[] = {&&add, &&sub, &&mul, &&neg, &&end};
	int a = n;
	goto *labels[*code++];
add:
	a += 3;
	goto *labels[*code++];
sub:
	a -= n;
	goto *labels[*code++];
mul:
	a *= 7;
	goto *labels[*code++];
neg:
	for (int i = 0; i < n; i++)
		a ^= a << i;
	goto *labels[*code++];
end:
	return a;
}
int main(int argc, char **argv)
{
	unsigned char code[] = {0, 1, 2, 3, 0, 4};
	(void)argv;
	return run(code, argc);
}
CODE
loops_of() { # FILE FUNCTION : where loops begin and what they are written in, how often
	read -r begin size < <(nm -S "$1" | awk -v f="$2" '$4 ~ f { print $1, $2; exit }')
	for ((at = 16#$begin; at < 16#$begin + 16#$size; at++)); do printf '%x\n' "$at"; done |
		hpct-names --no-shared -e "$1" | tsv '$c["kind"] == "loop" { print $c["start"], last, $c["decl_line"] }
		{ last = $c["name"] }' | sort | uniq -c
}
dispatch() { # WHAT COMMAND... : the loop around all, and the one in it
	"${@:2}" -O2 -g -o dispatch dispatch.c 2>said || { echo "$1: not made: $(head -n 1 said)"; return; }
	same "goto by a table, $1" 2 "$(loops_of dispatch '^run$' | wc -l)"
}
dispatch "program" gcc
dispatch "at a fixed address" gcc -no-pie -fno-pie
dispatch "library" gcc -fPIC -shared
dispatch "static" gcc -static
dispatch "static, anywhere" gcc -static-pie
if command -v clang-14 >/dev/null && command -v ld.lld-14 >/dev/null; then
	dispatch "by lld" clang-14 -fuse-ld=lld
	dispatch "by lld, packed" clang-14 -fuse-ld=lld -Wl,--pack-dyn-relocs=relr
else
	echo "clang-14 and lld-14 are not installed: tables without addresses in the file were not looked at"
fi

# The step of an iterator is inlined: the loop's begin and the branch back are its, the loop is the caller's
cat >rows.cc <<'CODE'
struct rows {
	const int *at, *end;
	inline __attribute__((always_inline)) bool next(int &value)
	{
		if (at == end)
			return false;
		value = *at++;
		return true;
	}
};
double total(rows all, const double *weight)
{
	double sum = 0;
	int value;
	while (all.next(value)) { // LOOP
		sum += weight[value & 7] * value;
		sum /= 1.0 + weight[value & 3];
		sum -= weight[(value >> 3) & 7];
	}
	return sum;
}
CODE
g++ -O2 -g -fPIC -shared -o rows.so rows.cc || fail "rows.cc does not compile"
same "a loop over an iterator is its caller's, wherever in it" "total $(grep -n LOOP rows.cc | cut -d: -f1)" \
	"$(loops_of rows.so total | awk '{ print $3, $4 }')"
