#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --mem SIZE: the heaviest questions within 64 MiB of memory that is no file's, byte for byte the same.
. "$(dirname -- "$0")/expect.sh"
need python3
hpct-simulate -o big.hpct --shape mixed --streams 16 --records 1200000 || fail "no run"
limited() ( # memory that is no file's: data, heap and what else is mapped to be written
	ulimit -d 65536
	"$@"
)
alike() { # NAME COMMAND... : the question, without and with; the sums are told apart, not the texts kept
	local name=$1 free bound
	shift
	free=$("$@" | md5sum) || fail "$name"
	bound=$(limited "$@" --mem 64M 2>err | md5sum) || fail "$name within 64 MiB: $(head -n 1 err)"
	same "$name" "$free" "$bound"
}
# In big.hpct is nothing to be found: who waits here waits for nothing, at fifty places.
awk 'BEGIN {
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top"
	for (i = 0; i < 300000; i++) {
		printf "cpu:h/-/1.0/0\tspans\t%d\t%d\tmain;f%d;wait\tsync\n", 10000 * i, 10000 * i + 3000, i % 50
		printf "gpu:h/-/1.0/0/0/0\tspans\t%d\t%d\tmain;f%d;launch;k\tkernel\n", 10000 * i + 4000, 10000 * i + 9000, i % 50
	}
}' >waits.tsv
hpct-import --from tsv waits.tsv -o waits.hpct || fail "no run with findings"
same "findings" 50 "$(hpct-blame waits.hpct --findings --format tsv | grep -c '^needless-sync')"
limited hpct-slice big.hpct --format tsv --top 3 >out 2>err && fail "a slice takes less than 64 MiB anyhow: larger run"
alike slice hpct-slice big.hpct --format tsv
alike profile hpct-profile big.hpct --format tsv
alike page hpct-blame big.hpct
alike gpu-idle hpct-blame big.hpct --of gpu-idle --format tsv
alike gaps hpct-blame big.hpct --gaps --format tsv
alike operations hpct-stats big.hpct --operations --format tsv
alike findings-none hpct-blame big.hpct --findings --format tsv
alike findings hpct-blame waits.hpct --findings --format tsv
alike page-all hpct-blame big.hpct --of gpu-idle --group all --no-rollups --format tsv
alike diff hpct-diff big.hpct big.hpct --format tsv
# what a slice commits at once, and the same records
limited hpct-slice big.hpct -o part.hpct --mem 32M 2>err || fail "a smaller run within 64 MiB: $(head -n 1 err)"
same "a smaller run" "$(hpct-slice big.hpct --format tsv | md5sum)" "$(hpct-slice part.hpct --format tsv | md5sum)"
# every list in more pieces than memory holds
for question in "stats big.hpct --operations" "blame big.hpct --findings" "blame waits.hpct --findings" \
	"blame big.hpct --summary --no-rollups" "blame big.hpct --of gpu-idle-sampled"; do
	# shellcheck disable=SC2086 # words
	same "$question in pieces" "$(hpct-$question --format tsv | md5sum)" "$(hpct-$question --format tsv --mem 16M | md5sum)"
done
# of operations all that grows with the run lies beside memory
small=$( (ulimit -d 28672 && hpct-stats big.hpct --operations --format tsv --mem 16M 2>err) | md5sum)
same "operations within 28 MiB" "$(hpct-stats big.hpct --operations --format tsv | md5sum)" "$small"
# gaps in more pieces than memory holds
hpct-blame big.hpct --gaps --format tsv >free || fail "gaps"
hpct-blame big.hpct --gaps --format tsv --mem 16M >bound || fail "gaps in pieces"
same_file "gaps in pieces" bound free
hpct-blame big.hpct --gaps --format tsv --top 7 >bound || fail "the largest gaps"
head -n 8 free >expected
same_file "the largest gaps" bound expected
hpct-export big.hpct --to chrome -o free.json --streams 'kind=cpu' --depth 2 || fail "an export"
limited hpct-export big.hpct --to chrome -o bound.json --streams 'kind=cpu' --depth 2 --mem 16M || fail "an export within 64 MiB"
same_file "an export" bound.json free.json
for size in 0 1M 64X M 99999999999G 64MB -1; do
	code "--mem $size" 2 hpct-info big.hpct --mem "$size"
done
# Where the address space is limited, a map leaves room for what writes it, wherever the limit lies.
hpct-simulate -o few.hpct --shape mixed --streams 6 --records 20000 || fail "no small run"
for kib in $(seq 60000 5000 160000); do
	rm -rf simulated.hpct sliced.hpct
	(ulimit -v "$kib" && hpct-simulate -o simulated.hpct --records 20000) 2>err ||
		fail "hpct-simulate in $kib KiB: $(head -n 1 err)"
	(ulimit -v "$kib" && hpct-slice few.hpct -o sliced.hpct) 2>err || fail "hpct-slice in $kib KiB: $(head -n 1 err)"
done
# Who looks at many streams in turn does not take memory from the system anew for each.
hpct-simulate -o wide.hpct --streams 2000 --records 30000 || fail "no run of many streams"
cat >faults.py <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt)
END
none=$(python3 faults.py hpct-stacks --version)
faults=$(($(python3 faults.py hpct-stacks wide.hpct --format tsv) - none))
check "page faults of 2000 streams: $faults" [ "$faults" -lt 2000 ]
