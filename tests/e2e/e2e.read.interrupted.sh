#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that writes a run and is interrupted leaves nothing that looks like one, and nothing else either.
. "$(dirname -- "$0")/expect.sh"
hpct-simulate -o run.hpct --shape gpu --records 3000000 --streams 4
mkfifo pipe

# interrupt SIGNAL COMMAND... : once the new run's hidden directory is there
interrupt() {
	local signal=$1 pid got=0
	shift
	mkdir -p place
	"$@" -o place/new.hpct 2>err <pipe &
	pid=$!
	exec 7>pipe
	printf 'stream\ttrack\tbegin_ns\tend_ns\tpath\top\tbytes\tweight\tmetric\tvalue\tattributes\n' >&7
	for _ in $(seq 1000); do
		compgen -G 'place/.new.hpct.*' >/dev/null && break
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.01
	done
	check "$*: nothing was begun: $(ls -A place)" compgen -G 'place/.new.hpct.*' >/dev/null
	kill -s "$signal" "$pid"
	wait "$pid" 2>/dev/null || got=$?
	exec 7>&-
	same "$*: ends by the signal" "$((128 + $(kill -l "$signal")))" "$got"
	same "$*, SIG$signal: what is left" "" "$(ls -A place)"
	rm -rf place
}

for signal in TERM HUP; do
	interrupt $signal hpct-slice run.hpct
done
interrupt TERM hpct-import --from tsv -
# Killed outright it cannot clear away; what it leaves does not look like a run.
mkdir place
hpct-slice run.hpct -o place/new.hpct &
pid=$!
for _ in $(seq 1000); do
	compgen -G 'place/.new.hpct.*' >/dev/null && break
	sleep 0.01
done
kill -KILL $pid
wait $pid 2>/dev/null
same "killed: runs to be seen" "" "$(ls place)"
