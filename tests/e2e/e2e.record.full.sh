#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A disk that fills while recording: the program runs on as if nothing was, one sentence says so, what was committed
# is a sound run that can be archived elsewhere.
. "$(dirname -- "$0")/expect.sh"
mkdir disk && mount -t tmpfs -o size=220k none disk 2>/dev/null || skip "tmpfs cannot be mounted: not root"
undo='umount -l disk'

"$samples/phases" 0.1 >expected || fail "phases does not end well"
# Where the kernel lets nothing but its ticks sample, as many samples take longer.
record probe -e CPUTIME@f5000 -- "$samples/phases" 0.05 >out
[ "$(info probe sampler)" = trap ] && seconds=0.8 || seconds=8
code "the program's exit code" 0 hpct-record -o disk/a.hpct -e CPUTIME@f5000 -- "$samples/phases" "$seconds"
sentence "full disk"
check "it says that the disk is full: $(head -n 1 err)" grep -q 'stopped early.*make room' err
same "lines that the program printed" "$(wc -l <expected)" "$(wc -l <out)"
code "check" 0 hpct-info disk/a.hpct --check
check "samples" [ "$(sample_count disk/a)" -gt 20 ]
code "a profile" 0 hpct-profile disk/a.hpct
has_gone() { [ "$(info disk/a state)" != recording ]; } # the collector
await has_gone
same "state" "cut short" "$(info disk/a state)"
code "an archive on a full disk" 5 hpct-slice disk/a.hpct -o disk/b.hpct --archive
sentence "an archive on a full disk"
same "what it left there" "a.hpct" "$(ls -A disk)"
code "an archive elsewhere" 0 hpct-slice disk/a.hpct -o b.hpct --archive
same "samples in it" "$(sample_count disk/a)" "$(sample_count b)"

# A limited address space: the map is smaller, and grows.
code "ulimit -v" 0 bash -c 'ulimit -v 1500000; exec hpct-record -o v.hpct -- "$0" 0.2' "$samples/phases"
code "check of it" 0 hpct-info v.hpct --check
