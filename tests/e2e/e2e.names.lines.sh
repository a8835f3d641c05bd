#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 300 random addresses of a program of many units: lines and inlined calls as addr2line -i has them. The same for
# 10,000 addresses of large binaries: ./build.sh compare.
. "$(dirname -- "$0")/expect.sh"
need python3 addr2line nm
seed=${HPCT_SEED:-1}
[ -z "${HPCT_RANDOM-}" ] || seed=${HPCT_SEED:-$RANDOM}
python3 "$HPCT_SOURCE/tests/compare/lines.py" --names "$HPCT_BIN/hpct-names" --count 300 --seed "$seed" --floor 99 \
	"$HPCT_BIN/hpct-view" || fail "seed $seed: fewer than 99 % of the chains are equal"

# Many addresses are shared between processes; the table is the same, in the order of the asking.
nm "$HPCT_BIN/hpct-view" | awk '/ [tT] / { print $1 }' | shuf --random-source="$HPCT_BIN/hpct-view" | head -n 600 >asked
for jobs in 1 3; do
	hpct-names --no-shared --jobs $jobs -e "$HPCT_BIN/hpct-view" <asked >"jobs.$jobs" || fail "--jobs $jobs ends with $?"
done
same_file "three processes find what one finds" jobs.1 jobs.3
same "all of it" 600 "$(tsv 'NR > 1 && $c["depth"] == 0' <jobs.3 | wc -l)"
hpct-names --jobs 0 -e "$HPCT_BIN/hpct-view" <asked >out 2>said
same "--jobs 0 is wrong usage" "2 0 1" "$? $(wc -l <out) $(wc -l <said)"

# A function that two units made: the linker keeps the first one's code and leaves what both say of it
need g++ objcopy
cat >unit.cc <<'CODE'
static inline __attribute__((always_inline)) int STEP(int x)
{
	return x * 5 + 1;
}
template <typename T> __attribute__((noinline)) T both(T x)
{
	return STEP(x) / 3;
}
int UNIT(int x)
{
	return both(x) + 1;
}
CODE
g++ -O2 -g -fPIC -DSTEP=step_a -DUNIT=unit_a -c unit.cc -o a.o && g++ -O2 -g -fPIC -DSTEP=step_b -DUNIT=unit_b -c unit.cc -o b.o &&
	g++ -shared -o ab.so a.o b.o && g++ -shared -o ba.so b.o a.o && objcopy -R .debug_aranges ab.so ab-ranges.so &&
	objcopy -R .debug_aranges ba.so ba-ranges.so || fail "unit.cc does not compile"
for form in a:ab b:ba a:ab-ranges b:ba-ranges; do
	at=$(nm "${form#*:}.so" | awk '/both/ { print $1; exit }')
	same "${form#*:}: what is inlined in code that two units have is the first one's" "step_${form%%:*}" \
		"$(hpct-names --no-shared --no-loops "${form#*:}.so" "$at" | tsv '$c["kind"] == "inline" { print $c["name"] }')"
done

# A row without code at the end of one sequence of a unit's lines, where another begins that stands before it there
cat >rows.s <<'CODE'
	.file 1 "next.c"
	.file 2 "tail.c"
	.section .text.startup,"ax",@progbits
	.globl next
	.type next, @function
next:	.loc 1 30
	nop
	ret
	.size next, .-next
	.section .text.unlikely,"ax",@progbits
	.globl tail
	.type tail, @function
tail:	.loc 2 10
	nop
	nop
	.size tail, .-tail
	.loc 2 10
	.loc 2 10
CODE
gcc -g -c rows.s -o rows.o && gcc -shared -nostdlib -o rows.so rows.o || fail "rows.s does not assemble"
at=$(nm rows.so | awk '$3 == "next" { print $1 }')
same "the line is the sequence's that has the address" "$(addr2line -e rows.so "$at")" \
	"$(hpct-names --no-shared --no-loops rows.so "$at" | tsv 'NR > 1 { print $c["file"] ":" $c["line"] }')"
