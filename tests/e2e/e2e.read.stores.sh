#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run of many stores needs more descriptors than a shell allows at first: readers take what they may have. Where that is
# too little they say what lifts it, and the run is not called damaged.
. "$(dirname -- "$0")/expect.sh"

mkdir many.hpct
for host in $(seq 100 139); do
	printf 'stream\ttrack\tbegin_ns\tpath\tweight\tmetric\n' >one.tsv
	for at in 1 2 3; do
		printf 'cpu:n%d/-/%d.0/0\tsamples\t%d\tmain;f%d\t7\tCPUTIME\n' "$host" "$host" "$at" "$at" >>one.tsv
	done
	hpct-import --from tsv one.tsv -o one.hpct || fail "import"
	mv one.hpct/*.mdb "many.hpct/n$host.mdb"
	rm -r one.hpct
done
code "an archive" 0 hpct-slice many.hpct -o kept.hpct --archive
hpct-profile many.hpct --format tsv >expected || fail "a profile"
check "it has all hosts' weights" grep -q '	840	' expected
for run in many kept; do
	code "$run: a limit that may be lifted" 0 bash -c "ulimit -S -n 32; exec hpct-profile $run.hpct --format tsv"
	same_file "$run: a limit that may be lifted" expected out
	code "$run: a limit that may not" 5 bash -c "ulimit -n 32; exec hpct-profile $run.hpct --format tsv"
	sentence "$run: a limit that may not"
	check "$run: what lifts it: $(cat err)" grep -q 'Too many open files; raise .ulimit -n' err
done
