#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whatever makes the samples and however often, the weights of each thread add up to its CPU clock, and the summary
# tells what was asked, what came, and by which means.
. "$(dirname -- "$0")/expect.sh"

for sampler in auto timer trap overflow; do
	for rate in 1000 10000; do
		run=$sampler-$rate
		code "$run" 0 hpct-record -o "$run.hpct" --summary "$run.summary" --sampler "$sampler" \
			-e "CPUTIME@f$rate" -- "$samples/threads8" 0.01
		weights_agree "$run"
		same "$run: rate asked" "$rate" "$(info "$run" rate_asked)"
		check "$run: rate got" calc "$(info "$run" rate_got) > 0"
		grep -H "^rate .*asked $rate" "$run.summary" || fail "$run: the summary does not tell the rate"
	done
done
same "the timer was forced" timer "$(info timer-10000 sampler)"
[ "$(info trap-10000 sampler)" = trap ] || echo "no trap here, hence not tried: $(grep asked trap-10000.summary)"

code "the longest period" 0 hpct-record -o long.hpct -e CPUTIME@1000000000 -- "$samples/exits" return 0 0.1
same "the longest period: samples that came" 0 "$(info long signals)"
code "a longer one" 125 hpct-record -e CPUTIME@1000000001 -- true
sentence "a longer one"

# Of a program that was killed only the samples know its CPU time.
code "killed" 137 hpct-record -o killed.hpct --summary killed.summary -- "$samples/exits" signal 9 0.3
check "killed: rate got $(info killed rate_got)" calc "$(info killed rate_got) > 0"
check "killed: the summary does not tell the rate: $(cat killed.summary)" grep -q '^rate [1-9]' killed.summary

code "a perf event by its own name" 0 hpct-record -o clock.hpct -e task-clock@1000000 -- "$samples/threads8" 0.01
weights_agree clock
check "its metric is named as the event" grep -q 'task-clock:incl' <<<"$(hpct-profile clock.hpct --format tsv | head -n 1)"

code "two time sources" 125 hpct-record -e CPUTIME -e task-clock -- true
sentence "two time sources"
code "two time sources, forced" 0 hpct-record -o two.hpct --force -e CPUTIME -e task-clock@1000000 -- "$samples/threads8" 0.01
weights_agree two
