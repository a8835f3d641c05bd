#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tables that leave the view: CSV of the statistics and of the profile says what the programs that print say, names with
# commas stay one field, nothing is overwritten, y keeps the whole name; and two runs are opened side by side.
. "$(dirname -- "$0")/expect.sh"
need python3
export LC_ALL=C.UTF-8 XDG_CONFIG_HOME=$work
hpct-simulate -o one.hpct --shape mixed --streams 12 --records 20000 --seed 7 || fail "no run"
hpct-simulate -o two.hpct --shape mixed --streams 12 --records 20000 --seed 8 || fail "no second run"
draw() { hpct-view "$@" --print 200x50; }
draw one.hpct --depth 8 --keys ':csv stats.csv<Enter>' >screen
check "the view says where it is: $(tail -n 2 screen)" grep -q 'stats.csv: the statistics as CSV' screen
draw one.hpct --keys '60:csv profile.csv<Enter>y' >screen
check "y keeps the name: $(tail -n 2 screen)" grep -q '^<program root>' .cache/hpct/copied
cp stats.csv kept.csv
draw one.hpct --keys ':csv stats.csv<Enter>' >screen
check "a file that exists is left alone" cmp -s stats.csv kept.csv
check "and that is said" grep -q 'cannot write stats.csv: File exists; choose another name' screen
for keys in ':time 9999s..<Enter>' 'gsoon<Enter>' '&colour=red<Enter>'; do
	draw one.hpct --keys "$keys" >screen
	check "$keys: what is wrong is said: $(tail -n 3 screen)" grep -qE 'in this window|is no time|no such field' screen
	check "$keys: by no option's name" eval '! grep -qE -- "--(time|streams)" screen'
done
draw one.hpct --keys '60:columns 99<Enter>' >screen
check "an unknown column: $(tail -n 2 screen)" grep -q "'99' is no column; there are .0 CPUTIME" screen
hpct-profile one.hpct --format tsv >profile.tsv
cat >compare.py <<'P'
import csv, sys
stats = list(csv.reader(open("stats.csv", newline="")))
assert stats[0] == ["function", "state", "time_ns", "records"], stats[0]
assert all(len(row) == 4 for row in stats), "fields"
assert len({row[0] + row[1] for row in stats[1:]}) == len(stats) - 1, "rows are told apart"
assert any("," in row[0] for row in stats), "no name with a comma: the test tries nothing"
profile = list(csv.reader(open("profile.csv", newline="")))
assert all(len(row) == len(profile[0]) for row in profile), "fields of the profile"
tsv = [line.rstrip("\n").split("\t") for line in open("profile.tsv")]
for name in profile[0][6:]:
    kind = {"I": "incl", "E": "excl"}[name[-2]]
    want = tsv[1][tsv[0].index(name[:-4] + ":" + kind)]
    got = profile[1][profile[0].index(name)]
    assert float(got) == float(want), (name, got, want)
print(len(profile[0]) - 6, "columns")
P
check "CSV: $(python3 compare.py 2>&1 | tail -n 1)" python3 compare.py
draw one.hpct two.hpct >screen
check "two runs: $(head -n 1 screen)" grep -q '9 Compare  with B two.hpct' screen
hpct-view one.hpct two.hpct --align @nowhere --print 80x24 >screen 2>err
same "a mark that is not there is wrong usage" 2 "$?"
check "and is named: $(cat err)" grep -q nowhere err
hpct-view one.hpct --align begin --print 80x24 >screen 2>err
same "--align needs two runs" 2 "$?"
hpct-view one.hpct missing.hpct --print 80x24 >screen 2>err
same "a missing second run" 4 "$?"
