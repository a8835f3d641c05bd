#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-record stands between a program and who started it, and neither may notice: what is inherited, what is
# sent, who joins a run.
. "$(dirname -- "$0")/expect.sh"
need perl timeout

got=0
sh -c 'trap "" CHLD; exec hpct-record -o ignored.hpct -- sh -c "exit 7"' || got=$?
same "SIGCHLD ignored: exit code" 7 "$got"
got=0
perl -e 'alarm 1; exec @ARGV' hpct-record -o alarm.hpct -- sleep 20 2>err || got=$?
same "an alarm set before the exec reaches the program" 142 "$got"
same "nothing is said about it" "" "$(grep -v Alarm err)"
got=0
timeout 1 hpct-record -o timeout.hpct -- sleep 20 2>err || got=$?
same "timeout ends the program" 124 "$got"
same "timeout: nothing is said" "" "$(cat err)"
got=0
hpct-record -o closed.hpct -- sh -c 'for fd in 0 1 2; do [ ! -e /proc/self/fd/$fd ] || exit 1; done; exit 9' \
	<&- >&- 2>&- || got=$?
same "closed descriptors stay closed" 9 "$got"
same "closed descriptors: the run is whole" complete "$(info closed state)"

# The inner recording wins.
hpct-record -o outer.hpct -- hpct-record -o inner.hpct -- "$samples/exits" return 0
check "a recording in a recording has samples" [ "$(sample_count inner)" -gt 2 ]
same "it is whole" complete "$(info inner state)"

# Ranks of one launch share a run, also those that come late; another launch is refused.
for rank in 0 1 2; do
	PMIX_NAMESPACE=job@1 PMIX_RANK=$rank hpct-record -o ranks.hpct -- sleep 0.3 &
done
wait
ranks_are_whole() { [ "$(info ranks state)" = complete ]; }
check "the first ones' collector ends" await ranks_are_whole
PMIX_NAMESPACE=job@1 PMIX_RANK=3 hpct-record -o ranks.hpct -- true
same "ranks in one run" "0 1 2 3" "$(hpct-info ranks.hpct --streams --format tsv |
	tsv '$c["kind"] == "cpu" { print $c["rank"] }' | sort -un | paste -sd' ')"
# What each store's collector has summed up is summed up, and a rank that failed is not hidden by one that did not.
check "the late one has a store of its own" calc "$(info ranks stores) >= 2"
same "processes of all stores" 4 "$(info ranks processes)"
same "threads of all stores" 4 "$(info ranks threads)"
same "sampled CPU time of all stores" "$(weight_sum ranks)" "$(info ranks sampled_cpu_ns)"
for rank in 0 1; do
	PMIX_NAMESPACE=job@3 PMIX_RANK=$rank hpct-record -o fails.hpct -- "$samples/exits" return $((rank * 7))
	is_whole() { [ "$(info fails state)" = complete ]; }
	await is_whole
done
same "exit code of the rank that failed" 7 "$(info fails exit)"

# torchrun's ranks, as each of its children learns them; the name alone is anybody's.
rank_of() { hpct-info "$1.hpct" --streams --format tsv | tsv '$c["pid"] { print $c["rank"] }' | sort -u | paste -sd' '; }
MASTER_ADDR=node RANK=5 WORLD_SIZE=8 SLURM_PROCID=1 hpct-record -o torch.hpct -- true
same "torchrun's rank" 5 "$(rank_of torch)"
RANK=5 hpct-record -o anybody.hpct -- true
same "a RANK without a world" "" "$(rank_of anybody)"
SLURM_PROCID=1 hpct-record -o slurm.hpct -- true
same "Slurm's rank" 1 "$(rank_of slurm)"

code "another launch" 125 env PMIX_NAMESPACE=job@2 hpct-record -o ranks.hpct -- true
for _ in 1 2; do
	PBS_JOBID=7 hpct-record -- true
done
same "two programs of one job" 2 "$(find . -maxdepth 1 -name 'true-7*.hpct' | wc -l)"
