#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No answer depends on how a run lies in its store: random runs with many records of one time and `monitored` spans that
# contradict each other; as they came, from rows in another order (other ids, other buckets), as slices and as archives.
# HPCT_SEED=N is one of them, HPCT_ROUNDS how many.
. "$(dirname -- "$0")/expect.sh"
need python3
first=${HPCT_SEED:-13} rounds=${HPCT_ROUNDS:-4}
[ -z "${HPCT_SEED-}" ] || rounds=1

questions=("stacks" "export --to folded" "export --to chrome" "slice" "blame --late" "blame --findings" "blame --summary"
	"blame" "blame --of cpu-idle" "blame --of cpu-idle-cause --by path" "blame --of gpu-idle --by path" "blame --gaps"
	"blame --imbalance" "blame --by mark" "blame --of waiting --by path" "blame --of serial" "blame --of gpu-idle-sampled"
	"blame --of all-idle --by path" "stats --operations" "profile --no-rollups" "profile --metric REALTIME,BLOCKED" "profile --format table")
for view in top-down bottom-up flat; do questions+=("profile --view $view"); done
for by in function path module line stream op; do questions+=("stats --by $by"); done
questions+=("stats --by path --no-rollups" "info --streams")
# ask RUN WINDOW : all answers, whole and in the window, with their exit codes
ask() {
	local question format
	for question in "${questions[@]}"; do
		format="--format tsv"
		case $question in *--to* | *table) format= ;; esac
		# shellcheck disable=SC2086 # words
		hpct-$question "$1.hpct" $format 2>&1
		echo "$question: $?"
		case $question in stacks | info*) continue ;; esac
		# shellcheck disable=SC2086
		hpct-$question "$1.hpct" $format --time "$2" 2>&1
		echo "$question $2: $?"
	done
	hpct-stacks "$1.hpct" --at "${2%%..*}" 2>&1
	hpct-view "$1.hpct" --print 100x30 2>&1
	hpct-info "$1.hpct" --format tsv | grep -v '^\(bytes\|archived\)'
}

for seed in $(seq "$first" $((first + rounds - 1))); do
	rm -rf -- *.hpct
	window=$(python3 "$HPCT_SOURCE/tests/e2e/layout_rows.py" "$seed" rows.tsv shuffled.tsv)
	hpct-import --from tsv rows.tsv -o orig.hpct && hpct-import --from tsv shuffled.tsv -o rows.hpct || fail "import"
	hpct-slice orig.hpct -o part.hpct && hpct-slice rows.hpct -o both.hpct || fail "slice"
	hpct-slice orig.hpct --archive -o pack.hpct || fail "archive"
	ask orig "$window" | sed 's/orig\.hpct/RUN/g' >want
	for run in rows part both pack; do
		ask "$run" "$window" | sed "s/$run\.hpct/RUN/g" >got
		same_file "HPCT_SEED=$seed: answers of '$run'" want got
	done
done

# Of contexts that are blamed alike for a step, the same one is named.
cat >steps.tsv <<'END'
stream	track	begin_ns	end_ns	path	op	attributes
cpu:h/-/1.0/0	samples	0		main;a		
cpu:h/-/1.0/1	samples	0		main;b		
cpu:h/-/1.0/2	samples	0		main;c		
cpu:h/-/1.0/0	spans	0	200		monitored	
cpu:h/-/1.0/1	spans	0	200		monitored	
cpu:h/-/1.0/2	spans	0	200		monitored	
cpu:h/-/1.0/0	spans	0	0		mark	name=step
gpu:h/-/1.0/0/0/0	spans	0	20	main;k	kernel	
gpu:h/-/1.0/0/0/0	spans	180	200	main;k	kernel	
END
cat >waits.tsv <<'END'
stream	track	begin_ns	end_ns	path	op	attributes
cpu:h/-/1.0/0	spans	0	90	main;a	blocked	
cpu:h/-/1.0/1	spans	0	90	main;b	blocked	
cpu:h/-/1.0/2	spans	0	90	main;c	blocked	
cpu:h/-/1.0/0	spans	0	0		mark	name=step
END
for rows in steps waits; do
	(head -n 1 $rows.tsv && tail -n +2 $rows.tsv | tac) >back.tsv
	rm -rf -- *.hpct
	hpct-import --from tsv $rows.tsv -o forth.hpct && hpct-import --from tsv back.tsv -o back.hpct || fail "import of $rows"
	hpct-blame forth.hpct --by mark --format tsv >want && hpct-blame back.hpct --by mark --format tsv >got || fail "blame"
	same_file "$rows, from the last row on" want got
done
