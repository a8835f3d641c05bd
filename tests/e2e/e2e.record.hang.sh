#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that hangs is read while it hangs: the call path of its blocked thread is found from outside, with the
# kernel's switch records and without. It is not disturbed by that.
. "$(dirname -- "$0")/expect.sh"
waiting=$HPCT_BIN/../tests/waiting

hanging() { # RUN : hpct-stacks of it shows the hang, by name
	hpct-stacks "$1.hpct" 2>/dev/null >"$1.stacks"
	grep -qE ' blocked since [^,]*$' "$1.stacks" && grep -qE '^ *#[0-9]+ +hang( |$)' "$1.stacks" &&
		grep -qE '^ *#0 .*read' "$1.stacks"
}

settled() { # RUN : the hang is seen, or it is known why it cannot be
	hanging "$1" || [ -n "$(info "$1" stacks_refused 2>/dev/null)" ]
}

# So is one that hangs deep down, whose recursion is folded, or is not, as the agent does it. In all of its stack that is
# more than is read at once.
for option in -r ''; do
	run=sink$option
	record "$run" ${option:+"$option"} -- "$waiting" sink &
	recorder=$!
	await settled "$run"
	pid=$(hpct-info "$run.hpct" --streams --format tsv | tsv '$c["thread"] == "0" || NR == 2 { print $c["pid"] }' | head -n 1)
	[ -n "$(info "$run" stacks_refused)" ] ||
		same "$run: levels of the recursion, and an end" "$([ -n "$option" ] && echo 60001 || echo 2) 1" \
			"$(grep -cE '^ *#[0-9]+ +sink_to( |$)' "$run.stacks") $(grep -cE '^ *#[0-9]+ +main( |$)' "$run.stacks")"
	kill "$pid"
	wait "$recorder"
done

for option in --switches --no-switches; do
	run=hang$option
	option=${option#--switches}
	record "$run" ${option:+"$option"} -- "$waiting" hang &
	recorder=$!
	await settled "$run"
	refused=$(info "$run" stacks_refused)
	pid=$(hpct-info "$run.hpct" --streams --format tsv | tsv '$c["thread"] == "0" || NR == 2 { print $c["pid"] }' | head -n 1)
	[ -z "$refused" ] || { kill "$pid"; skip "stacks of others cannot be read here: $refused"; }
	hanging "$run" || { fail "$run: the hang is not seen:" && cat "$run.stacks"; }
	kill "$pid"
	got=0
	wait "$recorder" || got=$?
	same "$run: ends as it was told" 143 "$got"
	hanging "$run" || { fail "$run: the last that is known is not the hang:" && cat "$run.stacks"; }
	hpct-slice "$run.hpct" --format tsv | tsv '
		$c["op"] == "blocked" && $c["path"] ~ /main;hang;.*read$/ { n += $c["end_ns"] - $c["begin_ns"] }
		END { exit n < 1e9 }' || fail "$run: the wait that the program died in has no path"
done
