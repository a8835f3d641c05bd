#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Profiles opened by the readers themselves, which npm has: speedscope in a browser, the Firefox Profiler's code at the
# command line. Skipped without npm, its registry, or a browser.
. "$(dirname -- "$0")/expect.sh"
need node npm chromium python3
timeout 120 npm install --prefer-offline --no-audit --no-fund --prefix "$work/npm" speedscope@1 @firefox-devtools/profiler-cli@0 \
	>npm.log 2>&1 || skip "npm cannot install speedscope and profiler-cli"
export HOME=$work
tab=$'\t'
row() { local IFS=$tab; echo "$*"; }
{
	row stream track begin_ns end_ns path op weight metric attributes
	row cpu:h/3/10.0/0 spans 0 1000 '' monitored '' '' name=solver,metric=CPUTIME,period_ns=300,switches=1,tid=10
	row cpu:h/3/10.0/0 samples 0 '' main '' 0 CPUTIME ''
	row cpu:h/3/10.0/0 samples 300 '' 'main;solve<a, b>' '' 300 CPUTIME ''
	row cpu:h/3/10.0/0 spans 400 600 'main;solve<a, b>;wait' blocked '' '' ''
	row gpu:h/3/10.0/0/1/7 spans 0 1000 '' monitored '' '' name=queue
	row gpu:h/3/10.0/0/1/7 spans 350 500 'main;launch;<gpu kernel>;k1' kernel '' '' link=1
	row gpu:h/3/10.0/0/1/7 spans 520 560 'main;launch;<gpu copy>' copy '' '' link=2
} >rows.tsv
hpct-import rows.tsv -o r.hpct || fail "rows"

# ---- speedscope, as its own command line opens it: a script beside the page, then the table of the view
hpct-export --to speedscope r.hpct -o s.json || fail "speedscope"
printf 'speedscope.loadFileFromBase64("s.json", "%s")' "$(base64 -w 0 s.json)" >s.js
cat >tables.py <<'END'
import html, re, sys
for row in re.findall("<tr.*?</tr>", sys.stdin.read()):
    cells = [html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall("<td.*?</td>", row)]
    if cells: print(*cells, sep="\t")
END
shows() {
	timeout 120 chromium --headless=new --no-sandbox --disable-gpu --use-gl=swiftshader --enable-unsafe-swiftshader \
		--allow-file-access-from-files --virtual-time-budget=20000 \
		--dump-dom "file://$work/npm/node_modules/speedscope/dist/release/index.html#localProfilePath=$work/s.js&view=sandwich" \
		2>browser.log | PYTHONUTF8=1 python3 tables.py >got
	[ -s got ]
}
tries=0
until shows || [ $((tries += 1)) -ge 5 ]; do :; done # a browser that begins may give up drawing
{
	row 1 solver 1.00µs
	row 2 queue 190.00ns
	row '200.00ns (20%)' '200.00ns (20%)' '[blocked]'
	row '1.00µs (100%)' '300.00ns (30%)' main
	row '700.00ns (70%)' '500.00ns (50%)' 'solve<a, b>'
	row '200.00ns (20%)' '0.00ns (<0.01%)' wait
} | sort >want
same_file "what speedscope shows" want <(sort got)

# ---- the Firefox Profiler
cli() { node "$work/npm/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js" "$@" --session s; }
hpct-export --to firefox r.hpct -o f.json || fail "firefox"
cli load f.json >load.log 2>&1
answers() { cli profile info --json >info.json 2>/dev/null; }
await answers || fail "the profiler does not open the profile: $(cat load.log)"
functions() { # THREAD : own and inclusive ns by function
	cli thread functions --thread "$1" --json --include-idle --limit 100 | python3 -c '
import json, sys
for f in json.load(sys.stdin)["functions"]: print(round(f["selfSamples"] * 1e6), round(f["totalSamples"] * 1e6), f["name"], sep="\t")' | sort -k 3
}
functions t-0 >got
{
	row 200 200 '[blocked]'
	row 300 1000 main
	row 500 700 'solve<a, b>'
	row 0 200 wait
} >want
same_file "the thread in the Firefox Profiler" want got
functions t-1 >got
{
	row 40 40 '<gpu copy>'
	row 0 150 '<gpu kernel>'
	row 150 150 k1
	row 0 190 launch
	row 0 190 main
} >want
same_file "the queue in the Firefox Profiler" want got
cli thread markers --thread t-1 --json | python3 -c '
import json, sys
for m in json.load(sys.stdin)["byType"]: print(m["markerName"], m["count"], round(m["durationStats"]["max"] * 1e6), sep="\t")' | sort >got
{
	row copy 1 40
	row k1 1 150
} >want
same_file "markers in the Firefox Profiler" want got
cli stop >/dev/null 2>&1 || true
