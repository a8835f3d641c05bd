#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A shell pipeline: every process of it is recorded, and the shell's exit code comes through.
. "$(dirname -- "$0")/expect.sh"
event=CPUTIME@2000 # as often as the kernel's tick lets it
cat >in <<'END'
awk 'BEGIN { x = 7; for (i = 0; i < 3000000; i++) { x = (x * 16807) % 2147483647; print x % 9973 } }' |
	sort -n | uniq -c | sort -k1,1nr -k2n | head -n 400 | md5sum
seq 1 900000 | gzip -9 | wc -c
exit 3
END
both pipeline sh -s
weights_agree pipeline
hpct-info pipeline.hpct --streams --format tsv | tsv '{ print $c["pid"] }' | sort -u >pids
check "pipeline: a stream for each of ten processes, got $(wc -l <pids)" [ "$(wc -l <pids)" -ge 10 ]
pool pipeline
