#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Callgrind's file, as callgrind_annotate reads it: totals, functions' own and inclusive costs, recursion once, lines.
. "$(dirname -- "$0")/expect.sh"
tab=$'\t'
row() { local IFS=$tab; echo "$*"; }
{
	row stream track begin_ns end_ns path op weight metric attributes
	row cpu:h/0/10.0/0 spans 0 1000 '' monitored '' '' name=solver,metric=CPUTIME,period_ns=300,switches=1
	row cpu:h/0/10.0/0 samples 0 '' main '' 0 CPUTIME ''
	row cpu:h/0/10.0/0 samples 100 '' 'main;solve;step<a, b>' '' 90 CPUTIME ''
	row cpu:h/0/10.0/0 samples 200 '' 'main;solve;walk;walk;walk;main' '' 7 CPUTIME ''
	row cpu:h/0/10.0/0 samples 300 '' 'main;solve' '' 210 CPUTIME ''
	row cpu:h/0/10.0/0 samples 400 '' 'main;solve;walk;step<a, b>' '' 5 CPUTIME ''
	row cpu:h/0/10.0/0 samples 500 '' 'main;(9) odd' '' 11 CPUTIME ''
	row gpu:h/0/10.0/0/1/7 spans 0 1000 '' monitored '' '' name=queue
	row gpu:h/0/10.0/0/1/7 spans 350 500 'main;solve;launch;<gpu kernel>;k1' kernel '' '' link=1
} >rows.tsv
hpct-import rows.tsv -o r.hpct || fail "rows"
code "export" 0 hpct-export --to callgrind r.hpct -o r.callgrind
same "nothing is left out" "" "$(cat err)"
code "--min has no effect" 2 hpct-export --to callgrind --min 5us r.hpct
sentence "--min has no effect"
grep '^totals\|^events' r.callgrind >got
printf 'events: CPUTIME GPUTIME\ntotals: 323 150\n' >want
same_file "events and totals" want got
{
	row stream track begin_ns end_ns path op weight metric
	row cpu:h/0/10.0/0 spans 0 1000 '' monitored
	row cpu:h/0/10.0/0 samples 100 '' main '' 90 'cpu/event=0x3c, a:b/'
} >odd.tsv
hpct-import odd.tsv -o odd.hpct || fail "odd rows"
same "names of events are words, and no formulas" "events: cpu/event_0x3c,_a_b/" "$(hpct-export --to callgrind odd.hpct | grep '^events')"
need callgrind_annotate
# callgrind_annotate's rows: costs with commas and percentages, then FILE:FUNCTION [MODULE]
rows() { callgrind_annotate --threshold=100 --auto=no "$@" 2>warnings |
	sed -n '/file:function/,$p' | sed 's/([^()]*%)//g; s/,//g; s/\[\]//' |
	awk '/PROGRAM TOTALS/ { next } $1 + $2 > 0 && $1 ~ /^[0-9.]+$/ { printf "%s %s ", $1 + 0, $2 + 0; sub(/^ *[0-9.]+ +[0-9.]+ +/, ""); sub(/^[^:]*:/, ""); sub(/ +(\[.*)?$/, ""); print }' | sort -k 3; }
rows r.callgrind >got
same "callgrind_annotate warns of nothing" "" "$(cat warnings)"
cat >want <<'END'
11 0 (9) odd
0 150 k1
7 0 main
210 0 solve
95 0 step<a b>
END
same_file "own costs" want got
rows --inclusive=yes r.callgrind >got
cat >want <<'END'
11 0 (9) odd
0 150 <gpu kernel>
323 150 <program root>
0 150 k1
0 150 launch
323 150 main
312 150 solve
95 0 step<a b>
12 0 walk
END
same_file "inclusive costs, a recursion once" want got
record real -- "$samples/phases" 0.2 >/dev/null
hpct-export --to callgrind --metric CPUTIME real.hpct -o real.callgrind || fail "a recording"
same "CPU time all in all" "$(hpct-profile real.hpct --metric CPUTIME --view top-down --format tsv | tsv '$c["depth"] == 0 { s += $c["CPUTIME:incl"] } END { print s }')" \
	"$(callgrind_annotate real.callgrind | sed -n 's/(100.0%)//; s/,//g; s/ *PROGRAM TOTALS$//p')"
same "inclusive time of a function" "$(hpct-profile real.hpct --metric CPUTIME --view flat --format tsv | tsv '$c["kind"] == "function" && $c["name"] == "smooth" { printf "%.0f", $c["CPUTIME:incl"] }')" \
	"$(callgrind_annotate --inclusive=yes --threshold=100 real.callgrind | sed 's/([^()]*%)//; s/,//g' | awk '/:smooth( |$)/ { print $1; exit }')"
check "lines are annotated" grep -q 'smooth' <(callgrind_annotate --auto=yes --include="$HPCT_SOURCE/samples" real.callgrind | grep -E '^ *[1-9][0-9,]* \([ 0-9.]*%\)')
