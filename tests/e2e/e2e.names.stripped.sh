#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Stripped programs: main is what the start-up code hands to libc, functions are where they begin, by unwind entries or,
# without those, by the calls that lead to them: once each, and never a neighbour.
. "$(dirname -- "$0")/expect.sh"
[ "$(uname -m)" = x86_64 ] || skip "start-up code is read on x86-64 alone"
command -v cc >/dev/null && command -v strip >/dev/null || skip "no compiler is installed"
cat >plain.c <<'END'
#include <stdlib.h>
#include <time.h>
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
#define APART __attribute__((noinline, noclone))
APART static long one(long n) { for (volatile long i = 0; i < n; i++) n += i & 1; return n; }
APART static long two(long n) { for (volatile long i = 0; i < n; i++) n -= i & 1; return n; }
APART static long work(double seconds)
{
	double end = now() + seconds;
	long sum = 0;
	while (now() < end)
		sum += one(20000) + two(20000);
	return sum;
}
int main(int count, char **values) { return (work(count > 1 ? atof(values[1]) : 1) & 1) * 0; }
END
n=0
while read -r flags; do
	n=$((n + 1))
	# shellcheck disable=SC2086
	cc -O2 -fno-omit-frame-pointer $flags -o plain plain.c || fail "cc $flags"
	for f in one two work; do
		eval "$f=$(nm plain | sed -n "s/^0*\([0-9a-f]*\) t $f\$/stripped+0x\1/p")"
	done
	strip -o stripped plain
	record "s$n" -- ./stripped 0.5 2>said || fail "$flags: stripped does not end well"
	hpct-slice "s$n.hpct" --format tsv | tsv '$c["track"] == "samples" && $c["weight"] > 0 { print $c["path"] }' >paths
	for f in one two; do
		got=$(grep -cE "(^|;)main;${work//+/\\+};${!f//+/\\+}\$" paths)
		check "$flags: main;work;$f: $got of $(wc -l <paths)" [ "$got" -gt 5 ]
	done
	hpct-stats "s$n.hpct" --by function --format tsv | tsv '$c["key"] ~ /^stripped/ { print $c["key"] }' | sort >rows
	same "$flags: a row each" "$(printf '%s\n' "$one" "$two" | sort)" "$(grep -e "$one" -e "$two" rows)"
	check "$flags: no row for each address: $(wc -l <rows)" [ "$(wc -l <rows)" -le 5 ]
done <<'END'
-fasynchronous-unwind-tables
-no-pie -fasynchronous-unwind-tables
-fno-asynchronous-unwind-tables -fno-unwind-tables
-no-pie -fno-asynchronous-unwind-tables -fno-unwind-tables
END
