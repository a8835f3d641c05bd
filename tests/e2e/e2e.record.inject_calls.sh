#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-record -p PID --inject: calls of IO and MPI go through the agent while it measures, by the program's tables of calls. The
# program checks itself meanwhile (injected_io.c); bytes and paths are the program's; every entry of the tables leads to libc
# again when the agent has left, by Ctrl-C or a kill, their pages are read-only again, and nothing else has changed. Calls of
# MPI, of either library, are spans with their bytes; a program of many ranks goes on.
. "$(dirname -- "$0")/expect.sh"
need gcc
need python3
[ "$(uname -m)" = x86_64 ] || skip "--inject is for x86-64"

cat >part.c <<'END'
#include <unistd.h>
long io_part(int file) { char to[10]; return read(file, to, 10); }
END
gcc -O1 -g -shared -fPIC -o libio_part.so part.c
gcc -O1 -g -Wl,-z,now -o bound "$HPCT_SOURCE/tests/e2e/injected_io.c" -pthread -ldl || skip "injected_io.c is not built"
gcc -O1 -g -Wl,-z,lazy -o lazy "$HPCT_SOURCE/tests/e2e/injected_io.c" -pthread -ldl

has_none() { ! grep -qx hpct-agent "/proc/$pid"/task/*/comm 2>/dev/null; }
has_handler() { (("0x$(sed -n 's/^SigCgt:\t//p' "/proc/$pid/status")" >> 9 & 1)); } # SIGUSR1: all threads are there
start() { # PROGRAM : $pid
	"./$1" >"$1.out" 2>&1 &
	pid=$!
	await has_handler
}
begun() { grep -qs 'stood still for' err || ! kill -0 "$recorder" 2>/dev/null; }
inject() { # RUN OPTION... : in the background, until it has begun; $recorder
	local run=$1
	shift
	rm -rf "$run.hpct" err # the last one says that it has begun, too
	hpct-record -p "$pid" --inject -o "$run.hpct" "$@" 2>err &
	recorder=$!
	await begun
	! grep -q 'may not be traced' err || skip "$(cat err)"
	grep -q "stood still for" err || { wait "$recorder"; fail "$run: no agent begins: $? $(cat err)"; }
}
leaves() { # RUN SIGNAL
	kill "-$2" "$recorder"
	wait "$recorder" 2>/dev/null
	await has_none || fail "$1: the agent's thread stays"
}
# The entries of the program's table of calls, and the protection of their pages.
entries() { # PROGRAM
	python3 - "$pid" "$1" <<'END'
import os, struct, subprocess, sys
pid, name = sys.argv[1:]
maps, base = [], None
for line in open(f"/proc/{pid}/maps"):
    low, high = (int(n, 16) for n in line.split()[0].split("-"))
    maps.append((low, high, line.split()[1], os.path.basename(line.split()[-1])))
    if base is None and line.rstrip().endswith("/" + name):
        base = low
memory = open(f"/proc/{pid}/mem", "rb")
def of(address):
    return next((m for m in maps if m[0] <= address < m[1]), (0, 0, "-", "-"))
for line in subprocess.run(["readelf", "-rW", name], capture_output=True, text=True).stdout.splitlines():
    if "JUMP_SLO" in line:
        words = line.split()
        at = base + int(words[0], 16)
        memory.seek(at)
        value = struct.unpack("<Q", memory.read(8))[0]
        print(words[4].split("@")[0], hex(value), of(value)[3], of(at)[2])
END
}
leads() { # FILE NAME LIBRARY
	awk -v name="$2" -v library="$3" '$1 == name && index($3, library) { n++ } END { exit !n }' "$1"
}
ends() { # PROGRAM
	local code=0
	kill -USR1 "$pid"
	wait "$pid" || code=$?
	same "$1: exit code" 7 "$code"
	same "$1: what it checked" 'result 0 error 0 stream 0 cancel 0 jump 0 child 0 stack 0 load 0 idle 0' "$(cat "$1.out")"
}
moved() { # RUN PATH : calls and bytes of the spans of IO on paths that end so
	hpct-slice "$1.hpct" --op io --format tsv | tsv '$c["path"] ~ /'"$2"'$/ { n++; b += $c["bytes"] } END { print n + 0, b + 0 }'
}
has_moved() { local n && n=$(moved "$1" "$2") && [ "${n% *}" -ge "$3" ]; }

for program in bound lazy; do
	start "$program"
	entries "$program" >"$program.before"
	leads "$program.before" write libc || [ "$program" = lazy ] || fail "$program: write is not bound: $(cat "$program.before")"
	inject "$program" -e CPUTIME -e IO
	led() { entries "$program" >"$program.within" && leads "$program.within" read hpct-agent-inject && leads "$program.within" write hpct-agent-inject; }
	await led || fail "$program: read and write do not lead through the agent: $(cat "$program.within")"
	await has_moved "$program" 'counted_write;write' 50
	await has_moved "$program" 'writes_in_handler;write' 5
	await has_moved "$program" 'streams;fgets' 5
	await has_moved "$program" 'io_part;read' 5 || fail "$program: a library that came later is left out"
	leaves "$program" INT
	entries "$program" >"$program.after"
	check "$program: every entry leads elsewhere again" [ -z "$(grep hpct-agent "$program.after")" ]
	[ "$program" = lazy ] || same_file "$program: entries and protections" "$program.before" "$program.after"
	for call in 'counted_write;write 1000' 'counted_read;read 100' 'writes_in_handler;write 7' 'streams;fwrite 8' 'io_part;read 10'; do
		count=$(hpct-slice "$program.hpct" --op io --format tsv | tsv '$c["path"] ~ /'"${call% *}"'$/ && $c["bytes"] > 0 && $c["bytes"] != '"${call#* }"' { n++ } END { print n + 0 }')
		same "$program: calls on ${call% *} that moved other than ${call#* } bytes" 0 "$count"
	done
	# Spans may be lost where a ring is full; sums by call path are not.
	summed=$(hpct-profile "$program.hpct" --view top-down --format tsv | tsv '$c["kind"] == "function" && $c["name"] == "counted_write" { n += $c["IO:written:incl"] } END { print n + 0 }')
	written=$(moved "$program" 'counted_write;write')
	check "$program: bytes by call path, $summed, and of spans, ${written#* }" calc "$summed >= ${written#* } && $summed % 1000 == 0"
	same "--check" sound "$(hpct-info "$program.hpct" --check --format tsv | tsv '$c["key"] == "check" { print $c["value"] }')"
	# Again and again, and killed.
	for ((i = 0; i < 6; i++)); do
		inject again -e IO -e CPUTIME@f1000
		leaves again "$([ $((i % 2)) -eq 0 ] && echo INT || echo KILL)"
	done
	entries "$program" >"$program.last"
	same_file "$program: entries and protections after all" "$program.after" "$program.last"
	# Without -e IO nothing is led anywhere.
	inject plain
	entries "$program" >"$program.plain"
	same_file "$program: entries without -e IO" "$program.after" "$program.plain"
	leaves plain INT
	ends "$program"
done

# From outside there are no bytes.
start bound
code "-e IO from outside" 125 hpct-record -p "$pid" -e IO -o outside.hpct
check "the sentence says so: $(cat err)" grep -q 'with --inject IO' err
ends bound

# MPI, by its own table, of each library that is here. Runs to the end, whatever comes and goes.
cat >ranks.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t over;
static void handle(int number) { (void)number; over = 1; }
int main(int argc, char **argv)
{
	int rank, count, any = 0, data[250] = {0};
	long rounds = 0, wrong = 0;
	char name[64];
	FILE *file;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &count);
	signal(SIGUSR2, handle);
	snprintf(name, sizeof(name), "rank.%d.new", rank);
	file = fopen(name, "w");
	fprintf(file, "%d\n", getpid());
	fclose(file);
	rename(name, rank ? "rank.1" : "rank.0");
	for (; !any; rounds++) {
		int now = over, in = -1, out = rank * 1000 + (int)(rounds % 1000), other = 1 - rank;
		MPI_Request requests[2];
		MPI_Status states[2];
		MPI_Irecv(&in, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(&out, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, states);
		wrong += in != other * 1000 + (int)(rounds % 1000);
		if (rank)
			MPI_Recv(data, 250, MPI_INT, 0, 9, MPI_COMM_WORLD, &states[0]);
		else
			MPI_Send(data, 250, MPI_INT, 1, 9, MPI_COMM_WORLD);
		MPI_Allreduce(&now, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
		usleep(500);
	}
	MPI_Finalize();
	printf("rank %d wrong %ld\n", rank, wrong);
	return wrong != 0;
}
END
for library in openmpi mpich; do
	command -v "mpicc.$library" >/dev/null && "mpicc.$library" -O1 -g -o ranks ranks.c 2>/dev/null || continue
	rm -f rank.0 rank.1
	run=("mpirun.$library" -n 2 ./ranks)
	[ "$library" = mpich ] || run=("mpirun.$library" --oversubscribe --mca mpi_yield_when_idle 1 -n 2 ./ranks)
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "${run[@]}" >ranks.out 2>&1 &
	launcher=$!
	there() { [ -s rank.0 ] && [ -s rank.1 ] || ! kill -0 "$launcher" 2>/dev/null; }
	await there
	[ -s rank.1 ] || { wait "$launcher"; continue; } # it cannot start here
	pid=$(cat rank.0)
	rm -rf mpi.hpct err
	hpct-record -p "$(cat rank.0),$(cat rank.1)" --inject -o mpi.hpct 2>err &
	recorder=$!
	await begun
	sent() { [ "$(hpct-slice mpi.hpct --op mpi --format tsv | tsv '$c["path"] ~ /main;MPI_Recv$/ && $c["bytes"] == 1000 { n++ } END { print n + 0 }')" -ge 20 ]; }
	await sent || fail "$library: no spans of MPI"
	leaves mpi INT
	# Ranks begin at different calls: nothing may count which call met which.
	same "$library: calls with numbers, or names that mean something to other ranks" 0 \
		"$(hpct-slice mpi.hpct --op mpi --format tsv | tsv '$c["attributes"] ~ /seq=|comm=[^0]/ { n++ } END { print n + 0 }')"
	for call in MPI_Irecv MPI_Isend MPI_Waitall MPI_Recv MPI_Send MPI_Allreduce; do
		check "$library: $call" calc "$(hpct-slice mpi.hpct --op mpi --format tsv | tsv '$c["path"] ~ /main;'"$call"'$/ && $c["attributes"] ~ /call='"$call"'/ { n++ } END { print n + 0 }') > 5"
	done
	same "$library: ranks" '0 1' "$(hpct-slice mpi.hpct --op mpi --format tsv | tsv '{ split($c["stream"], part, "/"); seen[part[2]] = 1 } END { print (0 in seen ? 0 : "-"), (1 in seen ? 1 : "-") }')"
	kill -USR2 "$pid"
	wait "$launcher" || fail "$library: the program fails: $(cat ranks.out)"
	same "$library: what it checked" 'rank 0 wrong 0 rank 1 wrong 0' "$(grep '^rank' ranks.out | sort | paste -sd' ')"
done
