#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An archive as Score-P writes it, made by libotf2 here: ranks, threads, an accelerator's stream, MPI's messages, metrics
# of two members, ticks that are no ns. Times and calls are those that otf2-print reads; a damaged archive keeps what is
# whole; other files are refused.
. "$(dirname -- "$0")/expect.sh"
need gcc otf2-config otf2-print
grep -q otf2 <(hpct-import --help) || skip "built without OTF2"
cat >scored.c <<'END'
#include <otf2/otf2.h>
#include <stdlib.h>
#define TICKS 2500000000u /* a second */
static OTF2_FlushType before(void *u, OTF2_FileType t, OTF2_LocationRef l, void *c, bool f) { return OTF2_FLUSH; }
static OTF2_TimeStamp after(void *u, OTF2_FileType t, OTF2_LocationRef l) { return 0; }
static OTF2_FlushCallbacks flushes = {before, after};
enum { EMPTY, MACHINE, NODE0, NODE1, NODE, RANK0, RANK1, MASTER, WORKER, QUEUE, MAIN, SOLVE, SEND, RECV, ALL, KERNEL, CYCLES, JOULE, COUNT, WORLD };
static const char *const names[] = {"", "machine", "node0", "node1", "node", "MPI Rank 0", "MPI Rank 1", "Master thread",
	"OMP thread 1", "CUDA[0:7]", "main", "solve<a, b>", "MPI_Send", "MPI_Recv", "MPI_Allreduce", "saxpy", "PAPI_TOT_CYC", "energy", "#", "MPI_COMM_WORLD"};
int main(int argc, char **argv)
{
	long many = argc > 2 ? atol(argv[2]) : 2;
	OTF2_Archive *a = OTF2_Archive_Open(argv[1], "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	OTF2_Archive_SetFlushCallbacks(a, &flushes, NULL);
	OTF2_Archive_SetSerialCollectiveCallbacks(a);
	OTF2_Archive_OpenEvtFiles(a);
	uint64_t const ids[] = {0, 0x100000000, 1, 0x200000000}; /* rank 0: master, worker; rank 1; its queue */
	uint64_t counts[4];
	OTF2_EvtWriter *w[4];
	uint64_t t = 1000000;
	for (int i = 0; i < 4; i++)
		w[i] = OTF2_Archive_GetEvtWriter(a, ids[i]);
	OTF2_EvtWriter_Enter(w[0], NULL, t, 0);
	for (long i = 0; i < many; i++) { /* rank 0: solve 1000 ns, MPI_Send 400 ns */
		OTF2_EvtWriter_Enter(w[0], NULL, t + 2500, 1);
		OTF2_EvtWriter_Leave(w[0], NULL, t + 5000, 1);
		OTF2_EvtWriter_Enter(w[0], NULL, t + 5000, 2);
		OTF2_EvtWriter_MpiSend(w[0], NULL, t + 5100, 1, 0, 42, 4096);
		OTF2_EvtWriter_Leave(w[0], NULL, t + 6000, 2);
		OTF2_Type types[2] = {OTF2_TYPE_UINT64, OTF2_TYPE_UINT64};
		OTF2_MetricValue values[2] = {{.unsigned_int = 100 + i}, {.unsigned_int = 1500}};
		OTF2_EvtWriter_Metric(w[0], NULL, t + 6000, 0, 2, types, values);
		t += 10000;
	}
	OTF2_EvtWriter_ParameterUnsignedInt(w[0], NULL, t, 0, 3);
	OTF2_EvtWriter_Leave(w[0], NULL, t, 0);
	OTF2_EvtWriter_Enter(w[1], NULL, 1002500, 1);
	OTF2_EvtWriter_Leave(w[1], NULL, 1005000, 1);
	OTF2_EvtWriter_Enter(w[2], NULL, 1000000, 0);
	OTF2_EvtWriter_Enter(w[2], NULL, 1001000, 3);
	OTF2_EvtWriter_MpiRecv(w[2], NULL, 1006000, 0, 0, 42, 4096);
	OTF2_EvtWriter_Leave(w[2], NULL, 1006000, 3);
	OTF2_EvtWriter_Enter(w[2], NULL, 1007500, 4);
	OTF2_EvtWriter_MpiCollectiveBegin(w[2], NULL, 1007500);
	OTF2_EvtWriter_MpiCollectiveEnd(w[2], NULL, 1010000, OTF2_COLLECTIVE_OP_ALLREDUCE, 0, OTF2_UNDEFINED_UINT32, 8, 16);
	OTF2_EvtWriter_Leave(w[2], NULL, 1010000, 4); /* main is never left */
	OTF2_EvtWriter_Enter(w[3], NULL, 1002500, 5);
	OTF2_EvtWriter_Leave(w[3], NULL, 1010000, 5);
	for (int i = 0; i < 4; i++) {
		OTF2_EvtWriter_GetNumberOfEvents(w[i], &counts[i]);
		OTF2_Archive_CloseEvtWriter(a, w[i]);
	}
	OTF2_Archive_CloseEvtFiles(a);
	OTF2_Archive_OpenDefFiles(a);
	for (int i = 0; i < 4; i++)
		OTF2_Archive_CloseDefWriter(a, OTF2_Archive_GetDefWriter(a, ids[i]));
	OTF2_Archive_CloseDefFiles(a);
	OTF2_GlobalDefWriter *d = OTF2_Archive_GetGlobalDefWriter(a);
	OTF2_GlobalDefWriter_WriteClockProperties(d, TICKS, 1000000, t - 1000000, 1700000000000000000);
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		OTF2_GlobalDefWriter_WriteString(d, i, names[i]);
	OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 0, MACHINE, MACHINE, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 1, NODE0, NODE, 0);
	OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 2, NODE1, NODE, 0);
	OTF2_GlobalDefWriter_WriteLocationGroup(d, 0, RANK0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 1, OTF2_UNDEFINED_LOCATION_GROUP);
	OTF2_GlobalDefWriter_WriteLocationGroup(d, 1, RANK1, OTF2_LOCATION_GROUP_TYPE_PROCESS, 2, OTF2_UNDEFINED_LOCATION_GROUP);
	OTF2_GlobalDefWriter_WriteLocation(d, ids[0], MASTER, OTF2_LOCATION_TYPE_CPU_THREAD, counts[0], 0);
	OTF2_GlobalDefWriter_WriteLocation(d, ids[1], WORKER, OTF2_LOCATION_TYPE_CPU_THREAD, counts[1], 0);
	OTF2_GlobalDefWriter_WriteLocation(d, ids[2], MASTER, OTF2_LOCATION_TYPE_CPU_THREAD, counts[2], 1);
	OTF2_GlobalDefWriter_WriteLocation(d, ids[3], QUEUE, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, counts[3], 1);
	for (int i = 0; i < 6; i++)
		OTF2_GlobalDefWriter_WriteRegion(d, i, MAIN + i, MAIN + i, EMPTY, i >= 2 && i <= 4 ? OTF2_REGION_ROLE_POINT2POINT : OTF2_REGION_ROLE_FUNCTION,
			i >= 2 && i <= 4 ? OTF2_PARADIGM_MPI : i == 5 ? OTF2_PARADIGM_CUDA : OTF2_PARADIGM_COMPILER, OTF2_REGION_FLAG_NONE, EMPTY, 0, 0);
	OTF2_GlobalDefWriter_WriteMetricMember(d, 0, CYCLES, EMPTY, OTF2_METRIC_TYPE_PAPI, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, COUNT);
	OTF2_GlobalDefWriter_WriteMetricMember(d, 1, JOULE, EMPTY, OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, -3, COUNT);
	OTF2_GlobalDefWriter_WriteMetricClass(d, 0, 2, (uint32_t[]){0, 1}, OTF2_METRIC_SYNCHRONOUS_STRICT, OTF2_RECORDER_KIND_CPU);
	OTF2_GlobalDefWriter_WriteGroup(d, 0, EMPTY, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, (uint64_t[]){ids[0], ids[2]});
	OTF2_GlobalDefWriter_WriteGroup(d, 1, EMPTY, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, (uint64_t[]){0, 1});
	OTF2_GlobalDefWriter_WriteComm(d, 0, WORLD, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
	OTF2_GlobalDefWriter_WriteParameter(d, 0, EMPTY, OTF2_PARAMETER_TYPE_UINT64);
	OTF2_Archive_CloseGlobalDefWriter(a, d);
	return OTF2_Archive_Close(a) != OTF2_SUCCESS;
}
END
# shellcheck disable=SC2046
gcc -O1 scored.c -o scored $(otf2-config --cflags --ldflags --libs) 2>gcc.log || skip "no program of libotf2 can be built: $(head -n 1 gcc.log)"
./scored a >/dev/null || fail "libotf2 writes an archive"
code "the archive is one for others" 0 otf2-print a/traces.otf2
code "import of the directory" 0 hpct-import a -o a.hpct
same "what is left out" "hpct-import: left out: 1 events of other kinds (one-sided communication, files, tasks, locks, parameters, samples)" \
	"$(cat err)"
code "import of its file" 0 hpct-import --from otf2 a/traces.otf2 -o b.hpct
hpct-slice a.hpct --format tsv | tsv '$c["op"] != "monitored" { print $c["stream"], $c["begin_ns"], $c["end_ns"], $c["path"], $c["op"], $c["bytes"], $c["metric"], $c["value"], $c["attributes"] }' |
	sed 's/:\(node.\)\/\([01]\)\/[0-9]*\.0/:\1\/\2/; s/  */ /g; s/ $//' | sort >got
cat >want <<'END'
cpu:node0/0/0 0 8000 main call
cpu:node0/0/0 1000 2000 main;solve<a, b> call
cpu:node0/0/0 2000 2400 main;MPI_Send mpi 4096 call=MPI_Send,peer=1,tag=42
cpu:node0/0/0 2400 PAPI_TOT_CYC 100
cpu:node0/0/0 2400 energy 1.5
cpu:node0/0/0 5000 6000 main;solve<a, b> call
cpu:node0/0/0 6000 6400 main;MPI_Send mpi 4096 call=MPI_Send,peer=1,tag=42
cpu:node0/0/0 6400 PAPI_TOT_CYC 101
cpu:node0/0/0 6400 energy 1.5
cpu:node0/0/1 1000 2000 solve<a, b> call
cpu:node1/1/0 0 8000 main call
cpu:node1/1/0 3000 4000 main;MPI_Allreduce mpi 16 call=MPI_Allreduce
cpu:node1/1/0 400 2400 main;MPI_Recv mpi 4096 call=MPI_Recv,peer=0,tag=42
gpu:node1/1/0/0/0 1000 4000 <gpu kernel>;saxpy kernel
END
sort -o want want
same_file "records" want got
same "names" "Master thread|OMP thread 1|Master thread|CUDA[0:7]" "$(hpct-info --streams a.hpct --format tsv | tsv '{ printf "%s%s", n++ ? "|" : "", $c["name"] }')"
same "the wall clock" 2023-11-14 "$(hpct-info a.hpct | grep -o '2023-11-14' | head -n 1)"

# Many, against otf2-print: time and number of calls of a region.
./scored many 20000 >/dev/null || fail "many"
hpct-import many -o many.hpct 2>/dev/null || fail "import of many"
same "calls of a region" "$(otf2-print many/traces.otf2 | grep -c 'ENTER.*"solve<a, b>"')" "$(hpct-slice many.hpct --op call --format tsv | tsv '$c["path"] ~ /solve/' | wc -l)"

# Damage: what was whole before it is there.
cp -r many cut
truncate -s 400000 cut/traces/0.evt
code "a location cut short" 4 hpct-import cut -o cut.hpct
check "one sentence" [ "$(grep -vc 'left out' err)" -eq 1 ]
check "it names the run" grep -q 'cut.hpct' err
check "other locations are whole" grep -q saxpy <(hpct-slice cut.hpct --format tsv)
check "the run is sound" grep -q sound <(hpct-info --check cut.hpct)
# Its head says that the archive has four thousand million properties: libotf2 would look for them for minutes.
if [ -x /usr/bin/python3 ]; then
	rm -rf head && cp -r many head
	/usr/bin/python3 - head/traces.otf2 <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = 0x2e
for text in range(3): at = data.index(0, at) + 1
data[at:at + 4] = b"\xad\x9d\x0a\xda"
open(sys.argv[1], "wb").write(data)
END
	code "a damaged head" 4 timeout 60 hpct-import head -o head.hpct
	sentence "a damaged head"
	check "a damaged head makes nothing" [ ! -e head.hpct ]
fi
cp -r a gone
rm gone/traces/1.evt
code "a location's events are gone" 4 hpct-import gone -o gone.hpct
rm -r gone.hpct gone/traces.def
code "the definitions are gone" 4 hpct-import gone -o gone.hpct
sentence "the definitions are gone"
check "no run is left" [ ! -e gone.hpct ]
code "a stream" 2 hpct-import --from otf2 - <a/traces.otf2
sentence "a stream"
mkdir empty
code "a directory of nothing" 4 hpct-import empty
sentence "a directory of nothing"

# Hostile archives: bytes changed anywhere, in each of its files; no crash, no run that is not sound.
if [ -x /usr/bin/python3 ]; then
	cat >spoil.py <<'END'
import os, random, shutil, subprocess, sys
random.seed(35)
for turn in range(120):
    shutil.rmtree("h", True); shutil.rmtree("h.hpct", True); shutil.copytree("a", "h")
    files = [os.path.join(d, f) for d, _, fs in os.walk("h") for f in fs if os.path.getsize(os.path.join(d, f))]
    path = random.choice(files)
    data = bytearray(open(path, "rb").read())
    for _ in range(random.randint(1, 4)): data[random.randrange(len(data))] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
    open(path, "wb").write(data)
    done = subprocess.run(["hpct-import", "--from", "otf2", "h/traces.otf2", "-o", "h.hpct"], capture_output=True, timeout=120)
    assert done.returncode in (0, 4, 5), (turn, path, done.returncode, done.stderr)
    if os.path.exists("h.hpct"):
        check = subprocess.run(["hpct-info", "--check", "h.hpct"], capture_output=True)
        assert check.returncode == 0, (turn, path, check.stdout)
END
	(ulimit -v 4000000 && /usr/bin/python3 spoil.py) || fail "a hostile archive"
fi
