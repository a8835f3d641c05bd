#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Binaries that change while they are recorded: of a program that is replaced or deleted the names are those of what
# ran; of a library that is rewritten in place there are none rather than another's.
. "$(dirname -- "$0")/expect.sh"
need gcc dd
cat >live.c <<'CODE'
#include <stdlib.h>
#include <time.h>
#ifdef OTHER /* the same code at the same places, other names */
#define first wrong
#define second false_
#endif
__attribute__((noinline)) void first(void)
{
	while (clock() < CLOCKS_PER_SEC * 2 / 10)
		;
}
__attribute__((noinline)) void second(void)
{
	while (clock() < CLOCKS_PER_SEC * 4 / 10)
		;
	__asm__ volatile("");
}
int main(int argc, char **argv)
{
	first();
	if (argc > 1 && system(argv[1]))
		return 1;
	second();
	return 0;
}
CODE
functions() { hpct-profile live.hpct --view flat --format tsv | tsv '$c["kind"] == "function" { print $c["name"] }' | sort -u; }
for id in sha1 none; do
	gcc -O1 -g -Wl,--build-id=$id -o live.was live.c && gcc -O1 -g -DOTHER -Wl,--build-id=$id -o other.was live.c ||
		fail "live.c does not compile"
	for how in "mv other live" "rm live"; do
		cp live.was live && cp other.was other
		record live --overwrite -- ./live "$how" >/dev/null
		functions >got
		check "$how, build id $id: what ran first has its name" grep -qx first got
		check "$how, build id $id: what ran then has its name" grep -qx second got
		check "$how, build id $id: no name of the other" [ "$(grep -cx 'wrong\|false_' got)" -eq 0 ]
	done
done

cat >lib.c <<'CODE'
#include <time.h>
#ifdef OTHER
#define inside wrong1
#endif
static __attribute__((noinline)) void inside(clock_t end)
{
	while (clock() < end)
		;
	__asm__ volatile("");
}
void first(void) { inside(CLOCKS_PER_SEC * 2 / 10); __asm__ volatile(""); }
void second(void) { inside(CLOCKS_PER_SEC * 4 / 10); __asm__ volatile(""); }
CODE
cat >program.c <<'CODE'
#include <stdlib.h>
void first(void), second(void);
int main(int argc, char **argv)
{
	first();
	if (argc > 1 && system(argv[1]))
		return 1;
	second();
	return 0;
}
CODE
gcc -O1 -g -shared -fPIC -Wl,--build-id -o liblive.so lib.c && gcc -O1 -g -DOTHER -shared -fPIC -Wl,--build-id -o other.so lib.c &&
	gcc -O1 -g -o program program.c -L. -llive -Wl,-rpath,"$PWD" || fail "the library does not compile"
same "both libraries lie alike" "$(nm liblive.so | grep ' [tT] ' | sed 's/inside/wrong1/' | sort)" "$(nm other.so | grep ' [tT] ' | sort)"
record live --overwrite -- ./program "dd if=other.so of=liblive.so conv=notrunc status=none" >/dev/null
functions >got
check "a library rewritten in place: no name of the other" [ "$(grep -cx wrong1 got)" -eq 0 ]
check "its functions are told apart all the same" [ "$(grep -cE 'liblive.so\+0x|^(inside|first|second)$' got)" -ge 2 ]
if grep -q 'liblive.so+0x' got; then
	check "what it lacks is said" grep -q 'liblive.so.*the file or its symbols' <(hpct-info live.hpct --modules)
fi
