#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What hpct-names found for one recording the next one has: it ends in order behind the collector's last question, and
# names the rest of the functions that were seen, so that other addresses of them need no debug information.
. "$(dirname -- "$0")/expect.sh"
need gcc
cat >kept.c <<'CODE'
#include <stdio.h>
#include <time.h>
static inline void hardly_ever(int x)
{
	printf("%d\n", x);
	fflush(stdout);
}
__attribute__((noinline)) static int spin(int many)
{
	volatile int turns = 0;
	while (clock() < CLOCKS_PER_SEC / 10)
		for (int i = 0; i < 1000000; i++)
			turns += i;
	if (many > 1000)
		hardly_ever(many);
	return turns == 1;
}
int main(int argc, char **argv)
{
	(void)argv;
	return spin(argc);
}
CODE
gcc -O2 -g -Wl,--build-id -o kept kept.c || fail "kept.c does not compile"
id=$(readelf -n kept | awk '/Build ID/ { print $3 }')
file=.cache/hpct/names/${id:0:2}/${id:2}

is_kept() { # hpct-names is the last to end, and is stopped where it gets no processor for seconds
	local tries=0
	until grep -aq hardly_ever "$file" 2>/dev/null; do
		[ $((tries += 1)) -lt 40 ] || return 1
		sleep 0.1
	done
}
for attempt in 1 2 3 4 5; do
	record kept --overwrite -e CPUTIME@f1000 -- ./kept >/dev/null
	is_kept && break
	rm -rf .cache
done
check "a call that no sample was in has its name in $file ($attempt)" grep -aq hardly_ever "$file"
hpct-stats kept.hpct --by function --format tsv >stats
check "it is not in the run: $(cat stats)" [ "$(grep -c hardly_ever stats)" -eq 0 ]
check "what was is: $(cat stats)" grep -q '^spin' stats

# That an address has no name is kept, too.
cat >gap.c <<'CODE'
__asm__(".text\n.skip 64, 0x90\n.globl edge\n.type edge, %function\nedge: .skip 16, 0x90\n.size edge, .-edge\n");
int main(void)
{
	return 0;
}
CODE
gcc -O2 -g -Wl,--build-id -o gap gap.c || fail "gap.c does not compile"
id=$(readelf -n gap | awk '/Build ID/ { print $3 }')
file=.cache/hpct/names/${id:0:2}/${id:2}
edge=0x$(nm gap | awk '$3 == "edge" { print $1 }')
hpct-names gap "$edge" >named
check "edge has a name: $(cat named)" grep -q edge named
named=$(stat -c %s "$file")
for turn in first second; do
	hpct-names gap "$(printf %x $((edge - 32)))" >"gap.$turn"
	check "$turn: what lies ahead has none: $(cat "gap.$turn")" grep -q 'nothing' "gap.$turn"
done
same_file "both say the same" gap.first gap.second
check "it is kept: $named bytes with the name, $(stat -c %s "$file") with both" [ "$(stat -c %s "$file")" -gt "$named" ]
