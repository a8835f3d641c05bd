#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Wait states of MPI by both libraries: mpi_waits.c plants one in each run and prints how much later the late rank came.
# The state, the rank that waits, the late one and what it did are named; at least 95 % of what the program measured
# counts. The order is asserted, never a time.
. "$(dirname -- "$0")/expect.sh"
here=$HPCT_SOURCE/tests/e2e tried=0
export OMPI_MCA_btl_vader_single_copy_mechanism=none

launch() { # LIBRARY ARGUMENT... : two ranks, wherever there is a core
	local library=$1 options=()
	shift
	[ "$library" = openmpi ] && options=(--allow-run-as-root --oversubscribe)
	timeout 300 "mpirun.$library" "${options[@]}" -n 2 "$@" </dev/null
}

# planted LIBRARY STATE NAME WAITER LATE
planted() {
	local run=$1.$2 truth
	launch "$1" hpct-record -o "$run.hpct" -- "./waits.$1" "$2" >"$run.out" 2>"$run.err" ||
		{ fail "$run: does not end well" && head -n 5 "$run.err"; return; }
	truth=$(cat "$run.out")
	hpct-blame "$run.hpct" --of mpi-wait --format tsv | tsv '
		$c["key"] == "'"$3"'" && $c["path"] ~ /turn;/ {
			print $c["waiter"] "\t" $c["late"] "\t" $c["blame_ns"] "\t" $c["delay_path"] }' >"$run.rows"
	same "$run: who waits for whom" "$4	$5" "$(head -n 1 "$run.rows" | cut -f 1,2)"
	check "$run: $(cut -f 3 "$run.rows" | head -n 1) of $truth ns" awk -F '\t' -v truth="$truth" '
		NR == 1 { exit !($3 >= 0.95 * truth - 3e6 && $3 <= 1.05 * truth + 3e6) }' "$run.rows"
}

# hangs LIBRARY : rank 1 never comes to the second barrier, and hpct-stacks says so, while the other waits and after both
# were killed.
hangs() {
	local run=$1.hang launched pid
	launch "$1" hpct-record -o "$run.hpct" -- "./waits.$1" hang >"$run.out" 2>"$run.err" &
	launched=$!
	await eval "[ \$(grep -c pid $run.out) -eq 2 ]" || fail "$run: it does not begin"
	await eval "hpct-stacks $run.hpct 2>/dev/null | grep -q \"^MPI_Barrier.*rank 1 has not come, its last\"" || fail "$run: nobody is missing"
	same "$run: who has not come" "MPI_Barrier 2 of world: 1 is in it; rank 1 has not come, its last was MPI_Barrier 1" \
		"$(hpct-stacks "$run.hpct" | grep ^MPI_Barrier | sed 's/ since [^:]*:/:/')"
	for pid in $(awk '{ print $2 }' "$run.out"); do
		kill -KILL "$pid" 2>/dev/null
	done
	wait "$launched"
	same "$run: who had not come" "MPI_Barrier 2 of world: 1 is in it; rank 1 has not come, its last was MPI_Barrier 1" \
		"$(hpct-stacks "$run.hpct" --at -1ms | grep ^MPI_Barrier | sed 's/ since [^:]*:/:/')"
	same "$run: the call that never ended" 1 "$(hpct-slice "$run.hpct" --op mpi --format tsv | grep -c 'seq=2,unfinished=1')"
}

for library in openmpi mpich; do
	command -v "mpicc.$library" >/dev/null && command -v "mpirun.$library" >/dev/null || continue
	"mpicc.$library" -O2 -g -o "waits.$library" "$here/mpi_waits.c" 2>log || continue
	launch "$library" "./waits.$library" late_sender >bare 2>&1 || continue
	tried=$((tried + 1))
	planted $library late_sender "late sender" "rank 0" "rank 1"
	planted $library nonblocking "late sender" "rank 0" "rank 1"
	planted $library late_receiver "late receiver" "rank 1" "rank 0"
	planted $library wait_at_barrier "wait at barrier" "rank 0" "rank 1"
	planted $library wait_at_n_to_n "wait at n-to-n" "rank 0" "rank 1"
	planted $library late_broadcast "late broadcast" "rank 1" "rank 0"
	planted $library early_reduce "early reduce" "rank 0" "rank 1"
	hangs $library
	same "$library: messages" "rank 1	rank 0	5	20" \
		"$(hpct-blame $library.late_sender.hpct --matrix --format tsv | sed 1d | cut -f 1-4)"
	hpct-blame $library.late_sender.hpct --matrix --svg >matrix.svg
	check "$library: the picture" grep -q "rank 1 to rank 0: 5 messages, 20 bytes" matrix.svg
	hpct-blame $library.wait_at_n_to_n.hpct --critical-path --by rank --format tsv >ranks
	check "$library: what the late rank did is on the critical path: $(xargs <ranks)" awk -F '\t' \
		-v truth="$(cat $library.wait_at_n_to_n.out)" '$1 == "rank 1" { n = $2 } END { exit !(n >= 0.9 * truth - 3e6) }' ranks
done
# A longest wait without a sample of the late rank's work says what was sampled before.
check "what made it late is told in most runs" [ "$(grep -lE ';late(;|$)' ./*.rows | wc -l)" -ge $((tried * 4)) ]
[ $tried -gt 0 ] || skip "no MPI compiler and launcher that run here"
