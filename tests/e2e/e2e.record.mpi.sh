#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MPI programs, C and Fortran, of both libraries: ranks from MPI itself, each call a span with what it was about, once,
# and the rank that comes late named. One run holds all ranks.
. "$(dirname -- "$0")/expect.sh"
here=$HPCT_SOURCE/tests/e2e tried=0
export OMPI_MCA_btl_vader_single_copy_mechanism=none

launch() { # LIBRARY ARGUMENT... : two ranks, wherever there is a core
	local library=$1 options=()
	shift
	[ "$library" = openmpi ] && options=(--allow-run-as-root --oversubscribe)
	timeout 300 "mpirun.$library" "${options[@]}" -n 2 "$@" </dev/null
}

# calls RUN : rank, call, its attributes and bytes of each span of MPI
calls() {
	hpct-slice "$1.hpct" --format tsv | tsv '
		$c["op"] == "mpi" {
			split($c["stream"], part, "/")
			printf "%s\t%s\t%s\t%s\n", part[2], $c["attributes"], $c["bytes"], $c["path"]
		}' | sort
}

examine() { # RUN LIBRARY PROGRAM BYTES FUNCTION : ...; FUNCTION: where the sums are made
	local run=$1 library=$2 program=$3
	tried=$((tried + 1))
	launch "$library" "./$program" >"$run.bare" || skip "$library cannot run $program here"
	launch "$library" hpct-record -o "$run.hpct" -- "./$program" >"$run.out" 2>"$run.err" ||
		{ fail "$run: does not end well" && head -n 5 "$run.err"; return; }
	same_file "$run: output" "$run.bare" "$run.out"
	calls "$run" >"$run.calls"
	for rank in 0 1; do
		same "$run: sums of rank $rank" 4 "$(grep -c "^$rank	call=MPI_Allreduce,comm=world,seq=[0-9]*	$4	" "$run.calls")"
	done
	check "$run: paths" grep -qi "$5;p\?mpi_allreduce" "$run.calls"
	hpct-slice "$run.hpct" --format tsv | tsv '
		$c["op"] == "monitored" && $c["attributes"] ~ /command=[^,]*'"$program"'/ {
			match($c["attributes"], /rank_from=[A-Za-z_]*/)
			print substr($c["attributes"], RSTART, RLENGTH)
		}' | sort -u >"$run.from"
	same "$run: ranks" "rank_from=MPI_Comm_rank" "$(cat "$run.from")"
	hpct-blame "$run.hpct" --late --format tsv >"$run.late"
	same "$run: who is late" "rank 1" "$(tsv 'NR == 2 { print $c["key"] }' <"$run.late")"
	check "$run: by how much: $(sed -n 2p "$run.late")" awk -F '\t' 'NR == 2 { exit !($2 >= 300e6) }' "$run.late"
	hpct-blame "$run.hpct" >"$run.page"
	same "$run: who is late, on the page" "rank 1" \
		"$(sed -n '/^Who held the others up/{n;s/^  1 \(rank [0-9]*\) was last at .*/\1/p}' "$run.page")"
	same "$run: lost" 0 "$(info "$run" lost)"
}

# storm LIBRARY : who was calm calls as often as it can, and fills its rings in less time than those of a calm program
# are left alone. In memory, where there is such a place: a commit that waits for a disk is another matter.
storm() {
	local library=$1 place spans sums
	"mpicc.$library" -O2 -g -o "storm.$library" "$here/mpi_storm.c" 2>log || return
	place=$(mktemp -d /dev/shm/hpct-e2e.XXXXXX) || place=$(mktemp -d "$work/storm.XXXXXX")
	launch "$library" hpct-record -o "$place/storm.hpct" -- "./storm.$library" >storm.out 2>storm.err ||
		fail "storm of $library does not end well: $(head -n 5 storm.err)"
	same "storm of $library: lost" 0 "$(info "$place/storm" lost)"
	# Where the collector gets no core in time, calls become sums.
	spans=$(calls "$place/storm" | grep -c 'call=MPI_Sendrecv')
	sums=$(hpct-slice "$place/storm.hpct" --format tsv | tsv '$c["metric"] == "MPI:calls" { n += $c["value"] } END { print n + 0 }')
	echo "storm of $library: $spans spans, $sums in sums"
	same "storm of $library: calls" 80000 $((spans + sums))
	rm -rf "$place"
}

# sums LIBRARY : short calls in great numbers, which become sums: all are there, once, and spans say so.
sums() {
	local library=$1 run calls spans bound bytes barriers summed open rest count=60000
	"mpicc.$library" -O2 -g -o "ping.$library" "$here/mpi_pingpong.c" 2>log || return
	for bound in default @1s @0 =off; do
		run=ping_$library$bound
		[ "$bound" != @0 ] || count=500
		launch "$library" hpct-record -o "$run.hpct" -e "MPI${bound#default}" -- "./ping.$library" "$count" \
			>ping.out 2>ping.err || fail "$run does not end well: $(head -n 5 ping.err)"
		same "$run: output" "$count messages each" "$(cat ping.out)"
		same "$run: lost" 0 "$(info "$run" lost)"
		hpct-slice "$run.hpct" --format tsv | tsv '
			$c["track"] == "values" && $c["path"] ~ /main;play;P?MPI_(Send|Recv)$/ { sum[$c["metric"]] += $c["value"] }
			$c["op"] == "mpi" && $c["attributes"] ~ /^call=MPI_(Send|Recv),/ { spans++; bytes += $c["bytes"] }
			$c["op"] == "mpi" && $c["attributes"] ~ /^call=MPI_Barrier,/ { barriers++ }
			$c["op"] == "mpi-summed" { summed++; open += $c["end_ns"] == "" }
			END { printf "%d %d %d %d %d %d %d\n", spans, sum["MPI:calls"], bytes + sum["MPI:bytes"], barriers, summed, open,
				sum["MPI:calls"] - sum["MPI:calls<1us"] - sum["MPI:calls<10us"] - sum["MPI:calls>10us"] }' >ping.seen
		read -r spans calls bytes barriers summed open rest <ping.seen
		echo "$run: $spans spans, $calls in sums"
		same "$run: sums left open, calls without a duration" "0 0" "$open $rest"
		case $bound in
		default)
			check "$run: both spans and sums" [ "$spans" -gt 0 ] && check "$run: sums" [ "$calls" -gt 0 ]
			check "$run: the spans say that there are sums" [ "$summed" -ge 2 ] ;;
		@1s) same "$run: no spans, of two ranks" "0 2" "$spans $summed" ;;
		@0) same "$run: no sums" "0 0" "$calls $summed" ;;
		=off) same "$run: neither" "0 0 0" "$spans $calls $barriers" && continue ;;
		esac
		same "$run: calls" $((4 * count)) $((spans + calls))
		same "$run: bytes" $((4 * count * 8)) "$bytes"
		same "$run: barriers" $((2 * (count / 1000))) "$barriers"
	done
	# More spans than the collector takes: what is lost says so, and takes no time from the samples.
	launch "$library" hpct-record -o "full_$library.hpct" -e MPI@0 -e CPUTIME@1000 -- "./ping.$library" 100000 >ping.out 2>ping.err ||
		fail "full_$library does not end well"
	weights_agree "full_$library"
	hpct-slice "full_$library.hpct" --format tsv | tsv '$c["op"] == "lost" { n++; if ($c["attributes"] !~ /^spans=[0-9]*$/) bad++ }
		END { printf "%d losses of spans alone, %d others\n", n - bad, bad; exit bad > 0 }' || fail "full_$library: other records are lost"
	hpct-blame "ping_${library}default.hpct" --late >ping.late 2>&1
	check "sums of $library: --late says that messages are not told" grep -q 'Short calls of MPI are sums in 2 processes' ping.late
	same "sums of $library: no sender is late" 0 "$(grep -c 'as sender' ping.late)"
}

for library in openmpi mpich; do
	command -v "mpirun.$library" >/dev/null || continue
	if command -v "mpicc.$library" >/dev/null &&
		"mpicc.$library" -O2 -g -o "c.$library" "$here/mpi_late.c" 2>log; then
		examine "c_$library" "$library" "c.$library" 8 'main;step'
		for rank in 0 1; do
			same "c_$library: the barrier of those two" 1 \
				"$(grep -c "^$rank	call=MPI_Barrier,comm=world.1.0,seq=1	" "c_$library.calls")"
		done
		check "c_$library: send" grep -q '^0	call=MPI_Send,comm=world,peer=1,tag=5	4	' "c_$library.calls"
		check "c_$library: receive" grep -q '^1	call=MPI_Recv,comm=world,peer=0,tag=5	4	' "c_$library.calls"
		own=comm=world.6.0
		check "c_$library: send without waiting" \
			grep -q "^1	call=MPI_Isend,$own,peer=1,tag=6,as=0,request=0x[0-9a-f]*	4	" "c_$library.calls"
		check "c_$library: receive from any" \
			grep -q "^0	call=MPI_Irecv,$own,peer=any,tag=6,as=1,request=0x[0-9a-f]*	4	" "c_$library.calls"
		for rank in 0 1; do
			begun=$(sed -n "s/^$rank	call=MPI_I[a-z]*,$own.*request=\\(0x[0-9a-f]*\\)	.*/\\1/p" "c_$library.calls" | sort | xargs)
			ended=$(sed -n "s/^$rank	call=MPI_Waitall,request=\\([0-9a-fx+]*\\)	.*/\\1/p" "c_$library.calls" | tr + '\n' | sort | xargs)
			same "c_$library: what rank $rank waits for" "$begun" "$ended"
		done
		storm "$library"
		sums "$library"
	fi
	for binding in mpi mpi_f08; do
		command -v "mpifort.$library" >/dev/null &&
			"mpifort.$library" -cpp "-DBINDING=$binding" -O2 -g -o "$binding.$library" "$here/mpi_late.f90" 2>log ||
			continue
		examine "${binding}_$library" "$library" "$binding.$library" 4 mpi_late
	done
done
[ "$tried" -gt 0 ] || skip "neither Open MPI nor MPICH is installed with its compiler"
echo "tried $tried programs"
