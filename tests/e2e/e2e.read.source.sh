#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lines of a source file: sums that meet the profile's, text by every way to find it, what is said when there is none,
# and sources kept in the run, which win over others of the same name.
. "$(dirname -- "$0")/expect.sh"
mkdir -p built/deep/tree moved/deep/tree moved/other
cp "$HPCT_SOURCE/samples/"*.h built/deep/tree/ 2>/dev/null
cp "$HPCT_SOURCE/samples/recursion.c" built/deep/tree/lines.c
cc -O1 -g -I"$HPCT_SOURCE" -o lines "$PWD/built/deep/tree/lines.c" -lm -lpthread || fail "the sample does not compile"
record lines --with-sources -- ./lines 0.3 || fail "the sample does not end well"
record bare -- ./lines || fail "the sample does not end well"

hpct-profile lines.hpct --source lines.c --format tsv >rows 2>said
check "lines with time" test "$(wc -l <rows)" -gt 3
same "nothing is said" "" "$(cat said)"
hpct-profile lines.hpct --view flat --format tsv >flat
want=$(tsv '$c["kind"] == "line" && $c["file"] ~ /lines\.c$/ { s += $c["CPUTIME:excl"] } END { printf "%.0f", s }' <flat)
got=$(tsv '{ s += $c["CPUTIME:excl"] } END { printf "%.0f", s }' <rows)
same "exclusive time of the lines is the profile's" "$want" "$got"
whole=$(tsv '$c["kind"] == "root" { printf "%.0f", $c["CPUTIME:incl"] }' <flat)
check "no line has more than the whole, nor less than its own" tsv '$c["CPUTIME:incl"] > '"$whole"' || $c["CPUTIME:excl"] > $c["CPUTIME:incl"] { bad = 1 }
	END { exit bad }' <rows
for want in 'h(); 40' 'g(1, 2); 50'; do # S4 10.4.2, as the sample's top says: g2 lies inside g1
	near "share of the calls in ${want% *}" "${want##* }" "$(awk -F '\t' -v text="${want% *}" -v all="$whole" '
		index($3, "\\t" text) { printf "%.1f", 100 * $4 / all; exit }' <rows)" 6
done
# A line that is ten times on each path counts once.
cat >down.c <<'END'
#include <time.h>
__attribute__((noinline)) static void down(int n)
{
	if (n)
		down(n - 1); /* CALL */
	else
		while (clock() < 2 * CLOCKS_PER_SEC)
			;
	__asm__ volatile("" ::: "memory");
}
int main(void)
{
	down(10);
	return 0;
}
END
cc -O1 -g -o down "$PWD/down.c" || fail "down.c does not compile"
record down -r -- ./down || fail "down does not end well"
hpct-profile down.hpct --source down.c --format tsv >down.rows
deep=$(hpct-profile down.hpct --format tsv | tsv '$c["kind"] == "root" { printf "%.0f", $c["CPUTIME:incl"] }')
near "share of a recursive call" 100 "$(awk -F '\t' -v all="$deep" '/CALL/ { printf "%.1f", 100 * $4 / all }' down.rows)" 3
line=$(sed -n 2p rows | cut -f2)
same "one line asked for" "$line" "$(hpct-profile lines.hpct --source "deep/tree/lines.c:$line" --format tsv | sed 1d | cut -f2)"
same "all lines of the file" "$(wc -l <built/deep/tree/lines.c)" \
	"$(hpct-profile lines.hpct --source lines.c --all --format tsv | sed 1d | wc -l)"

# The run's own copy is what was compiled; a file changed since is not shown.
sed 's/.*/changed/' built/deep/tree/lines.c >changed && cp changed built/deep/tree/lines.c
text() { hpct-profile "$@" --format tsv 2>said | sed -n 2p | cut -f3; }
original=$(sed -n 2p rows | cut -f3)
same "text as the run kept it" "$original" "$(text lines.hpct --source lines.c)"
hpct-slice lines.hpct -o part.hpct || fail "the run cannot be sliced"
same "a part of the run kept it, too" "$original" "$(text part.hpct --source lines.c)"
same "a run without sources shows what is there" changed "$(text bare.hpct --source lines.c)"
mv built/deep/tree/lines.c moved/deep/tree/lines.c
same "a run without its sources has no text" "" "$(text bare.hpct --source lines.c)"
check "it says where it looked" grep -q "was not found: looked in $PWD/built/deep/tree/lines.c" said
for function in g h main; do # a script's text stays empty, a reader is told the functions
	at=$(grep -nE "^[A-Za-z].*\\b$function\\(" "$HPCT_SOURCE/samples/recursion.c" | tail -n 1 | cut -d: -f1)
	check "without text: $function begins at line $at" grep -Eq "\($function, lines $at to [0-9]+\)" \
		<(hpct-profile bare.hpct --source lines.c 2>/dev/null)
done
same "-R" changed "$(text bare.hpct --source lines.c -R "$PWD/built=$PWD/moved")"
same "-I" changed "$(text bare.hpct --source lines.c -I "$PWD/moved/deep")"
printf 'wrong\n%.0s' {1..500} >moved/other/lines.c
same "-I DIR/+: the best end of the path" changed "$(text bare.hpct --source lines.c -I "$PWD/moved/+")"
same "-R goes before the run's copy" changed "$(text lines.hpct --source lines.c -R "$PWD/built=$PWD/moved")"

hpct-profile bare.hpct --source none.c --format tsv >none 2>said
same "of a file that was not sampled a header, exit code 0" "0 1" "$? $(wc -l <none)"
check "which is said" grep -q 'none.c: hpct-stats --by file' said
hpct-profile bare.hpct --source lines.c:0 2>/dev/null
same "line 0 is wrong usage" 2 $?
hpct-profile bare.hpct -R nowhere 2>/dev/null
same "a map without = is wrong usage" 2 $?
check "the run says what it keeps" grep -q 'kept, .* bytes' <(hpct-info lines.hpct --format tsv)
