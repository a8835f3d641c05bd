#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run on a file system that others serve: FUSE, by bindfs. Where maps are coherent it is recorded there, where
# they are not on this host, and copied. Finished runs are read there without locks.
. "$(dirname -- "$0")/expect.sh"
need bindfs fusermount
[ -w /dev/fuse ] || skip "/dev/fuse cannot be opened"

mkdir real there tmp
export TMPDIR=$work/tmp # where nobody else's stores lie
mounted=
unmount() {
	[ -z "$mounted" ] || fusermount -u "$work/there" || umount -l "$work/there"
	mounted=
}
undo=unmount
# mount_with OPTION... : `real` appears at `there`
mount_with() {
	bindfs "$@" real there 2>err || skip "bindfs cannot mount: $(head -n 1 err)"
	mounted=1
}
temporary() { find "$TMPDIR" -maxdepth 1 -name 'hpct-store.*' | wc -l; }

mount_with
same "file system" fuseblk "$(stat -f -c %T there | sed 's/^fuse$/fuseblk/')"
hpct-doctor >doctor.here 2>/dev/null
(cd there && hpct-doctor) >doctor.there 2>/dev/null
check "hpct-doctor knows FUSE" grep -q FUSE doctor.there
check "and does not see it where it is not" sh -c '! grep -q FUSE doctor.here'

record there/plain -e CPUTIME@f500 -- "$samples/phases" 0.3 >/dev/null || fail "phases does not end well"
same "a coherent place is recorded to" "" "$(info there/plain copied_from)"
code "check of it" 0 hpct-info there/plain.hpct --check
hpct-slice there/plain.hpct --format tsv >a
hpct-slice real/plain.hpct --format tsv >b
same_file "a run read through FUSE and beside it" a b
rm -f real/plain.hpct/*-lock
code "a finished run" 0 hpct-profile there/plain.hpct
same "lock files that a reader of a finished run leaves there" "" "$(cd real/plain.hpct && ls -- *-lock 2>/dev/null)"
unmount

# Without shared maps LMDB cannot write there at all.
mount_with -o direct_io,attr_timeout=0
if python3 -c 'import mmap; f = open("there/probe", "w+b"); f.write(b"x" * 4096); f.flush(); mmap.mmap(f.fileno(), 4096)' 2>/dev/null; then
	skip "this kernel maps files of FUSE's direct_io"
fi
rm -f real/probe
hpct-record -o there/far.hpct -- "$samples/phases" 1.5 >/dev/null &
launcher=$!
opens() { hpct-info real/far.hpct >out 2>err; }
check "a live run whose store lies elsewhere opens: $(head -n 1 err)" await opens
wait "$launcher" || fail "phases does not end well on an incoherent file system"
same "why" FUSE "$(info real/far file_system)"
same "state" complete "$(info real/far state)"
check "samples" [ "$(sample_count real/far)" -gt 50 ]
code "check of the copy" 0 hpct-info real/far.hpct --check
same "what is left on this host" 0 "$(temporary)"
same "what lies in the run" 1 "$(find real/far.hpct -name '*.mdb' | wc -l)"
same "parts of copies" 0 "$(find real/far.hpct -name '.*' -type f | wc -l)"

# The collector is killed: what was copied is there, and where the rest is, is said.
hpct-record -o there/killed.hpct -- "$samples/phases" 3 >/dev/null &
launcher=$!
is_collected() { collector=$(info real/killed collector_pid 2>/dev/null) && [ -n "$collector" ]; }
await is_collected
sleep 1
kill -KILL "$collector"
wait "$launcher"
code "a run whose collector was killed" 0 hpct-info real/killed.hpct --check
left=$(info real/killed copied_from)
check "the store that was written: $left" [ -f "$left" ]
mkdir left.hpct && mv "$left" left.hpct/
code "is a run" 0 hpct-info left.hpct --check
rm -rf "$(dirname "$left")"
unmount
