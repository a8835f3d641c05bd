#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sums by several processes, forked ones and the ranks of both MPIs, over the stores of several hosts: the same bytes
# as from one.
. "$(dirname -- "$0")/expect.sh"

hpct-simulate -o hosts.hpct --shape mixed --streams 9 --records 20000 || fail "simulate"
for host in 2 3; do # further hosts: stores of their own in the run
	hpct-simulate -o host.hpct --shape mixed --streams 7 --records 9000 --seed "$host" || fail "simulate"
	mv host.hpct/*.mdb "hosts.hpct/node0$host-$host.mdb"
	rm -rf host.hpct
done
hpct-simulate -o odd.hpct --shape odd --records 3000 || fail "simulate odd"
same "stores" 3 "$(info hosts stores)"
# Samples, and what counters have come by: two sums of one question.
awk 'BEGIN {
	print "stream\ttrack\tbegin_ns\tpath\tweight\tmetric\tvalue"
	for (i = 0; i < 700; i++) {
		printf "cpu:h/-/1.0/%d\tsamples\t%d\tmain;f%d\t7\tCPUTIME\t\n", i % 7, i, i % 13
		printf "cpu:h/-/1.0/%d\tvalues\t%d\tmain;f%d\t\tfaults\t%d\n", i % 7, i, i % 11, i % 5
	}
}' >counted.tsv
hpct-import --from tsv counted.tsv -o counted.hpct || fail "import"

questions=("stats --by path" "stats --by stream" "stats --by op --time 1s..3s" "profile" "profile --view flat --time 500ms..2s"
	"profile --metric REALTIME,BLOCKED" "stats --metric REALTIME,BLOCKED" "stacks" "info" "diff odd.hpct" "diff odd.hpct --by path --time 1s..3s"
	"blame --of gpu-idle --by path" "blame --summary --time 500ms..2s" "blame --of gpu-idle-sampled" "blame --of all-idle"
	"blame --of gpu-idle --group all" "blame --gaps --top 9" "blame --by mark" "blame" "blame --late" "blame --findings")
# ask OUT COMMAND... : every question to both runs, with the exit codes
ask() {
	local out=$1 question run
	shift
	for run in hosts odd; do
		for question in "${questions[@]}"; do
			# shellcheck disable=SC2086 # words
			"$@" hpct-$question $run.hpct --format tsv
			echo "exit $?"
		done
	done >"$out" 2>"$out.err"
	"$@" hpct-profile counted.hpct --time 3ns.. --format tsv >>"$out" 2>>"$out.err"
}

# ranks NAME : by the ranks of that MPI
ranks() {
	local mpi=$1 options=()
	[ "$mpi" != openmpi ] || options=(--allow-run-as-root --oversubscribe)
	if ! command -v "mpirun.$mpi" >/dev/null || [ ! -e "$HPCT_BIN/../lib/hpct/hpct-ranks-$mpi.so" ]; then
		echo "skipped: $mpi is not here"
		return
	fi
	ask "$mpi" "mpirun.$mpi" "${options[@]}" -n 3
	same_file "three ranks of $mpi" alone "$mpi"
	# More ranks than streams, no such run, nothing in the window: one answer, one sentence, the code of one.
	hpct-stats odd.hpct --streams kind=gpu --format tsv >a 2>a.err
	"mpirun.$mpi" "${options[@]}" -n 4 hpct-stats odd.hpct --streams kind=gpu --format tsv >b 2>b.err
	same_file "more ranks than streams, of $mpi" a b
	code "no run, $mpi" 4 "mpirun.$mpi" "${options[@]}" -n 2 hpct-stats none.hpct
	same "sentences" 1 "$(grep -c '^hpct-stats: ' err)"
	code "a smaller run, $mpi" 2 "mpirun.$mpi" "${options[@]}" -n 2 hpct-slice hosts.hpct -o part.hpct
	check "which was not begun" [ ! -e part.hpct ]
	code "an empty window, $mpi" 3 "mpirun.$mpi" "${options[@]}" -n 2 hpct-stats odd.hpct --streams name=nobody
	without_memory "$mpi" "${options[@]}"
}

# without_memory NAME : rank 0 has none from its first message on: one sentence, and nobody waits for ever.
cat >without.c <<'EOF'
#include <mpi.h>
#include <stdlib.h>

extern void *__libc_realloc(void *, size_t);
static int is_out;

int MPI_Recv(void *at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
	is_out = 1;
	return PMPI_Recv(at, count, type, from, tag, comm, status);
}

void *realloc(void *old, size_t size)
{
	return is_out && size >= 4096 ? NULL : __libc_realloc(old, size);
}
EOF
without_memory() {
	local mpi=$1
	shift
	if ! "mpicc.$mpi" -shared -fPIC -o "without-$mpi.so" without.c; then
		echo "skipped: no mpicc.$mpi"
		return
	fi
	code "rank 0 without memory, $mpi" 5 timeout 300 "mpirun.$mpi" "$@" -n 3 env LD_PRELOAD="$PWD/without-$mpi.so" \
		hpct-stats hosts.hpct --by path
	same "sentences" 1 "$(grep -c '^hpct-stats: out of memory: [0-9]* bytes of rank' err)"
	same "rows" 0 "$(wc -l <out)"
}

ask alone env
check "there are answers" [ "$(wc -l <alone)" -gt 1000 ]
ask again env
same_file "twice the same" alone again
in_jobs() { # as a question's last words
	local count=$1
	shift
	"$@" --jobs "$count"
}
for count in 1 2 5 64; do
	ask "jobs$count" in_jobs "$count"
	same_file "--jobs $count" alone "jobs$count"
done
for bad in 0 x -1 1000 ''; do
	code "--jobs '$bad'" 2 hpct-stats odd.hpct --jobs "$bad"
	sentence "--jobs '$bad'"
done
ranks openmpi
ranks mpich

# A store that cannot be read to its end: the sentence of the process that met it.
size=$(stat -c %s hosts.hpct/node03-3.mdb)
head -c $((size / 2)) /dev/urandom | dd of=hosts.hpct/node03-3.mdb bs=4096 seek=$((size / 5 / 4096)) conv=notrunc status=none
code "damage" 4 hpct-stats hosts.hpct --jobs 3 --no-rollups
sentence "damage"
