#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# OTF2's archive, as otf2-print reads it: calls, states, operations, values, and the busy time of queues.
. "$(dirname -- "$0")/expect.sh"
code "formats" 2 hpct-export --to nosuch x
grep -q otf2 err || skip "built without OTF2: hpct-export has no --to otf2"
need otf2-print
tab=$'\t'
row() { local IFS=$tab; echo "$*"; }
{
	row stream track begin_ns end_ns path op bytes weight metric value attributes
	row cpu:h/3/10.0/0 spans 0 1000 '' monitored '' '' '' '' name=solver,metric=CPUTIME,period_ns=300,switches=1
	row cpu:h/3/10.0/0 samples 0 '' main '' '' 0 CPUTIME '' ''
	row cpu:h/3/10.0/0 samples 300 '' 'main;solve' '' '' 300 CPUTIME '' ''
	row cpu:h/3/10.0/0 spans 400 600 'main;solve;wait' blocked '' '' '' '' ''
	row cpu:h/3/10.0/0 spans 310 330 'main;solve;launch' launch '' '' '' '' link=1
	row cpu:h/3/10.0/0 values 500 '' '' '' '' '' temperature 36.5 ''
	row cpu:h/3/10.0/0 values 600 '' '' '' '' '' level 7 ''
	row gpu:h/3/10.0/0/1/7 spans 0 1000 '' monitored '' '' '' '' name=queue
	row gpu:h/3/10.0/0/1/7 spans 350 500 'main;solve;launch;<gpu kernel>;k1' kernel '' '' '' '' link=1,grid=8
	row gpu:h/3/10.0/0/1/7 spans 450 560 'main;solve;launch;<gpu copy>' copy 64 '' '' '' link=1
} >rows.tsv
hpct-import rows.tsv -o r.hpct || fail "rows"
code "a directory needs a name" 2 hpct-export --to otf2 r.hpct
sentence "a directory needs a name"
code "export" 0 hpct-export --to otf2 r.hpct -o r.otf2
code "it exists" 2 hpct-export --to otf2 r.hpct -o r.otf2
sentence "it exists"
otf2-print r.otf2/traces.otf2 | sed -n 's/^\(ENTER\|LEAVE\|METRIC\) */\1 /p' | sed 's/  */ /g; s/ <[0-9]*>//g' >got
cat >want <<'END'
ENTER 0 0 Region: "main"
ENTER 0 300 Region: "solve"
ENTER 1 310 Region: "launch"
LEAVE 1 330 Region: "launch"
ENTER 4 350 Region: "k1"
ENTER 0 400 Region: "wait"
ENTER 0 400 Region: "blocked"
ENTER 5 450 Region: "copy"
METRIC 2 500 Metric: 0, 1 Value: ("temperature"; DOUBLE; 36.5)
LEAVE 4 500 Region: "k1"
LEAVE 5 560 Region: "copy"
LEAVE 0 600 Region: "blocked"
LEAVE 0 600 Region: "wait"
METRIC 3 600 Metric: 1, 1 Value: ("level"; UINT64; 7)
LEAVE 0 1000 Region: "solve"
LEAVE 0 1000 Region: "main"
END
same_file "what otf2-print reads" want got
otf2-print -G r.otf2/traces.otf2 | sed -n 's/^LOCATION  *\([0-9]*\) *Name: \("[^"]*"\).* Type: \([A-Z_]*\),.*Group: \("[^"]*"\).*/\1 \2 \3 \4/p' >got
cat >want <<'END'
0 "solver" CPU_THREAD "solver on h pid 10.0 rank 3"
1 "solver spans" CPU_THREAD "solver on h pid 10.0 rank 3"
2 "solver temperature" METRIC "solver on h pid 10.0 rank 3"
3 "solver level" METRIC "solver on h pid 10.0 rank 3"
4 "queue" ACCELERATOR_STREAM "solver on h pid 10.0 rank 3"
5 "queue 2" ACCELERATOR_STREAM "solver on h pid 10.0 rank 3"
END
same_file "locations" want got
# Ranks that talk: regions named as their calls, messages with peer, tag and bytes, collectives; a rank that is not
# selected is there, without events; of another communicator and of MPI_Irecv nothing is told, and counted.
{
	row stream track begin_ns end_ns path op bytes attributes
	for rank in 0 1; do
		row cpu:h/$rank/1$rank.0/0 spans 0 1000 '' monitored '' name=solver,switches=1
		row cpu:h/$rank/1$rank.0/0 spans 700 900 main mpi 16 'call=MPI_Allreduce,comm=world,seq=1'
		row cpu:h/$rank/1$rank.0/0 spans 900 950 main mpi 16 'call=MPI_Bcast,comm=world.1.0,seq=1,peer=0'
	done
	row cpu:h/0/10.0/0 spans 100 200 main mpi 4096 'call=MPI_Send,comm=world,peer=1,tag=7'
	row cpu:h/1/11.0/0 spans 50 250 main mpi 4096 'call=MPI_Recv,comm=world,peer=0,tag=7'
	row cpu:h/1/11.0/0 spans 300 310 main mpi 8 'call=MPI_Isend,comm=world,peer=2,tag=1,request=0x1'
	row cpu:h/1/11.0/0 spans 310 320 main mpi 8 'call=MPI_Irecv,comm=world,peer=2,tag=1,request=0x2'
	row cpu:h/1/11.0/0 spans 320 330 main mpi '' 'call=MPI_Waitall,request=0x1+0x2'
	row cpu:h/0/10.0/0 spans 400 500 main mpi 32 'call=MPI_Sendrecv,comm=world,peer=1,tag=3,source=1,source_tag=4'
	row cpu:h/0/10.0/0 samples 0 '' main '' '' ''
	row cpu:h/1/11.0/0 samples 0 '' main '' '' ''
} >mpi.tsv
hpct-import mpi.tsv -o mpi.hpct || fail "rows of MPI"
code "export of MPI" 0 hpct-export --to otf2 mpi.hpct -o mpi.otf2
same "what is left out" "hpct-export: left out: 3 messages (of MPI_Irecv, any source, communicators other than world, further threads)" "$(cat err)"
code "otf2-print reads it" 0 otf2-print mpi.otf2/traces.otf2
grep '^MPI' out | sed 's/  */ /g; s/ <[0-9]*>//g' >got
grep -q 'MPI_SEND 1 100 Receiver: 1.*Communicator: "MPI_COMM_WORLD".*, Tag: 7, Length: 4096' got || fail "a send: $(head -n 2 got)"
grep -q 'MPI_RECV 3 250 Sender: 0.*, Tag: 7, Length: 4096' got || fail "a receive: $(grep RECV got)"
grep -q 'MPI_SEND 3 300 Receiver: 2.*not selected.*, Tag: 1, Length: 8' got || fail "a send to a rank that is not there"
grep -q 'MPI_RECV 1 500 Sender: 1.*, Tag: 4, Length: 32' got || fail "what MPI_Sendrecv receives"
same "collectives" 2 "$(grep -c 'MPI_COLLECTIVE_END.*ALLREDUCE.*Sent: 16, Received: 16' got)"
check "regions are their calls" grep -q 'ENTER.*Region: "MPI_Waitall"' out
otf2-print -G mpi.otf2/traces.otf2 >definitions || fail "definitions of MPI"
check "the world" grep -q 'COMM .*MPI_COMM_WORLD' definitions
sums() { # FILE : inclusive time by region
	otf2-print "$1" | sed -n 's/^\(ENTER\|LEAVE\)  *\([0-9]*\)  *\([0-9]*\)  *Region: "\(.*\)" <[0-9]*>$/\1\t\2\t\3\t\4/p' |
		awk -F'\t' '$1 == "ENTER" { d[$2]++; at[$2, d[$2]] = $3; next } { s[$4] += $3 - at[$2, d[$2]--] } END { for (k in s) printf "%s\t%.0f\n", k, s[k] }'
}
record real -- "$samples/phases" 0.2 >/dev/null
hpct-export --to otf2 real.hpct -o real.otf2 || fail "a recording"
same "time of a function" "$(hpct-profile real.hpct --metric REALTIME --view flat --format tsv | tsv '$c["kind"] == "function" && $c["name"] == "smooth" { s += $c["REALTIME:incl"] } END { printf "%.0f", s }')" \
	"$(sums real.otf2/traces.otf2 | awk -F'\t' '$1 == "smooth" { printf "%.0f", $2 }')"
record many -e CPUTIME@f2000 --gauges off -- "$samples/phases" 1 >/dev/null
hpct-export --to otf2 many.hpct -o many.otf2 || fail "many samples"
bytes() { du -sb --apparent-size "$1" | cut -f 1; }
check "at most four times the run's size: $(bytes many.hpct), $(bytes many.otf2)" calc "$(bytes many.otf2) <= 4 * $(bytes many.hpct)"
mkdir gpu.hpct && xz -dc "$HPCT_SOURCE/samples/runs/torch_step.mdb.xz" >gpu.hpct/vm-0.mdb || skip "xz is not there"
hpct-export --to otf2 --streams kind=gpu gpu.hpct -o gpu.otf2 || fail "a GPU's run"
same "busy time of the queue" "$(hpct-stats gpu.hpct --streams kind=gpu --by op --format tsv | tsv '$c["key"] ~ /^(kernel|copy|set)$/ { s += $c["time_ns"] } END { print s }')" \
	"$(sums gpu.otf2/traces.otf2 | awk -F'\t' '{ s += $2 } END { printf "%.0f\n", s }')"
if [ "$(id -u)" -ne 0 ]; then
	mkdir no && chmod 555 no
	code "a place that cannot be written" 5 hpct-export --to otf2 r.hpct -o no/r.otf2
	sentence "a place that cannot be written"
fi
