#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the kernel does for a program is part of its call paths where the kernel may be looked at: at samples of a
# perf source, and, asked for by BLOCKTIME, at every wait, wrapper or not.
. "$(dirname -- "$0")/expect.sh"
program=$HPCT_BIN/../tests/kernel_frames

if hpct-doctor --format tsv 2>/dev/null | grep -q $'^kernel frames\tno'; then
	skip "the kernel may not be looked at: $(hpct-doctor --format tsv | grep '^kernel frames')"
fi
grep -q ' T _text$' /proc/kallsyms && ! grep -q '^0* T _text$' /proc/kallsyms || skip "/proc/kallsyms hides its addresses"

code "works" 0 hpct-record -o works.hpct -e CPUTIME@1000 --sampler trap -- "$program" works
[ "$(info works sampler)" = trap ] || skip "no sampling by perf events here"
same "works: stdout" 9000 "$(head -n 1 out)"
same "works: lost" 0 "$(info works lost)"
weights_agree works
hpct-slice works.hpct --format tsv | tsv '$c["track"] == "samples" && $c["weight"] { print $c["path"] }' >paths
check "reads go on inside the kernel: $(sort paths | uniq -c | sort -rn | head -n 3)" \
	[ "$(grep -cE 'main;reads_zeros;syscall;.*;(vfs_read|read_zero|read_iter_zero|ksys_read)(;|$)' paths)" -ge 20 ]
check "faults go on inside the kernel: $(sort paths | uniq -c | sort -rn | head -n 3)" \
	[ "$(grep -cE 'main;touches_pages;.*;handle_mm_fault(;|$)' paths)" -ge 20 ]
hpct-info works.hpct --modules --format tsv >modules 2>&1
check "the kernel is a module: $(tail -n 3 modules)" grep -q '\[kernel\]' modules

# The kernel's functions are kept for the runs to come, for this user alone; what is no table is made anew.
kept=$(find "$XDG_CACHE_HOME/hpct/kernel" -type f)
same "one table is kept" 1 "$(printf '%s\n' "$kept" | grep -c .)"
same "nobody else may read it" 600 "$(stat -c %a "$kept")"
first=$(stat -c '%i %s' "$kept")
sampled() { # RUN
	code "$1" 0 hpct-record -o "$1.hpct" -e CPUTIME@1000 --sampler trap -- "$program" works
	hpct-slice "$1.hpct" --format tsv | tsv '$c["track"] == "samples" && $c["weight"] { print $c["path"] }' >paths
	check "$1: reads have their path: $(sort paths | uniq -c | sort -rn | head -n 3)" \
		[ "$(grep -cE 'main;reads_zeros;syscall;.*;(vfs_read|read_zero|read_iter_zero|ksys_read)(;|$)' paths)" -ge 20 ]
}
sampled again
same "a table that serves stays" "$first" "$(stat -c '%i %s' "$kept")"
printf 'hpctksy1' | dd of="$kept" bs=8 seek=9 conv=notrunc 2>/dev/null
sampled damaged
check "a damaged one is replaced" [ "$(stat -c '%i %s' "$kept")" != "$first" ]
same "by one of its size" "${first#* }" "$(stat -c %s "$kept")"

dd if=/dev/urandom of=file bs=1M count=1 2>/dev/null && sync file
code "waits" 0 hpct-record -o waits.hpct -e BLOCKTIME -- "$program" waits "$PWD/file"
same "waits: sleeps, none interrupted" 5 "$(cut -d ' ' -f 1 out)"
hpct-slice waits.hpct --op blocked --format tsv | tsv '{ print $c["end_ns"] - $c["begin_ns"] "\t" $c["path"] }' >waits
check "each sleep has its path, down to the kernel's timer: $(cat waits)" \
	[ "$(grep -cE '^[0-9]+.main;sleeps;syscall;.*nanosleep.*;schedule$' waits)" -eq 5 ]
# The calls of the program are named, not the kernel's scheduler, in which all of them wait.
hpct-blame waits.hpct --of waiting --format tsv >rows
check "a wait is named by the program's call: $(cat rows)" awk -F '\t' '$1 ~ /schedule|futex_wait/ { n++ } END { exit n > 0 || NR < 2 }' rows
hpct-record -o plain.hpct -- "$program" waits "$PWD/file" >/dev/null
hpct-slice plain.hpct --op blocked --format tsv | tsv '{ print $c["path"] }' >plain
# Without it a wait of 10 ms may be looked at from outside, which never sees the kernel.
check "not asked for, no wait has the kernel's part: $(cat plain)" [ "$(grep -cE 'nanosleep|schedule' plain)" -eq 0 ]
if grep -q 'main;faults;.*page_fault' waits; then
	check "a wait for a page ends in the kernel: $(grep faults waits)" grep -qE 'main;faults;.*page_fault.*;(io_)?schedule$' waits
else
	echo "no page had to be waited for: the file lies in memory"
fi
