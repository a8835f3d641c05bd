#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Places where nothing can be made: who records there runs the program all the same, and whoever writes a file there is
# told its path, the reason and what to do, in one sentence. Nothing half written stays behind.
. "$(dirname -- "$0")/expect.sh"
need setpriv
chmod 755 "$work"
record good -- "$samples/exits" return 0 || fail "recording"
chmod -R go+rX good.hpct
hpct-slice good.hpct --format tsv >rows.tsv || fail "rows"
mkdir forbidden plain && echo words >file
user="setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_RUNTIME_DIR -u XDG_CACHE_HOME HOME=/"

refused() { # PLACE REASON ADVICE [WORD...] : each program that makes something, by WORDs
	local place=$1 reason=$2 advice=$3
	shift 3
	code "$place: record" 7 "$@" hpct-record -o "$place/r.hpct" -- "$samples/exits" return 7
	told record "$place" "$reason" "$advice"
	code "$place: record --strict" 125 "$@" hpct-record --strict -o "$place/r.hpct" -- true
	told "record --strict" "$place" "$reason" "$advice"
	code "$place: slice" 5 "$@" hpct-slice good.hpct -o "$place/s.hpct"
	told slice "$place" "$reason" "$advice"
	code "$place: archive" 5 "$@" hpct-slice good.hpct -o "$place/s.hpct" --archive
	told archive "$place" "$reason" "$advice"
	code "$place: import" 5 "$@" hpct-import --from tsv rows.tsv -o "$place/i.hpct"
	told import "$place" "$reason" "$advice"
	code "$place: simulate" 5 "$@" hpct-simulate -o "$place/m.hpct"
	told simulate "$place" "$reason" "$advice"
	for format in tsv folded chrome; do
		code "$place: export to $format" 5 "$@" hpct-export good.hpct --to $format -o "$place/$format"
		told "export to $format" "$place" "$reason" "$advice"
	done
}
told() { # WHO PLACE REASON ADVICE : in ./err
	sentence "$2: $1"
	check "$2: $1: $(cat err)" grep -qE "$2/.*$3.*; $4.* with -o" err
}

refused nowhere 'No such file' 'make its directory first'
refused file 'Not a directory' 'a file is where a directory should be'
# shellcheck disable=SC2086
if $user test -x "$HPCT_BIN/hpct-record" 2>/dev/null; then
	refused forbidden 'Permission denied' 'choose a place that can be written' $user
	same "left in forbidden" "" "$(ls -A forbidden)"
	cp -r good.hpct own.hpct && chmod 700 own.hpct
	code "a run of somebody else's" 4 $user hpct-info own.hpct
	sentence "a run of somebody else's"
	check "a run of somebody else's: $(cat err)" grep -q 'let others read it: chmod -R go+rX own.hpct$' err
fi
code "a summary that cannot be written" 0 hpct-record -o said --summary nowhere/summary -- true
sentence "a summary that cannot be written"
check "it is in the run: $(cat err)" grep -q 'nowhere/summary: No such.*hpct-info .*said.hpct' err
for name in / . .. plain/.. plain/. ''; do
	code "-o '$name' is no name" 125 hpct-record -o "$name" -- true
	sentence "-o '$name' is no name"
	check "-o '$name': $(cat err)" grep -qE 'needs a name, such as .*true\.hpct$' err
done
if mkdir ro && mount -t tmpfs -o ro none ro 2>/dev/null; then
	undo='umount -l ro; umount -l full 2>/dev/null'
	refused ro 'Read-only file system' 'choose a place that can be written'
fi
if mkdir full && mount -t tmpfs -o size=8k none full 2>/dev/null; then
	head -c 8192 /dev/zero >full/fill
	refused full 'No space left' 'make room, or choose another place'
	hpct-view good.hpct --print 80x24 --keys ':csv full/a.csv<Enter>' >screen
	check "the view says it: $(tail -n 2 screen)" grep -q 'cannot write full/a.csv: No space' screen
	hpct-view good.hpct --print 80x24 --keys ':picture full/a.svg<Enter>' >screen
	check "the view says it: $(tail -n 2 screen)" grep -q 'cannot write full/a.svg: No space' screen
	same "left in full" "fill" "$(ls -A full)"
fi
