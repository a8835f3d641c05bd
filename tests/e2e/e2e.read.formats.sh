#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The output contract: columns by name, one schema line in JSON, exports that other tools open.
. "$(dirname -- "$0")/expect.sh"
record formats -- "$samples/phases" 0.2 >/dev/null
columns() { # WANT PROGRAM...
	local want=$1
	shift
	same "columns of $*" "$want" "$("$@" --format tsv | head -n 1 | tr '\t' ' ')"
}
columns 'key value' hpct-info formats.hpct
columns 'stream kind host rank pid tid device queue name begin_ns end_ns samples spans values lost' \
	hpct-info formats.hpct --streams
columns 'depth id parent kind name module file line CPUTIME:incl CPUTIME:excl' hpct-profile formats.hpct --view top-down
columns 'depth id parent kind name module file line CPUTIME:incl CPUTIME:excl' hpct-profile formats.hpct --view bottom-up
columns 'depth id parent kind name module file line CPUTIME:incl CPUTIME:excl' hpct-profile formats.hpct --view flat
for by in function path module line stream op; do
	columns 'key time_ns percent records' hpct-stats formats.hpct --by "$by"
done
columns 'stream track begin_ns end_ns path op bytes weight metric value attributes' hpct-slice formats.hpct
for key in schema command host begin_ns end_ns streams contexts records lost partial_stacks bytes; do
	check "hpct-info has no '$key'" [ -n "$(info formats "$key")" ]
done
for reader in hpct-info hpct-profile hpct-stats hpct-slice; do
	$reader formats.hpct --format json >json || fail "$reader --format json"
	[ ! -x /usr/bin/python3 ] || /usr/bin/python3 -c '
import json, sys
rows = [json.loads(line) for line in open("json", encoding="utf-8", errors="surrogateescape")]
assert "schema" in rows[0], rows[0]
assert len(rows) > 1 and all(type(row) is dict for row in rows)' || fail "$reader: JSON lines"
done
hpct-slice formats.hpct --format tsv >rows
tsv '{ print $c["begin_ns"] }' <rows | sort -n -c 2>/dev/null || fail "slice: rows are not sorted by begin_ns"
hpct-export --to tsv formats.hpct >exported && same_file "export --to tsv is the slice" rows exported
hpct-export --to folded formats.hpct >folded || fail "export --to folded"
check "folded stacks: path, space, count" awk '$NF !~ /^[0-9]+$/ { exit 1 } END { exit !NR }' folded
check "folded stacks hold the worker's path" grep -q 'worker;step;solve;smooth' folded
hpct-export --to chrome formats.hpct >chrome.json || fail "export --to chrome"
[ ! -x /usr/bin/python3 ] || /usr/bin/python3 -c '
import json
trace = json.load(open("chrome.json"))
events = trace["traceEvents"] if isinstance(trace, dict) else trace
names = {e["args"]["name"] for e in events if e.get("ph") == "M" and e["name"] == "thread_name"}
assert {"worker 1", "worker 4"} <= names, names
assert all(e["ts"] >= 0 for e in events if e["ph"] in "XBE")
assert any(e["ph"] in "XB" and e["name"] == "smooth" for e in events)' || fail "Chrome JSON"
# What the selector says holds for the calls and states of a line, too; where it cannot, it is refused.
states() { # NAME LENGTH of each, in us
	hpct-export --to chrome formats.hpct "$@" | awk '{ split($0, f, /"(tid|ts|name)":/); t = f[2] + 0; at = f[3] + 0 }
		/"cat":"state"/ { begin[t] = at; name[t] = substr(f[4], 2); sub(/".*/, "", name[t]) }
		/"ph":"E"/ && t in begin { print name[t], at - begin[t]; delete begin[t] }'
}
same "chrome of an operation" 'blocked' "$(states --op blocked | cut -d ' ' -f 1 | sort -u)"
check "chrome has short states" [ "$(states | awk '$2 < 1000' | wc -l)" -gt 0 ]
same "chrome of long spans" 0 "$(states --min 1ms | awk '$2 < 999.999' | wc -l)"
same "chrome of a path" "" "$(hpct-export --to chrome formats.hpct --context '*smooth*' | grep -o read_input)"
code "folded stacks of an operation" 2 hpct-export --to folded --op blocked formats.hpct
sentence "folded stacks of an operation"

# `hpct VERB` dispatches, alone it lists commands; every --help is one screen.
same "hpct info" "$(hpct-info formats.hpct)" "$(hpct info formats.hpct)"
code "hpct alone" 0 hpct
check "hpct alone lists commands" grep -q "hpct record" out
code "hpct alone" 0 hpct
check "what it says fits 80 columns: $(grep -v ^verbs: out | awk 'length > 79')" [ -z "$(grep -v ^verbs: out | awk 'length > 79')" ]
check "but for the verbs, which completions read in one line" grep -q '^verbs:.* view' out
code "hpct and no such verb" 2 hpct nosuchverb
sentence "hpct and no such verb"
for program in record info profile stats slice stacks import export simulate view names blame; do
	code "help of $program" 0 "hpct-$program" --help
	check "hpct-$program --help is not one screen: $(wc -l <out) lines" [ "$(wc -l <out)" -le 50 ]
	check "hpct-$program --help: lines wider than 120" [ "$(awk 'length > 120' out | wc -l)" -eq 0 ]
	check "man page of hpct-$program" [ -f "$HPCT_SOURCE/man/hpct-$program.1" ]
done
