#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-diff --scaling of many runs: growth planted in runs of 1 to 32 ranks is named, its losses are those of the sums; and
# hpct-profile --union: runs of one program with different events as one.
. "$(dirname -- "$0")/expect.sh"

# planted P : P ranks, each 100 ms in work, 10 + 20 log2(P) in reduce, 5 + 3 P in gather, 2 + P^2 / 2 below it; each off by
# up to 1 %, the same in every run of this test.
planted() {
	awk -v p="$1" 'BEGIN {
		srand(p); OFS = "\t"
		print "stream", "track", "begin_ns", "path", "weight", "metric"
		ms["main;work"] = 100; ms["main;reduce"] = 10 + 20 * log(p) / log(2)
		ms["main;gather"] = 5 + 3 * p; ms["main;gather;alltoall"] = 2 + p * p / 2
		split("main;work main;reduce main;gather main;gather;alltoall", paths, " ")
		for (rank = 0; rank < p; rank++) {
			at = 0
			for (i = 1; i <= 4; i++) {
				printf "cpu:n/%d/%d.0/0\tsamples\t%d\t%s\t1\tCPUTIME\n", rank, rank + 1, at, paths[i]
				at += ms[paths[i]] * 1e6 * (0.99 + 0.02 * rand())
			}
			printf "cpu:n/%d/%d.0/0\tsamples\t%d\tmain\t1\tCPUTIME\n", rank, rank + 1, at
		}
	}' >p.tsv
	hpct-import --from tsv p.tsv -o "$2" 2>err || fail "import: $(cat err)"
}
runs=
for p in 1 2 4 8 16 32; do
	planted $p p$p.hpct
	runs+=" p$p.hpct"
done
# shellcheck disable=SC2086 # names
hpct-diff --scaling weak --by path --format tsv $runs >weak 2>err || fail "weak: $(cat err)"
value() { tsv '$c["key"] == "'"$2"'" { print $c["'"$3"'"]; exit }' <"$1"; }
for want in 'main;work constant 0' 'main;reduce log 0' 'main;gather;alltoall power 2'; do
	read -r key model exponent <<<"$want"
	same "$key" "$model $exponent" "$(value weak "$key" model) $(value weak "$key" exponent)"
done
same "what gather does itself" "linear 1" "$(value weak 'main;gather' exclusive_model) $(value weak 'main;gather' exclusive_exponent)"
near "the coefficient of the logarithm" 20e6 "$(value weak 'main;reduce' coefficient)" 1e6
near "its constant" 10e6 "$(value weak 'main;reduce' constant)" 1e6
same "who grows" "main;gather;alltoall:grows main;reduce:grows main;work:constant" \
	"$(tsv '$c["key"] ~ /alltoall|reduce|work/ { print $c["key"] ":" $c["verdict"] }' <weak | sort | paste -sd ' ')"
# The loss of the first and last point is that of the two runs.
hpct-diff --scaling weak --by path --format tsv p1.hpct p32.hpct >two 2>err || fail "two: $(cat err)"
for key in main 'main;work' 'main;reduce' 'main;gather' 'main;gather;alltoall'; do
	same "$key: loss" "$(value two "$key" loss_percent) $(value two "$key" exclusive_loss_percent)" \
		"$(value weak "$key" loss_percent) $(value weak "$key" exclusive_loss_percent)"
done
same "all costs" 6 "$(value weak 'main;work' costs | wc -w)"
near "strong scaling sums all ranks" 3200e6 "$(hpct-diff --scaling strong --by path --format tsv $runs 2>/dev/null |
	tsv '$c["key"] == "main;work" { print $c["costs"] }' | sed 's/.*32://')" 64e6
# The same loss as a formula over both runs (S4 4.4.1).
hpct-diff --scaling strong --by function --format tsv p1.hpct p32.hpct >two 2>err || fail "two: $(cat err)"
hpct-profile p1.hpct --merge p32.hpct --metric REALTIME --metric 'loss = 100 * ($B:REALTIME - $A:REALTIME) / @B:REALTIME' --format tsv >formula 2>err ||
	fail "formula: $(cat err)"
for key in work reduce gather alltoall; do
	near "$key: the formula" "$(value two "$key" loss_percent)" "$(tsv '$c["name"] == "'"$key"'" { print $c["loss"] }' <formula)" 0.0051
done
hpct-diff --scaling strong --format tsv p1.hpct p32.hpct --metric 'same = 100 * $delta_ns / @b_ns' --metric 'twice = 2 * $same' >formula 2>err || fail "hpct-diff: $(cat err)"
check "a formula of hpct-diff" test -z "$(tsv 'function off(x) { return x < 0 ? -x : x } BEGIN { whole = 0 }
	{ row[NR] = $c["delta_ns"]; same[NR] = $c["same"]; twice[NR] = $c["twice"]; whole += $c["b_ns"] }
	END { for (i in row) if (off(same[i] - 100 * row[i] / whole) > 1e-6 || off(twice[i] - 2 * same[i]) > 1e-6) print i }' <formula)"
same "its columns" 'same twice' "$(head -n 1 formula | cut -f 12- | tr '\t' ' ')"
code "in a table" 0 hpct-diff p1.hpct p32.hpct --metric 'half = $b_ns / 2'
check "before the key" grep -Eq ' half +key$' out
code "a formula of three runs" 2 hpct-diff --scaling weak p1.hpct p2.hpct p4.hpct --metric 'x = $0'
# Runs in any order, repeats by comma or by equal parts.
hpct-diff --scaling weak --by path --format tsv p8.hpct p1.hpct p4.hpct p2.hpct p32.hpct p16.hpct >other
check "the order does not matter" cmp -s weak other
planted 4 again.hpct
hpct-diff --scaling weak --by path --format tsv p1.hpct p2.hpct p4.hpct,again.hpct p8.hpct >comma 2>err || fail "repeats: $(cat err)"
hpct-diff --scaling weak --by path --format tsv p1.hpct p2.hpct p4.hpct again.hpct p8.hpct >apart 2>err || fail "repeats: $(cat err)"
check "repeats" cmp -s comma apart
hpct-diff --scaling strong:1,10,100 --by path --format tsv p1.hpct p2.hpct p4.hpct >given 2>err || fail "given: $(cat err)"
same "given parts" '1 10 100' "$(value given 'main;work' costs | tr ' ' '\n' | cut -d: -f1 | paste -sd ' ')"
code "a table" 0 hpct-diff --scaling weak $runs
check "its first line" grep -q '^p is 1, 2, 4, 8, 16, 32 processes; all cost of one is ' out
check "its formula: $(cat out)" grep -Eq ' ms \+ [0-9.]+ ms log2\(p\) .* reduce$' out
code "too few points" 2 hpct-diff --scaling weak p1.hpct p2.hpct again.hpct p2.hpct,p2.hpct --time 0..1ms --depth 1 --streams rank=0
sentence "too few points"
code "no scaling" 2 hpct-diff p1.hpct p2.hpct p4.hpct
sentence "no scaling"
code "parts of other runs" 2 hpct-diff --scaling weak:1,2 p1.hpct p2.hpct p4.hpct
code "a gate" 2 hpct-diff --scaling weak --gate 'x>+1%' p1.hpct p2.hpct p4.hpct

# A union: other events of the same program.
printf '%s\n' 'stream	track	begin_ns	path	weight	metric' 'cpu:n/0/1.0/0	samples	5	main;work	7	cycles' \
	'cpu:n/0/1.0/0	samples	6	main;other	2	cycles' >cycles.tsv
hpct-import --from tsv cycles.tsv -o cycles.hpct 2>err || fail "import: $(cat err)"
hpct-profile p1.hpct --union cycles.hpct --metric 'per = 1000 * $2 / $0' --format tsv >union 2>err || fail "union: $(cat err)"
same "its columns" 'CPUTIME:incl CPUTIME:excl cycles:incl cycles:excl per' "$(head -n 1 union | tr '\t' '\n' | grep -E 'incl|excl|per' | grep -v parent | paste -sd ' ')"
same "work has both" '1 7 7000' "$(tsv '$c["name"] == "work" { print $c["CPUTIME:incl"], $c["cycles:incl"], $c["per"] }' <union)"
hpct-profile p1.hpct --union cycles.hpct --metric CPUTIME,cycles --metric 'per = 1000 * $cycles / $CPUTIME' --format tsv >named 2>err ||
	fail "metrics of either run: $(cat err)"
same_file "metrics of either run, by name" union named
code "a metric of neither" 2 hpct-profile p1.hpct --union cycles.hpct --metric CPUTIME,instructions
sentence "a metric of neither"
code "what no other run has is said" 0 hpct-profile p1.hpct --union cycles.hpct
check "of both: $(cat out)" test "$(grep -E '^[0-9] of [0-9] rows of (p1|cycles).hpct are in no other run: ' out | wc -l)" = 2
check "how much that is" grep -q '^1 of 4 rows of cycles.hpct are in no other run: 22.2 % of its cycles$' out
same "what one run has alone" '0 2' "$(tsv '$c["name"] == "other" { print $c["CPUTIME:incl"], $c["cycles:incl"] }' <union)"

# Functions of one name that one caller calls: apart in a run, and apart in the union.
if command -v "${CC:-cc}" >/dev/null; then
	for file in left right; do
		cat >$file.c <<'EOF'
static unsigned long turn(unsigned long n)
{
	volatile unsigned long x = 0;

	for (; n; n--)
		x += n;
	return x;
}
unsigned long (*WHERE(void))(unsigned long)
{
	return turn;
}
EOF
	done
	cat >main.c <<'EOF'
unsigned long (*left(void))(unsigned long);
unsigned long (*right(void))(unsigned long);

int main(void)
{
	unsigned long (*volatile a)(unsigned long) = left(), (*volatile b)(unsigned long) = right();

	return (a(100000000) + b(300000000)) == 1;
}
EOF
	for build in here there; do # another directory, other addresses
		mkdir $build && cp left.c right.c main.c $build && [ $build = here ] || echo 'int more(void) { return 1; }' >>$build/left.c
		(cd $build && "${CC:-cc}" -g -O0 -c -DWHERE=left left.c && "${CC:-cc}" -g -O0 -c -DWHERE=right right.c &&
			"${CC:-cc}" -g main.c left.o right.o -o turns) || fail "cannot compile"
	done
	for build in here there; do
		hpct-record -e CPUTIME@f1000 -o $build.hpct -- $build/turns || fail "record"
		same "two of one name in $build" 2 "$(hpct-profile $build.hpct --format tsv | tsv '$c["name"] == "turn"' | wc -l)"
	done
	hpct-profile here.hpct --merge there.hpct --format tsv >merged
	same "together, each in both" '2 2' "$(tsv '$c["name"] == "turn" { n++; both += $c["A:CPUTIME:incl"] > 0 && $c["B:CPUTIME:incl"] > 0 } END { print n, both }' <merged)"
	same "the longer one is the longer in both" 1 "$(tsv '$c["name"] == "turn" { a[n + 0] = $c["A:CPUTIME:incl"]; b[n++ + 0] = $c["B:CPUTIME:incl"] } END { print ((a[0] > a[1]) == (b[0] > b[1])) }' <merged)"
	hpct-profile here.hpct --union there.hpct --format tsv >union
	same "of a union, too" 2 "$(tsv '$c["name"] == "turn"' <union | wc -l)"
fi
