#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that writes a run and is interrupted leaves nothing that looks like one, and nothing else either.
. "$(dirname -- "$0")/expect.sh"
hpct-simulate -o run.hpct --shape gpu --records 3000000 --streams 4
mkfifo pipe

seen='place/.new.hpct.*' # the new run's hidden directory

is_begun() { compgen -G "$seen" >/dev/null || ! kill -0 "$pid" 2>/dev/null; }

# interrupt SIGNAL COMMAND... : once what $seen names is there. On a busy machine it may have ended before the signal
# comes: then once more.
interrupt() {
	local signal=$1 try=0 got=0
	shift
	while [ "$got" -eq 0 ] && [ $((try += 1)) -le 10 ]; do
		rm -rf place && mkdir place
		nice -n 19 "$@" -o place/new.hpct 2>err <pipe &
		pid=$!
		exec 7>pipe
		printf 'stream\ttrack\tbegin_ns\tend_ns\tpath\top\tbytes\tweight\tmetric\tvalue\tattributes\n' >&7
		await is_begun
		kill -s "$signal" "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null || got=$?
		exec 7>&-
	done
	same "$*: ends by the signal" "$((128 + $(kill -l "$signal")))" "$got"
	same "$*, SIG$signal: what is left" "" "$(ls -A place)"
	rm -rf place
}

for signal in TERM HUP; do
	interrupt $signal hpct-slice run.hpct
done
interrupt TERM hpct-import --from tsv -
seen='place/.new.hpct.*/*.mdz.tmp' interrupt TERM hpct-slice run.hpct --archive
# Killed outright it cannot clear away; what it leaves does not look like a run.
got=0
for _ in $(seq 10); do
	rm -rf place && mkdir place
	nice -n 19 hpct-slice run.hpct -o place/new.hpct &
	pid=$!
	await is_begun
	kill -KILL "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null || { got=$? && break; }
done
same "killed" 137 "$got"
same "killed: runs to be seen" "" "$(ls place)"
