#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Y in every view says a command that runs and prints the numbers of that view; a tree of two runs has the metrics of
# each, in the view as from hpct-profile --merge; what is drawn of a window in which nothing was monitored is exit code 3.
. "$(dirname -- "$0")/expect.sh"
need python3
export LC_ALL=C.UTF-8 XDG_CONFIG_HOME=$work
hpct-simulate -o one.hpct --shape mixed --streams 12 --records 20000 --seed 7 || fail "no run"
hpct-simulate -o two.hpct --shape mixed --streams 12 --records 20000 --seed 8 || fail "no second run"
said() { # KEYS RUN... : the command
	hpct-view "${@:2}" --print 2000x50 --keys "$1Y" | grep -oE '^hpct [a-z]+ [a-z]+\.hpct .*'
}
run_it() { # COMMAND : its rows as TSV
	bash -c "$1 --format tsv"
}
for keys in '' www 2 22 2i 2ii 22iii 5 55 3 44 6 6b 60 w6bb jjjjx6; do
	command=$(said "$keys" one.hpct)
	check "Y after '$keys' says: $command" [ -n "$command" ]
	run_it "$command" >rows 2>err || fail "Y after '$keys': '$command' ends with $?: $(head -n 1 err)"
	check "'$command' prints rows" [ "$(wc -l <rows)" -gt 1 ]
done
time_of() { awk -F'\t' -v key="$1" 'NR > 1 && $1 == key { print $2 }'; }
same "the profile's total" "$(hpct-view one.hpct --keys 'w6:csv a.csv<Enter>' --print 2000x50 >/dev/null; awk -F, 'NR == 2 { print $7 }' a.csv)" \
	"$(run_it "$(said w6 one.hpct)" | awk -F'\t' 'NR == 2 { print $9 }')"
hpct-view one.hpct --keys 'w22' --print 2000x50 >screen
idle=$(run_it "$(said w22 one.hpct)" | awk -F'\t' 'NR > 1 { sum += $2 } END { printf "%.1f ms", sum / 1e6 }')
check "the blame's sum $idle is on its page" grep -q "$idle" screen

for keys in w22i w22ii w22iii; do # what threads wait in, and for; <no kernel> is of neither's rows
	hpct-view one.hpct --keys "$keys" --print 2000x50 >screen
	sum=$(run_it "$(said "$keys" one.hpct)" | awk -F'\t' 'NR > 1 { sum += $2 } END { printf "%.1f ms", sum / 1e6 }')
	rest=$(awk '/<no kernel>/ { print $3 } ' screen)
	shown=$(awk '$1 ~ /^sum/ { for (i = 1; i < NF; i++) if ($(i + 1) == "ms") print $i }' screen | head -n 1)
	check "the sums of '$keys': $sum printed, $shown shown, $rest without a kernel" \
		calc "${shown:-0} - ${rest:-0} - ${sum% ms} < 0.11 && ${shown:-0} - ${rest:-0} - ${sum% ms} > -0.11 || ${shown:-0} - ${sum% ms} < 0.11 && ${shown:-0} - ${sum% ms} > -0.11"
done

# two runs in one tree
command=$(said 60 one.hpct two.hpct)
same "of one alone" 'hpct profile one.hpct --view top-down' "$(said 9t60 one.hpct two.hpct)"
same "of both" 'hpct profile one.hpct --merge two.hpct --view top-down' "$(said 60 one.hpct two.hpct)"
run_it "$command" >merged.tsv
hpct-view one.hpct two.hpct --keys '60:csv merged.csv<Enter>' --print 80x24 >/dev/null
for run in one two; do hpct-profile $run.hpct --format tsv >$run.tsv; done
cat >compare.py <<'P'
import csv
def load(name):
    rows = [line.rstrip("\n").split("\t") for line in open(name)]
    return rows[0], rows[1:]
def paths(name, metric):
    """inclusive time by path of names"""
    head, rows = load(name)
    at, sums, path = head.index(metric), {}, {}
    for row in rows:
        key = path.get(row[2], ()) + (row[3], row[4])
        path[row[1]] = key
        sums[key] = sums.get(key, 0) + int(row[at])
    return {key: value for key, value in sums.items() if value}
for letter, run in ("A", "one.tsv"), ("B", "two.tsv"):
    merged, alone = paths("merged.tsv", letter + ":CPUTIME:incl"), paths(run, "CPUTIME:incl")
    assert merged == alone, (letter, len(merged), len(alone))
head, rows = load("merged.tsv")
view = list(csv.reader(open("merged.csv", newline="")))
for name, column in ("A:CPUTIME (I)", "A:CPUTIME:incl"), ("B:CPUTIME (I)", "B:CPUTIME:incl"):
    assert float(view[1][view[0].index(name)]) == float(rows[0][head.index(column)]), name
a, b, delta = (float(view[2][view[0].index(name + "CPUTIME (I)")] or 0) for name in ("A:", "B:", "B-A:"))
assert delta == b - a, (a, b, delta)
P
check "a tree of two runs: $(python3 compare.py 2>&1 | tail -n 1)" python3 compare.py
code "a run that is not there" 4 hpct-profile one.hpct --merge three.hpct
code "one source, two runs" 2 hpct-profile one.hpct --merge two.hpct --source 0.c
hpct-profile one.hpct --merge two.hpct --merge one.hpct --top 3 >table
same "three runs: coverage of each" 3 "$(grep -c 'hpct: .* monitored' table)"

# law 6
printf 'stream\ttrack\tbegin_ns\tend_ns\tpath\top\tbytes\tweight\tmetric\tvalue\tattributes\n' >gap.tsv
for at in 0 900; do
	printf 'cpu:h/-/1.0/0\tspans\t%d000000\t%d000000\t\tmonitored\t\t\t\t\t\n' "$at" $((at + 100)) >>gap.tsv
done
hpct-import --from tsv gap.tsv -o gap.hpct || fail "no run with a gap"
code "monitored" 0 hpct-view gap.hpct --time 0s..50ms --print 80x24
code "not monitored" 3 hpct-view gap.hpct --time 200ms..800ms --print 80x24
check "and drawn as that" grep -q 'Nothing was recorded here' out
