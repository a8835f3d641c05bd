#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Stacks that a program has made itself are whole where they end: at the first function of a fiber. By libunwind, too,
# where it can know.
. "$(dirname -- "$0")/expect.sh"

[ "$(uname -m)" = x86_64 ] || skip "its fibers are x86-64's"
fibers=$HPCT_BIN/../tests/fibers
for seconds in 1.5 6; do # a busy machine takes few samples, and so does one with a slow tick
	record fibers --overwrite -e CPUTIME@f1000 -- "$fibers" $seconds >out || fail "fibers does not end well"
	[ "$(sample_count fibers)" -lt 300 ] || break
done
same "stdout" "all ran" "$(cat out)"
same "lost" 0 "$(info fibers lost)"
hpct-slice fibers.hpct --format tsv | tsv '$c["track"] == "samples" && $c["weight"] > 0 { print $c["path"] }' >paths
samples=$(wc -l <paths)
check "enough samples: $samples" [ "$samples" -gt 100 ]
for path in 'context_fiber;spin' 'zero_fiber;spin' 'entry_fiber;spin' 'finish_fiber;spin' 'main;owner;popped' \
	'main;host;\[anonymous code of fibers\]'; do
	count=$(grep -cE "^(__start_context;)?$path(;|$)" paths)
	check "whole paths that end at $path: $count of $samples" [ "$count" -ge $((samples / 12)) ]
done
partial=$(info fibers partial_stacks)
check "partial stacks: $partial of $samples: $(grep '<partial>' paths | head -n 3)" [ "$partial" -le $((samples / 100)) ]

[ -e "$HPCT_BIN/../lib/hpct/hpct-agent-libunwind.so" ] || exit 0
code "libunwind" 0 hpct-record -o judge.hpct --unwinder libunwind --sampler timer -- "$fibers" 1
hpct-slice judge.hpct --format tsv | tsv '$c["track"] == "samples" && $c["weight"] > 0 { print $c["path"] }' >paths
check "libunwind: whole paths that end at 0: $(sort paths | uniq -c | head -n 9)" grep -q '^zero_fiber;spin' paths
same "libunwind: partial paths of this fiber" 0 "$(grep -c '^<partial>.*zero_fiber' paths)"
