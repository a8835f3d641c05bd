#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A recorded run in tmux by keys: what each view shows, with its colours; other terminals, locales and NO_COLOR; and the
# terminal as it was after Ctrl-C, kill and a hang-up in every view.
. "$(dirname -- "$0")/expect.sh"
hpct-record -o view.hpct -- "$samples/phases" 0.3 >/dev/null || fail "no run"
terminal 110 34
ended() { ! kill -0 "$1" 2>/dev/null; }
settings() { # FILE : what the terminal is set to
	rm -f "$1"
	type_line "stty -a >$1.new; mv $1.new $1"
	await [ -s "$1" ]
}
open_view() { # COMMAND
	type_line clear # a terminal that keeps the picture shows the last one until then
	await pane_lacks 'worker 4'
	type_line "$1"
	check "$1 opens: $(head -n 3 pane)" shows 'worker 4'
}
settings before

# Views by their keys, and that work is a block of colour while states are not.
open_view 'TERM=screen-256color hpct-view view.hpct --depth 1'
while IFS='|' read -r keys text; do
	tm send-keys -t v "$keys"
	check "'$keys' shows '$text'" shows "$text"
done <<'END'
1|1 Statistics  
2|[2 Blame]
3|[3 Summary]
4|[4 Depth]
6|6 Profile
b|[bottom-up]
q|Statistics
8|[8 Info]
Y|hpct stats
END
tm capture-pane -e -p -t v >coloured
check "colours of the 256" grep -q $'\e\[[0-9;]*[34]8;5;' coloured
tm send-keys -t v q
shows 'ready>'
for case in 'NO_COLOR=1 TERM=screen-256color|C.UTF-8' 'TERM=vt100|C' 'TERM=screen|C.UTF-8'; do
	open_view "env ${case%|*} LC_ALL=${case#*|} hpct-view view.hpct --depth 1"
	tm capture-pane -e -p -t v >coloured
	case $case in
	TERM=screen\|*) check "eight colours" grep -qE $'\e\[[0-9;]*4[0-7]m' coloured ;;
	*) check "$case: no colour: $(grep -oE $'\e\[[0-9;]*[34][0-9][0-9;]*m' coloured | head -n 2 | cat -v)" \
		[ "$(grep -cE $'\e\[([0-9]+;)*[34][0-8](;|m)' coloured)" -eq 0 ] ;;
	esac
	[ "${case#*|}" != C ] || check "ASCII alone" [ "$(LC_ALL=C tr -d '\000-\177' <coloured | wc -c)" -eq 0 ]
	tm send-keys -t v q
	shows 'ready>'
done

# A click comes as one piece over a slow line: button down and up; so do a key that means nothing and one that does.
open_view 'TERM=xterm-256color hpct-view view.hpct --depth 1'
tm send-keys -t v -l $'\e[<0;50;6M\e[<0;50;6m'
check "a click moves the cursor: $(tail -n 2 pane)" shows '> worker 1'
tm send-keys -t v -l $'\eOPk'
check "F1 and k: up again" shows '> main'
tm send-keys -t v q
shows 'ready>'

# What cannot be drawn on is said; where the picture stays, the shell has the last line for itself.
type_line 'clear; TERM=dumb hpct-view view.hpct; echo "code=$?"'
check "a terminal that cannot move its cursor" shows 'cannot move its cursor'
check "is wrong usage" shows 'code=2'
open_view 'TERM=vt100 hpct-view view.hpct --depth 1; echo "code=$?"'
tm send-keys -t v q
check "no key line behind the prompt" shows 'code=0'
tm capture-pane -p -t v >pane
check "no key line behind the prompt: $(grep code=0 pane)" grep -qx 'code=0' pane
type_line clear

# However it ends, in whichever view.
for view in '' 2 3 4 6 6G 8 '?' ':tim' /sol; do
	for signal in INT TERM HUP SEGV; do
		[ "$signal" = INT ] || [ -z "$view" ] || [ "$signal$view" = SEGV6 ] || continue
		open_view "hpct-view view.hpct --depth 1"
		[ -z "$view" ] || tm send-keys -t v "$view"
		sleep 0.1
		pid=$(pgrep -P "$(tm list-panes -t v -F '#{pane_pid}')" hpct-view)
		if [ "$signal" = INT ]; then tm send-keys -t v C-c; else kill "-$signal" "$pid"; fi
		check "$signal ends view '$view'" await ended "$pid"
		settings after
		same_file "terminal after $signal in view '$view'" before after
		check "tmux is alive" tm has-session -t v
	done
done

# Work that looks at nothing is ended too, and the terminal is given back: the view stopped is such work.
open_view "hpct-view view.hpct --depth 1"
pid=$(pgrep -P "$(tm list-panes -t v -F '#{pane_pid}')" hpct-view)
kill -INT "$pid" && kill -INT "$pid"
check "two signals end it" await ended "$pid"
settings after
same_file "terminal after two signals" before after
tm capture-pane -p -t v >pane
check "the shell's own screen is back" grep -q 'ready>' pane
