#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pictures that stand alone: flame graph, flame chart and page have the run's sums; names of programs stay text; a
# browser, where there is one, draws the page and finds what is searched for.
. "$(dirname -- "$0")/expect.sh"
need python3
tab=$'\t'
row() { local IFS=$tab; echo "$*"; }
{
	row stream track begin_ns end_ns path op weight metric attributes
	row cpu:h/0/10.0/0 spans 0 1000 '' monitored '' '' name=solver,metric=CPUTIME,period_ns=300,switches=1
	row cpu:h/0/10.0/0 samples 0 '' main '' 0 CPUTIME ''
	row cpu:h/0/10.0/0 samples 100 '' 'main;solve;step</script><i>&"' '' 90 CPUTIME ''
	row cpu:h/0/10.0/0 samples 300 '' 'main;solve' '' 210 CPUTIME ''
	row cpu:h/0/10.0/0 samples 300 '' 'main;solve' '' 7 FAULTS ''
	row cpu:h/0/10.0/0 spans 400 600 'main;solve;wait' blocked '' '' ''
	row cpu:h/0/10.0/0 spans 310 330 'main;solve;launch' launch '' '' link=1
	row gpu:h/0/10.0/0/1/7 spans 0 1000 '' monitored '' '' name=queue
	row gpu:h/0/10.0/0/1/7 spans 350 500 'main;solve;launch;<gpu kernel>;k1' kernel '' '' link=1
	row gpu:h/0/10.0/0/1/7 spans 450 560 'main;solve;launch;<gpu copy>' copy '' '' link=1
} >rows.tsv
hpct-import rows.tsv -o r.hpct || fail "rows"
cat >svg.py <<'END'
import sys, xml.etree.ElementTree as xml
for g in xml.parse(sys.argv[1]).getroot().iter("{http://www.w3.org/2000/svg}g"):
    print(g.get("data-b"), g.get("data-v"), g.get("data-n"), sep="\t")
END
code "flame graph" 0 hpct-export --to svg r.hpct -o r.svg
python3 svg.py r.svg >got || fail "the flame graph is no XML"
{
	row 0 300 '<program root>'
	row 0 300 main
	row 0 300 solve
	row 0 90 'step</script><i>&"'
} >want
same_file "boxes of the flame graph" want got
code "another metric" 0 hpct-export --to svg --metric BLOCKED r.hpct
python3 svg.py out >got
same "waits as a flame graph" "0 200 wait" "$(tail -n 1 got | tr '\t' ' ')"
code "flame chart" 0 hpct-export --to svg-chart r.hpct -o c.svg
same "all is drawn" "" "$(cat err)"
python3 svg.py c.svg >got || fail "the flame chart is no XML"
{
	row 0 1000 'solver on h pid 10.0 rank 0: solver'
	row 0 1000 main
	row 100 900 solve
	row 100 200 'step</script><i>&"'
	row 400 200 wait
	row 400 200 blocked
	row 0 1000 'solver on h pid 10.0 rank 0: solver spans'
	row 310 20 launch
	row 0 1000 'solver on h pid 10.0 rank 0: queue'
	row 350 150 k1
	row 0 1000 'solver on h pid 10.0 rank 0: queue 2'
	row 450 110 copy
} >want
same_file "boxes of the flame chart" want got
code "a chart has no metric" 2 hpct-export --to svg-chart --metric CPUTIME r.hpct
sentence "a chart has no metric"
code "page" 0 hpct-export --to html r.hpct -o r.html
cat >page.py <<'END'
import html.parser, json, re, sys
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(); self.data, self.tags, self.at = "", [], None
    def handle_starttag(self, tag, attributes):
        self.tags.append(tag); self.at = dict(attributes).get("id") if tag == "script" else None
        for key, value in attributes: assert key not in ("src", "href"), value     # nothing beside it
    def handle_data(self, text):
        if self.at == "data": self.data += text
text = open(sys.argv[1]).read()
page = Page(); page.feed(text)
assert page.tags.count("script") == 2 and "i" not in page.tags, page.tags
assert "http" not in text.replace("http-equiv", ""), "the page asks the network"
d = json.loads(page.data)
for lane in d["lanes"]:
    for i in range(0, len(lane["boxes"]), 4):
        b, v, depth, n = lane["boxes"][i:i + 4]
        assert depth < lane["levels"]
        print(lane["name"], b, v, depth, d["names"][n], sep="\t")
for f in d["flames"]:
    for i in range(0, len(f["boxes"]), 4):
        b, v, depth, n = f["boxes"][i:i + 4]
        print(f["metric"], b, v, depth, d["names"][n], sep="\t")
END
python3 page.py r.html >got || fail "the page"
{
	row solver 0 1000 0 main
	row solver 100 900 1 solve
	row solver 100 200 2 'step</script><i>&"'
	row solver 400 200 2 wait
	row solver 400 200 3 blocked
	row 'solver spans' 310 20 0 launch
	row queue 350 150 0 k1
	row 'queue 2' 450 110 0 copy
} >want
same_file "boxes of the page in time" want <(grep -E '^(solver|queue)' got)
same "flame graphs of the page" "CPUTIME 300 FAULTS 7 GPUTIME 210" "$(awk -F'\t' '$5 == "<program root>" { print $1, $3 }' got | sort | paste -sd ' ')"

# A recording: the picture's sums are the readers'.
record real -- "$samples/phases" 0.2 >/dev/null
hpct-export --to html real.hpct -o real.html 2>err || fail "a recording's page"
same "what is left out is said" "values over time" "$(grep -o 'values over time' err)"
python3 page.py real.html >got || fail "a recording's page"
same "CPU time" "$(hpct-profile real.hpct --metric CPUTIME --view top-down --format tsv | tsv '$c["depth"] == 0 { print $c["CPUTIME:incl"] }')" \
	"$(awk -F'\t' '$1 == "CPUTIME" && $4 == 0 { print $3 }' got)"
same "time of a function" "$(hpct-profile real.hpct --metric REALTIME --view flat --format tsv | tsv '$c["kind"] == "function" && $c["name"] == "smooth" { s += $c["REALTIME:incl"] } END { printf "%.0f", s }')" \
	"$(awk -F'\t' '$5 == "smooth" && $1 !~ /^[A-Z]+$/ { s += $3 } END { printf "%.0f", s }' got)"

# However long the run, the picture is small: the shortest go, and are counted.
{
	row stream track begin_ns end_ns path op
	row cpu:h/-/1.0/0 spans 0 400000 '' monitored
	row gpu:h/-/1.0/0/1/7 spans 0 30000000 '' monitored
	awk 'BEGIN { for (i = 0; i < 500000; i++) printf "gpu:h/-/1.0/0/1/7\tspans\t%d\t%d\tk%d\tkernel\n", i * 40, i * 40 + 1 + i % 32, i % 7 }'
} >many.tsv
hpct-import many.tsv -o many.hpct || fail "many rows"
hpct-export --to html many.hpct -o many.html 2>err || fail "many rows' page"
python3 page.py many.html >got || fail "many rows' page"
boxes=$(grep -vc '^GPUTIME' got)
left=$(sed -n 's/^hpct-export: left out: \([0-9]*\) calls and operations shorter than [0-9.]* ns$/\1/p' err)
same "what is left out and what is drawn" 500000 $((boxes + ${left:-0}))
check "at most so many boxes" [ "$boxes" -lt 400000 ]
check "and not few" [ "$boxes" -gt 150000 ]

[ "$failed" -ne 0 ] || need chromium
chromium --headless --no-sandbox --disable-gpu --dump-dom "file://$work/r.html#SOLVE" 2>/dev/null >dom
same "a browser finds what is searched for" "1 names, 900 ns in time, 100.0 % of CPUTIME" "$(sed -n 's/.*<span id="found">\([^<]*\)<.*/\1/p' dom)"
check "and lists it" grep -q '<td>solve</td><td>1</td><td>900 ns</td>' dom
chromium --headless --no-sandbox --disable-gpu --dump-dom "file://$work/r.html#operator%" 2>/dev/null >dom
same "a name that no address could have is looked for as it is" "0 names, 0 ns in time, 0.0 % of CPUTIME" "$(sed -n 's/.*<span id="found">\([^<]*\)<.*/\1/p' dom)"

# A recursion deeper than a browser's canvas is high.
{
	row stream track begin_ns end_ns path op weight metric
	row cpu:h/-/1.0/0 spans 0 1000 '' monitored
	row cpu:h/-/1.0/0 samples 100 '' "main$(printf ';r%.0s' {1..2500})" '' 7 CPUTIME
} >deep.tsv
hpct-import deep.tsv -o deep.hpct || fail "deep rows"
hpct-export --to html deep.hpct -o deep.html 2>err || fail "a deep page"
chromium --headless --no-sandbox --disable-gpu --dump-dom "file://$work/deep.html" 2>/dev/null >dom
same "its picture is as high as one can be" "height: 16000px;" "$(sed -n '/id="flame"/s/.*<canvas style="\([^"]*\)".*/\1/p' dom | tail -n 1)"
