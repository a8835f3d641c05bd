#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 at random moments, of the program, of the collector, of hpct-record and of several at once, with threads, exec
# chains, GPU queues, flight recordings, slow disks and live readers, one of which sleeps: what is left opens, is sound, says that it
# was cut short, and has every mark that the program set, but for the last second where the collector died.
# HPCT_KILLS=N kills so often (./build.sh stress --kills 200), HPCT_SEED repeats a series.
# A busy disk is no kill: memory's, where it is there and nothing else was said; slow_disk.c is slow by itself.
[ -n "${TMPDIR-}" ] || [ ! -w /dev/shm ] || export TMPDIR=/dev/shm
. "$(dirname -- "$0")/expect.sh"
counted=$HPCT_SAMPLES/../tests/counted kills=${HPCT_KILLS:-10} seed=${HPCT_SEED:-$$}
RANDOM=$seed
echo "HPCT_SEED=$seed"
opencl=
[ -x "$samples/opencl" ] && "$samples/opencl" plain >/dev/null 2>&1 && opencl=$samples/opencl
export opencl counted

collector_of() { # the run's: it has its store mapped
	grep -ls "$work/run.hpct/" /proc/[0-9]*/maps 2>/dev/null | cut -d/ -f3 | while read -r pid; do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != hpct-collector ] || echo "$pid"
	done | head -n 1
}

readers() { # for as long as the run is there
	hpct-slice run.hpct --format tsv 2>/dev/null | (sleep 3 && wc -l) >/dev/null &
	while [ -e reading ]; do
		hpct-info run.hpct --streams --format tsv >reader.out 2>reader.err
		hpct-profile run.hpct --format tsv >reader.out 2>>reader.err
		hpct-view run.hpct --print 80x24 >reader.out 2>>reader.err
		hpct-stats run.hpct --time -1s.. --format tsv >reader.out 2>>reader.err
		sleep 0.1
	done
	wait
}

# Each mark's beats, the store's against the program's: how many ns before the kill the first one was that is missing
# (0: none is).
lag() { # KILLED_NS
	hpct-slice run.hpct --op mark --format tsv | tsv 'match($c["attributes"], /name=beat[0-9]+/) {
		print "have\t" substr($c["attributes"], RSTART + 5, RLENGTH - 5) }' >marks
	"$counted" --print beats | awk -F '\t' -v killed="$1" '
		FILENAME == "marks" { have[$2]++; next }
		have[$1] + 1 < NF { late = killed - $(have[$1] + 2); if (late > most) most = late }
		END { printf "%.0f\n", most }' marks -
}

has_ended() { [ "$(info run state)" != recording ]; }

# one WHOM : of launcher, collector, program
one() {
	local whom=$1 options=() threads=$((1 + RANDOM % 8)) execs=$((RANDOM % 3)) ms=$((500 + RANDOM % 2500)) gpu='' launcher
	local lasts=$ms
	local collector program before killed waited allowed late pids=() reading='' slow=()
	rm -rf run.hpct beats reading
	[ $((RANDOM % 4)) -ne 0 ] || options+=(--keep 1s)
	[ $((RANDOM % 2)) -ne 0 ] || options+=(-e CPUTIME@f2000)
	[ $((RANDOM % 4)) -ne 0 ] || gpu=$opencl
	# A program that is killed goes on until then, every other time: a busy machine may come late.
	[[ $whom == launcher ]] || [ $((RANDOM % 2)) -ne 0 ] || lasts=600000
	[ $((RANDOM % 3)) -ne 0 ] || slow=(env "LD_PRELOAD=${counted%/*}/slow_disk.so")
	# shellcheck disable=SC2016 # expanded below
	"${slow[@]}" hpct-record "${options[@]}" -o run.hpct -- bash -c '[ -z "$1" ] || "$1" plain >/dev/null & exec "$counted" beats "$2" "$3" "$4"' \
		- "$gpu" "$threads" "$execs" "$lasts" 2>record.err &
	launcher=$!
	opened() { collector=$(collector_of); [ -n "$collector" ] || ! kill -0 "$launcher" 2>/dev/null; }
	await opened || { fail "no collector" && return; }
	if [ -z "$collector" ]; then # looking for it took longer than the run
		wait
		same "nobody killed: state" complete "$(info run state)"
		return
	fi
	if [ $((RANDOM % 2)) -eq 0 ]; then
		reading=1
		touch reading
		readers &
	fi
	before=$("$counted" --waited "$collector")
	sleep "$(awk "BEGIN { print $RANDOM / 32768 * ($ms + 300) / 1000 }")"
	program=$(pgrep -P "$launcher" -x "counted|bash")
	[[ $whom != *collector* ]] || pids+=("$collector")
	[[ $whom != *launcher* ]] || pids+=("$launcher")
	[[ $whom != *program* ]] || pids+=($program)
	read -r killed waited < <("$counted" --kill "${pids[@]}")
	if [[ $whom == *collector* ]]; then
		kill -KILL $program 2>/dev/null
		allowed=$((1000000000 + (waited > before ? waited - before : 0)))
	else
		allowed=0
	fi
	wait "$launcher" 2>/dev/null
	rm -f reading
	await has_ended || fail "it is recorded on"
	wait
	code "$whom: --check" 0 hpct-info --check run.hpct
	late=$(lag "$killed")
	printf '%s\t%s\t%s\t%s\t%d\t%s ms late\n' "$whom" "$(info run state)" "${options[*]}" "$threads/$execs${gpu:+/gpu}${reading:+/readers}${slow[0]:+/slow}" \
		"$(sample_count run)" "$((late / 1000000))" | tee line
	[ "$late" -le "$allowed" ] || fail "$whom: $(cat line): allowed are $((allowed / 1000000)) ms"
	[[ $whom == *collector* ]] || same "$whom: state" complete "$(info run state)"
	same "$whom: what is left beside the store" "" "$(ls -A run.hpct | grep -v '\.mdb$\|\.mdb-lock$\|^launch$\|^cache')"
	[ "$failed" -eq 0 ] || [ -z "${HPCT_KEEP-}" ] || exit
}

who=(collector program "launcher collector" "collector program" launcher "launcher collector program")
for ((i = 0; i < kills; i++)); do
	one "${who[i % ${#who[@]}]}"
done
