#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libunwind in our place finds what we find: the same call paths, in the same shares, nothing lost, the same output.
. "$(dirname -- "$0")/expect.sh"
[ -e "$HPCT_BIN/../lib/hpct/hpct-agent-libunwind.so" ] || skip "this build is without libunwind"

# paths RUN SHARE : the paths, by function, that have this share of the weight or more
paths() {
	hpct-slice "$1.hpct" --format tsv | tsv '
		$c["track"] == "samples" && $c["weight"] { n[$c["path"]] += $c["weight"]; all += $c["weight"] }
		END { for (p in n) if (n[p] >= '"$2"' * all) print p }' | sort
}

while read -r name arguments; do
	"$samples/$name" $arguments >bare.out 2>&1
	for unwinder in own libunwind; do
		run=$name-$unwinder
		code "$run" 0 hpct-record -o "$run.hpct" --unwinder $unwinder --sampler timer -- "$samples/$name" $arguments
		same "$run: lost" 0 "$(info "$run" lost)"
		check "$run: whole stacks: $(info "$run" partial_stacks) of $(sample_count "$run") partial" \
			calc "$(info "$run" partial_stacks) <= 0.01 * $(sample_count "$run") + 1"
		weights_agree "$run"
		paths "$run" 0.1 >"$run.large"
		paths "$run" 0.03 >"$run.paths"
	done
	# What is large in the one is not small in the other.
	check "$name: a path with a share" [ -s "$name-own.large" ]
	same "$name: paths of ours that libunwind has not" "" "$(comm -23 "$name-own.large" "$name-libunwind.paths")"
	same "$name: paths of libunwind's that we have not" "" "$(comm -23 "$name-libunwind.large" "$name-own.paths")"
done <<'END'
deep 1.5
templates 0.4
inline 1.5
END
code "it was asked for" 0 hpct-record -o said.hpct --unwinder libunwind -- true
check "the run says so: $(info said events)" grep -q 'UNWINDER=libunwind' <<<"$(info said events)"
code "no third one" 125 hpct-record --unwinder gcc -- true
sentence "no third one"
# A fork while another thread may be inside libunwind: the child goes on with ours.
code "children" 0 hpct-record -o forks.hpct --unwinder libunwind -- sh -c 'for i in 1 2 3 4 5; do (:; :) & done; wait; echo all'
same "children: stdout" all "$(cat out)"
