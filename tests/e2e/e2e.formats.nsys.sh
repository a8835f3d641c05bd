#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The SQLite export of Nsight Systems as a run: SQLite makes the file, and its sums are ours.
. "$(dirname -- "$0")/expect.sh"
need sqlite3
code "formats" 2 hpct-import --from nosuch x
grep -q nsys err || skip "built without SQLite: hpct-import has no --from nsys"
sqlite3 n.sqlite <"$HPCT_SOURCE/tests/formats/nsys.sql" || fail "the file"
code "import" 0 hpct-import n.sqlite
same "what is left out is said" "hpct-import: left out: 2 diagnostic messages; 1 NVTX events that name domains, categories or threads" "$(cat err)"
hpct-slice n.hpct --format tsv | tsv '{ print $c["stream"] " " $c["begin_ns"] " " $c["end_ns"] " " $c["path"] " " $c["op"] " " $c["bytes"] $c["weight"] $c["metric"] " " $c["attributes"] }' >got
cat >want <<'END'
cpu:-/-/77.0/0 0 5000 step 1 nvtx  
cpu:-/-/77.0/0 0 5500  monitored  command=/usr/bin/solver,name=main thread,tid=77
cpu:-/-/77.0/1 0 4000 pthread_cond_wait blocked  
cpu:-/-/77.0/1 0 4500  monitored  tid=78
cpu:-/-/77.0/2 0  main  500cycles 
cpu:-/-/77.0/2 0 1000  monitored  tid=79
gpu:-/-/77.0/0/1/7 0 5500  monitored  device=NVIDIA H100
cpu:-/-/77.0/0 100 4900  range  name=epoch
cpu:-/-/77.0/0 200 300 step 1;cudaMalloc cuda_runtime  
cpu:-/-/77.0/0 500 600 step 1;cudaLaunchKernel launch  link=42
cpu:-/-/77.0/0 700 800 step 1;cudaMemcpyAsync launch  link=43
cpu:-/-/77.0/2 1000  main;solve  700cycles 
gpu:-/-/77.0/0/1/7 1000 4000 step 1;cudaLaunchKernel;<gpu kernel>;void gemm<float>(int) kernel  link=42,grid=8:4:1,block=128:1:1,registers=32,shared_dynamic=1024
cpu:-/-/77.0/0 2000 4800 step 1;cudaDeviceSynchronize sync  
cpu:-/-/77.0/1 4000 4500 read osrt  
gpu:-/-/77.0/0/1/7 4500 4700 step 1;cudaMemcpyAsync;<gpu copy> copy 4096 link=43,kind=H2D
cpu:-/-/77.0/0 5500 5500  mark  name=saved
END
same_file "the rows" want got
code "check" 0 hpct-info --check n.hpct
same "wall clock" 2023-07-22T04:26:40.000001000Z "$(info n origin_time)"
same "busy time of the queue, by SQLite and here" "$(sqlite3 n.sqlite 'SELECT sum(end - start) FROM (SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL UNION ALL SELECT start, end FROM CUPTI_ACTIVITY_KIND_MEMCPY)')" \
	"$(hpct-stats n.hpct --streams kind=gpu --by op --format tsv | tsv '$c["key"] == "kernel" || $c["key"] == "copy" { s += $c["time_ns"] } END { print s }')"

# As for a real export (docs/formats.md): sums by name, as nsys stats asks for them.
if [ -x /usr/bin/python3 ]; then
	/usr/bin/python3 "$HPCT_SOURCE/tests/compare/nsys.py" n.sqlite n.hpct >got || fail "sums by name: $(grep -v ' 0 names differ' got)"
	same "sums by name: kinds" 7 "$(wc -l <got)"
fi

gzip -c n.sqlite >g.sqlite.gz
mkdir scratch
code "packed" 0 env TMPDIR="$PWD/scratch" hpct-import g.sqlite.gz
hpct-slice n.hpct --format tsv >want
hpct-slice g.hpct --format tsv | same_file "a packed file is the same" want /dev/stdin
same "no copy is left behind" "" "$(ls scratch)"

# Many rows, cut short; views that would never end; another program's file.
sqlite3 m.sqlite <"$HPCT_SOURCE/tests/formats/nsys.sql"
sqlite3 m.sqlite "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
	INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 100 + 10000, i * 100 + 10050, 0, 1, 7, i + 1000, 77 * 16777216, 2, 3, 32, 1, 1, 1, 1, 1, 1, 0, 0 FROM n"
code "many" 0 hpct-import m.sqlite
same "kernels" 50001 "$(hpct-slice m.hpct --op kernel --format tsv | tail -n +2 | wc -l)"
head -c $(($(stat -c %s m.sqlite) * 2 / 3)) m.sqlite >c.sqlite
code "cut short" 4 hpct-import c.sqlite
if [ -e c.hpct ]; then
	check "cut short: what is kept is said" grep -q 'what could be read is in c.hpct' err
	code "cut short: what is kept is sound" 0 hpct-info --check c.hpct
fi
# A text's number far beyond what the file has room for takes no memory.
if [ -x /usr/bin/python3 ]; then
	sqlite3 f.sqlite <"$HPCT_SOURCE/tests/formats/nsys.sql"
	sqlite3 f.sqlite "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET nameId = 67108863 WHERE nameId = 12"
	peak=$(/usr/bin/python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' hpct-import f.sqlite 2>far.err) || fail "a far text: $(cat far.err)"
	check "a far text takes no memory: $peak kB" [ "$peak" -lt 500000 ]
fi
sqlite3 v.sqlite "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i AS end FROM n"
code "views are no tables" 4 hpct-import v.sqlite
sentence "views are no tables"
check "another program's file makes nothing" [ ! -e v.hpct ]
