#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A storm of exceptions, libraries, forks, threads and signals at the highest rate, under every kind of trouble, for
# HPCT_STRESS_SECONDS (./build.sh stress asks for ten minutes). Nothing hangs, crashes or changes its output; a store
# always opens; what was kept and what was lost are what was raised. HPCT_STRESS_SEED repeats a run.
. "$(dirname -- "$0")/expect.sh"
storm=$samples/storm seconds=${HPCT_STRESS_SECONDS:-40} RANDOM=${HPCT_STRESS_SEED:-$$}
[ -x "$storm" ] || skip "built without a C++ compiler"
echo "seed ${HPCT_STRESS_SEED:-$$}"
rounds=12
declare -A wanted

want() { # SEED : what the storm prints by itself
	[ -n "${wanted[$1]-}" ] || wanted[$1]=$("$storm" $rounds "$1")
	echo "${wanted[$1]}"
}

# start SEED COMMAND... : the storm, recorded at 5000 a second in the background; $! is hpct-record
start() {
	local seed=$1
	shift
	rm -rf run.hpct
	"$@" timeout 300 hpct-record -o run.hpct -e CPUTIME@f5000 -- "$storm" $rounds "$seed" >out 2>err &
}

# Every process of the storm by name below hpct-record; the collector is none of its children.
storms() {
	local launcher
	launcher=$(pgrep -P "$1" -x hpct-record) && pgrep -P "$launcher" -x storm
}

catches_usr2() { # PID : before it does, a SIGUSR2 would end it
	local caught
	caught=$(awk '$1 == "SigCgt:" { print $2 }' "/proc/$1/status" 2>/dev/null)
	[ $((0x${caught:-0} & 0x800)) -ne 0 ]
}

collector() { # waits for the run, then prints the pid
	for _ in $(seq 100); do
		info run collector_pid 2>/dev/null | grep . && return
		sleep 0.05
	done
}

pause() { # some time within the storm
	sleep "$(awk "BEGIN { print 0.05 + $RANDOM / 32768 * 0.8 }")"
}

# ended SENTENCE SEED : as it ends by itself
ended() {
	local got=0
	wait "$!" || got=$?
	same "$1: exit code" 7 "$got"
	same "$1: output" "$(want "$2")" "$(cat out)"
	check "$1: stderr: $(head -n 3 err | xargs)" [ ! -s err ]
}

opens() { # SENTENCE
	hpct-info run.hpct --check >checked 2>&1 || fail "$1: the store is damaged: $(tail -n 1 checked)"
}

# Each signal became a sample, or several where it stands for several moments in the kernel (samples_shared), or was
# counted as lost; each thread's first and last record are samples without one.
balanced() { # SENTENCE
	hpct-info run.hpct --format tsv | tsv '{ n[$c["key"]] = $c["value"] }
		END {
			most = n["signals"] + n["samples_shared"] + 2 * n["threads"]
			have = n["samples"] + n["lost"] - n["switches_lost"]
			printf "raised %d, kept %d, lost %d, threads %d\n", n["signals"], n["samples"], n["lost"], n["threads"]
			exit !(n["signals"] > 0 && have <= most && have >= 0.99 * (n["signals"] + n["samples_shared"]))
		}' >balance || fail "$1: $(cat balance)"
}

trouble_none() {
	start "$1" env
	ended none "$1"
	opens none
	balanced none
}

trouble_signals() {
	local pid
	start "$1" env
	for _ in $(seq 40); do
		sleep 0.02
		for pid in $(storms "$!"); do
			catches_usr2 "$pid" && kill -USR2 "$pid" 2>/dev/null
		done
	done
	ended signals "$1"
	opens signals
	balanced signals
}

trouble_kill_program() {
	local got=0
	start "$1" env
	pause
	# shellcheck disable=SC2046 # several pids
	kill -KILL $(storms "$!" | head -n 1) 2>/dev/null # or it has ended already
	wait "$!" || got=$?
	check "killed: exit code $got" [ "$got" = 137 -o "$got" = 7 ]
	opens killed
}

trouble_kill_collector() {
	local collecting
	start "$1" env
	collecting=$(collector)
	pause
	[ -z "$collecting" ] || kill -KILL "$collecting" 2>/dev/null
	wait "$!"
	same "collector killed: exit code" 7 "$?"
	same "collector killed: output" "$(want "$1")" "$(cat out)"
	opens "collector killed"
}

# below LAUNCHER NAME : the pid of that program below hpct-record
below() { pgrep -P "$(pgrep -P "$1" -x hpct-record)" -x "$2"; }

# awaits LAUNCHER NAME TICKS : until that program below hpct-record has computed for so long, or is over
awaits() {
	local program ran
	until program=$(below "$1" "$2" | head -n 1) && [ -n "$program" ]; do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.05
	done
	while ran=$(awk '{ print $14 + $15 }' "/proc/$program/stat" 2>/dev/null) && [ "$ran" -lt "$3" ]; do sleep 0.05; done
}

# More samples than a ring holds, and nobody to empty it: the program begins once that is so.
trouble_overflow() {
	local collecting
	rm -rf run.hpct go && mkfifo go
	# shellcheck disable=SC2016 # for the inner shell
	timeout 300 hpct-record -o run.hpct -e CPUTIME@f10000 -- bash -c 'read -r _ <go; exec "$@"' - \
		"$samples/million" 3 1 10 >out 2>err &
	collecting=$(collector)
	awaits "$!" bash 0 # hpct-record has had the collector's word
	[ -z "$collecting" ] || kill -STOP "$collecting"
	echo >go
	[ -z "$collecting" ] || { awaits "$!" million 180; kill -CONT "$collecting"; }
	wait "$!"
	same "overflow: exit code" 0 "$?"
	same "overflow: output" 11 "$(cat out)"
	check "overflow: stderr: $(head -n 3 err | xargs)" [ ! -s err ]
	opens overflow
	balanced overflow
	check "overflow: nothing was lost" [ "$(info run lost)" -gt 0 ]
}

trouble_full_disk() {
	start "$1" bash -c 'ulimit -f 96; exec "$@"' -
	wait "$!"
	same "full disk: exit code" 7 "$?"
	same "full disk: output" "$(want "$1")" "$(cat out)"
	[ ! -e run.hpct ] || opens "full disk"
}

trouble_descriptors() {
	start "$1" bash -c 'ulimit -n 64; exec "$@"' -
	ended descriptors "$1"
	opens descriptors
	balanced descriptors
}

round=0
while [ "$SECONDS" -lt "$seconds" ] && [ "$failed" -eq 0 ]; do
	for trouble in none signals kill_program kill_collector overflow full_disk descriptors; do
		[ "$SECONDS" -lt "$seconds" ] || [ "$round" -eq 0 ] || break
		trouble_$trouble $((RANDOM % 3 + 1))
		echo "$SECONDS s: $trouble $(cat balance 2>/dev/null)"
		rm -f balance
	done
	round=$((round + 1))
done
