#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A store that is cut short while it is read, as by a copy over it: what has mapped it would die by SIGBUS. One sentence
# that names the file, the code of failed reading, and nothing left behind; by several processes and by the view, too.
# And what is no file where one is looked for: nobody waits for it.
. "$(dirname -- "$0")/expect.sh"
hpct-simulate -o run.hpct --shape mixed --streams 8 --records 300000 || fail "simulate"
store=$(echo run.hpct/*.mdb)
cp "$store" whole
cp -r run.hpct $'odd\x9b.hpct'
mkfifo rows

said() { # WHAT : ./err; what a terminal obeys in $store is ?
	sentence "$1"
	check "$1: it does not say which file: $(cat -v err)" grep -qF \
		"'$work/${store//$'\x9b'/?}' was cut short while it was read" err
}
# Its answer does not fit a pipe: it has begun, and has more to read.
cut() { # WHAT COMMAND... : it writes into ./rows
	local what=$1 got=0
	shift
	"$@" >rows 2>err &
	pid=$!
	exec 7<rows
	head -c 1000 <&7 >begun
	truncate -s 8192 "$store"
	cat <&7 >rest
	exec 7<&-
	wait "$pid" || got=$?
	cat whole >"$store"
	same "$what: exit code" 5 "$got"
	said "$what"
}
cut "a slice" hpct-slice run.hpct --format tsv --jobs 1
cut "a slice by several" hpct-slice run.hpct --format tsv --jobs 3
cut "an export" hpct-export run.hpct --to chrome
store=$(echo $'odd\x9b.hpct'/*.mdb)
cut "a name that a terminal obeys" hpct-slice $'odd\x9b.hpct' --format tsv --jobs 1
store=$(echo run.hpct/*.mdb)

# A signal that somebody sends has nothing to do with a file.
got=0
hpct-slice run.hpct --format tsv >rows 2>err &
pid=$!
exec 7<rows
head -c 1000 <&7 >begun
kill -BUS "$pid"
wait "$pid" 2>job || got=$?
exec 7<&-
same "kill -BUS: exit code" 135 "$got"
same "kill -BUS: what is said" "" "$(cat err)"

# A new run is in its hidden directory while it is made. It may be whole before anything is cut: then once more.
hpct-simulate -o large.hpct --shape mixed --streams 8 --records 1500000 || fail "simulate"
store=$(echo large.hpct/*.mdb)
cp "$store" whole
is_begun() { compgen -G 'place/.new.hpct.*' >/dev/null || ! kill -0 "$pid" 2>/dev/null; }
got=0
for _ in $(seq 10); do
	rm -rf place && mkdir place
	nice -n 19 hpct-slice large.hpct -o place/new.hpct 2>err &
	pid=$!
	await is_begun
	truncate -s 8192 "$store"
	wait "$pid" || { got=$? && break; }
	cat whole >"$store"
done
cat whole >"$store"
same "a new run: exit code" 5 "$got"
said "a new run"
same "a new run: what is left" "" "$(ls -A place)"

# What is no file.
mkfifo run.hpct/marks.tsv
for _ in 1 2; do
	code "a pipe for bookmarks" 2 timeout 60 hpct-stats run.hpct --time @none..
	code "a pipe for bookmarks, blame" 0 timeout 60 hpct-blame run.hpct --by mark
	rm run.hpct/marks.tsv
	ln -s /dev/zero run.hpct/marks.tsv
done

# The view: the terminal is what it was.
terminal 120 36
type_line "stty -a >before"
type_line "hpct-view large.hpct 2>err; echo code=\$?; stty -a >after"
check "the view opens: $(head -n 5 pane)" shows 'rank 0'
truncate -s 8192 "$store"
for _ in $(seq 20); do
	tm send-keys -t v w
	pane_has 'code=' && break
done
check "the view ends: $(cat pane)" shows 'code=5'
await [ -s after ]
same_file "terminal settings before and after" before after
said "the view"
