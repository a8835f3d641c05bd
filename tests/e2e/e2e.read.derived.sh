#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Derived columns: how a metric is spread over groups of streams, held to each group's own profile (absent rows are zeros);
# and formulas, held to the columns that they are made of.
. "$(dirname -- "$0")/expect.sh"
need python3
hpct-simulate -o run.hpct --shape mixed --records 6000 --streams 9
hpct-simulate -o cpu.hpct --records 1000

cat >spread.py <<'END'
# spread.py KEY GROUP... : of each row of the profile the statistics over profiles of these streams
import csv, math, statistics, subprocess, sys

def profile(*options):
    done = subprocess.run(["hpct-profile", "run.hpct", "--format", "tsv", "--metric", "CPUTIME,BLOCKED", *options],
                          capture_output=True, text=True)
    rows, paths = {}, []
    for row in csv.DictReader(done.stdout.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        place = tuple(row[c] for c in ("kind", "name", "module", "file", "line"))
        paths.append((paths[int(row["parent"])] if row["parent"] else ()) + (place,))
        rows[paths[-1]] = row
    return rows

whole = profile("--over", sys.argv[1])
groups = [profile("--streams", group) for group in sys.argv[2:]]
wrong = numbers = absent = 0
for path, row in whole.items():
    for column in ("CPUTIME:incl", "CPUTIME:excl", "BLOCKED:incl", "BLOCKED:excl"):
        values = [int(group[path][column]) if path in group else 0 for group in groups]
        absent += sum(path not in group for group in groups)
        mean, deviation = sum(values) / len(values), statistics.pstdev(values)
        wanted = {"sum": sum(values), "min": min(values), "mean": mean, "max": max(values), "stddev": deviation,
                  "cov": deviation / mean if mean else None}
        for name, want in wanted.items():
            got = row[column + ":" + name]
            numbers += 1
            if (got == "") != (want is None) or (want is not None and
                    not math.isclose(float(got), want, rel_tol=1e-9, abs_tol=1e-3)):
                wrong += 1
                print(path[-1], column, name, "expected", want, "got", got)
if wrong or numbers < 1000 or (sys.argv[1] == "thread" and not absent):
    sys.exit(f"{wrong} of {numbers} numbers are wrong; {absent} absent")
END
streams_of() { hpct-info run.hpct --streams --format tsv | tsv "$1"; }
mapfile -t ranks < <(streams_of '$c["rank"] != "" { print "rank=" $c["rank"] }' | sort -u)
mapfile -t threads < <(streams_of '$c["kind"] == "cpu" { print "stream=\"" $c["stream"] "\"" }')
mapfile -t streams < <(streams_of '$c["kind"] != "gauges" && $c["kind"] != "pc" { print "stream=\"" $c["stream"] "\"" }')
mapfile -t processes < <(streams_of '{ print "pid=" $c["pid"] }' | sort -u)
check "several ranks and threads" [ "${#ranks[@]}" -gt 1 ] && [ "${#threads[@]}" -gt "${#ranks[@]}" ]
python3 spread.py rank "${ranks[@]}" >out 2>&1 || fail "over ranks: $(tail -n 3 out)"
python3 spread.py thread "${threads[@]}" >out 2>&1 || fail "over threads: $(tail -n 3 out)"
python3 spread.py stream "${streams[@]}" >out 2>&1 || fail "over streams: $(tail -n 3 out)"
python3 spread.py process "${processes[@]}" >out 2>&1 || fail "over processes: $(tail -n 3 out)"

# Each group by itself: what its own profile has at its root.
for key in rank thread process stream; do
	declare -n groups=${key}s
	[ $key != process ] || declare -n groups=processes
	hpct-profile run.hpct --each $key --metric CPUTIME,BLOCKED --metric 'both = $CPUTIME + $BLOCKED' --format tsv >each 2>err || fail "--each $key: $(cat err)"
	same "--each $key: rows" "${#groups[@]}" "$(sed 1d each | wc -l)"
	for group in "${groups[@]}"; do
		hpct-profile run.hpct --streams "$group" --metric CPUTIME,BLOCKED --depth 0 --format tsv |
			tsv 'NR == 2 { print $c["CPUTIME:incl"], $c["BLOCKED:incl"], $c["CPUTIME:incl"] + $c["BLOCKED:incl"] } END { if (NR < 2) print 0, 0, 0 }'
	done | sort >wanted
	tsv '{ print $c["CPUTIME"], $c["BLOCKED"], $c["both"] }' <each | sort >got
	same_file "--each $key: values" wanted got
done
code "--each in a table" 0 hpct-profile run.hpct --each rank --metric CPUTIME
check "it says who has the most: $(cat out)" grep -Eq '^CPUTIME: .* \((rank )?[0-9]+\) to .* \((rank )?[0-9]+\), mean .*, coefficient of variation 0\.[0-9]+$' out
code "--each and --over" 2 hpct-profile run.hpct --each rank --over rank

# In every view the groups add up to the whole, where each stream is in one.
for view in top-down bottom-up flat; do
	hpct-profile run.hpct --view $view --over process --metric CPUTIME --format tsv >rows
	same "$view: sums over processes are those of the run" "" \
		"$(tsv '$c["CPUTIME:incl"] != $c["CPUTIME:incl:sum"] || $c["CPUTIME:excl"] != $c["CPUTIME:excl:sum"]' <rows | head -n 2)"
	cut -f 1-10 rows >few
	hpct-profile run.hpct --view $view --metric CPUTIME --format tsv >plain
	same_file "$view: the other columns stay" plain few
done
code "--over host" 0 hpct-profile run.hpct --over host --format tsv
same "one host: no deviation" 0 "$(tsv 'NR == 2 { print $c["CPUTIME:incl:stddev"] }' <out)"
code "--over in a table" 0 hpct-profile run.hpct --over rank --depth 1
check "a table says over what" grep -q "over ${#ranks[@]} groups" out

# Formulas.
hpct-profile run.hpct --metric CPUTIME,BLOCKED --metric 'waste = $2 * 4 - $1' --metric 'part=100*$4/@4' --format tsv >rows ||
	fail "formulas"
cp rows rows0
same "formulas of hpct-profile: columns" "waste part" "$(head -n 1 rows | cut -f 13- | tr '\t' ' ')"
tsv '{ waste = $c["BLOCKED:incl"] * 4 - $c["CPUTIME:excl"]; if (NR == 2) whole = waste
	part = 100 * waste / whole; d = part - $c["part"]
	if (waste != $c["waste"] || d > 1e-9 || d < -1e-9) print $0, waste, part }' <rows >wrong
same "formulas of hpct-profile" "" "$(head -n 2 wrong)"
hpct-profile run.hpct --over rank --metric CPUTIME --metric 'uneven = $5 - $4' --format tsv >rows || fail "formulas over spreads"
same "a formula over spreads" "" "$(tsv '$c["uneven"] - ($c["CPUTIME:incl:max"] - $c["CPUTIME:incl:mean"]) > 1e-3' <rows | head -n 2)"
# A table has the same numbers: $4 is none, though its rows are marked by their samples.
hpct-profile run.hpct --metric CPUTIME,BLOCKED --metric 'n = $2 + 0 * @0' --format tsv --top 1 >rows
hpct-profile run.hpct --metric CPUTIME,BLOCKED --metric 'n = $2 + 0 * @0' --top 1 >table
check "a formula in a table" grep -q " $(tsv '{ print $c["n"] }' <rows) " table
for format in tsv table; do
	code "a number behind the last one, --format $format" 2 hpct-profile run.hpct --metric CPUTIME,BLOCKED --metric 'x = $4' --format $format
done
hpct-stats run.hpct --metric 'each = $0 / $2' --metric 'share = 100 * $0 / @0' --format tsv >rows || fail "formulas of hpct-stats"
tsv '{ if (($c["each"] == "") != ($c["records"] == 0)) print; d = $c["share"] - $c["percent"]; if (d > 0.006 || d < -0.006) print
	if ($c["records"] && (d = $c["each"] - $c["time_ns"] / $c["records"]) * d > 1e-6) print }' <rows >wrong
same "formulas of hpct-stats" "" "$(head -n 2 wrong)"
same "undefined in JSON" 1 "$(hpct-stats run.hpct --metric 'none = $0 / 0' --format json | grep -c -m 1 '"none":null')"
code "formulas in a table" 0 hpct-stats run.hpct --metric 'each = $0 / $2'
check "a table has its name" grep -q ' each ' out
code "formulas beside a state metric" 0 hpct-stats run.hpct --metric BLOCKED --metric 'each = $0 / 1000'

# What a mark means is said where a row has one: here the only row of few samples is small, and left out.
{
	printf 'stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tattributes\n'
	printf 'cpu:n/-/1.0/0\tspans\t0\t999000000\t\tmonitored\t\t\tmetric=CPUTIME,period_ns=1000000\n'
	for i in $(seq 150); do
		printf 'cpu:n/-/1.0/0\tsamples\t%d000000\t\tmain;busy\t\t1000000\tCPUTIME\t\n' "$i"
	done
	printf 'cpu:n/-/1.0/0\tsamples\t999000000\t\tmain;rare\t\t1\tCPUTIME\t\n'
} >rare.tsv
hpct-import --from tsv rare.tsv -o rare.hpct || fail "import"
hpct-profile rare.hpct >table
check "a row is left out" grep -q '^1 row below' table
same "no mark, no word" "" "$(grep '^?' table)"
check "a mark, a word" grep -q '^? marks rows' <(hpct-profile rare.hpct --all)

# Columns by name, and formulas that are kept by name: in the run, then in the user's file.
hpct-profile run.hpct --metric CPUTIME,BLOCKED --metric 'waste = $BLOCKED * 4 - $CPUTIME:excl' --metric 'part=100*$waste/@waste' --format tsv >named ||
	fail "formulas by name"
same_file "columns by name are those by number" rows0 named
mkdir -p config/hpct
printf '%s\n' '# kept' 'waste = $BLOCKED * 4 - $CPUTIME:excl # four cores' 'mean = $time_ns / $records' >config/hpct/formulas
export XDG_CONFIG_HOME=$PWD/config
hpct-profile run.hpct --metric CPUTIME,BLOCKED,waste --metric 'part=100*$waste/@waste' --format tsv >kept 2>err || fail "kept: $(cat err)"
same_file "a kept formula is the same" rows0 kept
hpct-stats run.hpct --metric mean --format tsv >kept 2>err || fail "kept for hpct-stats: $(cat err)"
hpct-stats run.hpct --metric 'mean = $0 / $2' --format tsv >given
same_file "kept alone it leaves all rows" given kept
echo 'mean = 2 * $time_ns / $records' >run.hpct/formulas
hpct-stats run.hpct --metric mean --format tsv >kept 2>err || fail "kept in the run: $(cat err)"
hpct-stats run.hpct --metric 'mean = 2 * $0 / $2' --format tsv >given
same_file "the run's own goes before" given kept
hpct-stats run.hpct --metric mean --top 1 --format tsv | sed 1d | cut -f 1,5 >kept
echo 'heavy = 2 * $CPUTIME' >>run.hpct/formulas
if command -v hpct-sql >/dev/null; then
	same "kept, in SQL" "$(sed 's/	$/	NULL/' kept)" "$(hpct-sql run.hpct "SELECT key, coalesce(formula, 'NULL') FROM stats WHERE metrics = 'mean' LIMIT 1" --format tsv | sed 1d)"
	same "in a profile it is a metric" 1 "$(hpct-sql run.hpct "SELECT count(*) > 3 AND min(a.inclusive = 2 * b.inclusive) FROM profile a JOIN profile b USING (id)
		WHERE a.metric = 'heavy' AND b.metric = 'CPUTIME'" --format tsv | sed 1d)"
	same "of several the last" 1 "$(hpct-sql run.hpct "SELECT min(formula = 6 * records) FROM stats
		WHERE metrics = 'three = 3; a = \$records * \$three; b = 2 * \$a'" --format tsv | sed 1d)"
	code "SQL: a formula that is none" 2 hpct-sql run.hpct "SELECT formula FROM stats WHERE metrics = 'x = \$0 +'"
	sentence "SQL: a formula that is none"
	code "SQL: all rows together, of records" 2 hpct-sql run.hpct "SELECT formula FROM samples WHERE metrics = 'x = @weight'"
	sentence "SQL: all rows together, of records"
fi
columns=$HPCT_BIN/../tests/columns
if [ -x "$columns" ]; then
	"$columns" run.hpct stats metric=mean top=1 columns=key,mean | sed 1d >library
	same_file "kept, in the library" kept library
	same "columns that are asked for, of several formulas" 'half	6' "$("$columns" run.hpct stats 'metric=three = 3' 'metric=half = $three * 2' top=1 columns=half | paste -s)"
	code "the library: a column that is no formula" 2 "$columns" run.hpct stats 'metric=a = $0' columns=b
fi
rm run.hpct/formulas
code "a kept formula of columns that are not there" 2 hpct-stats run.hpct --metric waste
sentence "a kept formula of columns that are not there"
code "nothing is kept of that name" 2 hpct-stats run.hpct --metric wast
sentence "nothing is kept of that name"
# One kept formula stands on another, or on a number; a computed metric that a formula names is a column by itself.
printf '%s\n' 'cores = 4' 'lost = $BLOCKED * $cores' 'lost_part = 100 * $lost / @lost' >config/hpct/formulas
hpct-profile run.hpct --metric lost_part --format tsv >kept 2>err || fail "kept on kept: $(cat err)"
same "what it stands on comes first" "cores lost lost_part" "$(head -n 1 kept | tr '\t' '\n' | grep -E 'cores|lost' | paste -sd ' ')"
same "kept on kept" "" "$(tsv 'NR == 2 { whole = $c["BLOCKED:incl"] } $c["lost"] != 4 * $c["BLOCKED:incl"] || ($c["lost_part"] - 100 * $c["BLOCKED:incl"] / whole) ^ 2 > 1e-9' <kept | head -n 2)"
check "the run's own metric stays" grep -q '^[^	]*	.*CPUTIME:incl' kept
hpct-profile run.hpct --metric lost_part --metric 'cores = 2' --format tsv >given 2>err || fail "a number that is given: $(cat err)"
same "a number that is given goes before" 2 "$(tsv 'NR == 2 { print $c["lost"] / $c["BLOCKED:incl"] }' <given)"
unset XDG_CONFIG_HOME
# Dilation (S4 8.2.1): the program took 2000 s instead of 1000 s, and GPUs worked for 500 s of both.
printf '%s\n' 'stream	track	begin_ns	end_ns	path	op	weight	metric' 'cpu:n/0/1.0/0	samples	0		main		1	CPUTIME' \
	'cpu:n/0/1.0/0	samples	2000000000000		main		1	CPUTIME' 'gpu:n/0/1.0/0/1/1	spans	2000	500000002000	main;<gpu kernel>;k	kernel' >slow.tsv
hpct-import --from tsv slow.tsv -o slow.hpct 2>err || fail "import: $(cat err)"
hpct-profile slow.hpct --metric GPUOP,REALTIME --metric undilated_gpu,undilated_time --metric 'dilation = 2' --format tsv >rows 2>err || fail "dilation: $(cat err)"
same "dilation: GPUs worked for 25 % of the program's time, without hpct for 50 %" "50 1000000000000" \
	"$(tsv 'NR == 2 { print $c["undilated_gpu"], $c["undilated_time"] }' <rows)"
code "dilation that is not given" 2 hpct-profile slow.hpct --metric undilated_gpu
sentence "dilation that is not given"

# Formulas in the readers that know nothing of them.
hpct-slice run.hpct --metric CPUTIME --metric 'twice = 2 * $weight' --format tsv >rows 2>err || fail "formulas of hpct-slice: $(cat err)"
same "formulas of hpct-slice" "" "$(tsv '$c["twice"] != 2 * $c["weight"]' <rows | head -n 2)"
hpct-slice run.hpct --metric CPUTIME --metric 'twice = 2 * $weight' --format tsv --jobs 2 >shared
same_file "shared among processes" rows shared
code "all rows together, of hpct-slice" 2 hpct-slice run.hpct --metric 'x = @weight'
sentence "all rows together, of hpct-slice"
code "a formula and a smaller run" 2 hpct-slice run.hpct --metric 'x = $weight' -o small.hpct
hpct-blame run.hpct --imbalance --by function --metric 'part = 100 * $total / @total' --format tsv >rows 2>err || fail "formulas of hpct-blame: $(cat err)"
near "formulas of hpct-blame: parts of the whole" 100 "$(tsv '{ n += $c["part"] } END { print n }' <rows)" 1e-6
code "in its table, by the name it has there or the TSV's" 0 hpct-blame run.hpct --imbalance --by function --metric 'twice = $max + $max_ns'
check "ahead of the key" grep -Eq ' twice +busiest +key$' out
code "a metric is no formula" 2 hpct-blame run.hpct --imbalance --metric CPUTIME
sentence "a metric is no formula"
for words in 'hpct-stacks run.hpct --metric x=$since_ns+1' 'hpct-report run.hpct --metric x=$time_ns/2' 'hpct-stats run.hpct --by cluster --metric x=$silhouette*2'; do
	# shellcheck disable=SC2086 # words
	code "$words" 0 $words --format tsv
	check "$words: a column" grep -Eq '	x$' <(head -n 1 out)
done
code "a page has no columns" 2 hpct-report run.hpct --metric 'x=$time_ns' --format html
hpct-stats run.hpct --operations --metric 'mean = $total / $count' --format tsv >rows 2>err || fail "formulas of --operations: $(cat err)"
same "formulas of --operations" "" "$(tsv '$c["count"] > 0 && ($c["mean"] - $c["total_ns"] / $c["count"]) ^ 2 > 1' <rows | head -n 2)"

for bad in '--metric x=$0+' '--metric x=$99' '--metric x=@0(' '--over moon' '--over rank --flame' '--metric x=$0 --flame' \
	'--over rank --merge run.hpct' '--metric x=$0 --source f.c'; do
	# shellcheck disable=SC2086
	code "$bad" 2 hpct-profile run.hpct $bad
	sentence "$bad"
done
code "a group that no stream is in" 3 hpct-profile cpu.hpct --over device
sentence "a group that no stream is in"
