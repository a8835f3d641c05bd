#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a short recording leaves, whose commits are as many as its chunks: a file of which every page is in use, so it
# is not larger than 1.15 x that; whole, and alone in its run but for its lock file.
. "$(dirname -- "$0")/expect.sh"
need python3
case $(stat -f -c %T .) in
nfs* | fuse* | smb* | cifs* | v9fs | ceph | lustre | gpfs | afs | panfs | ocfs2 | gfs*)
	skip "this folder lies on a file system of several machines, where a finished file stays what it is"
	;;
esac
cat >pages.py <<'E2'
# FILE : its pages, and those that are in use. LMDB: meta pages 0 and 1, of the latest the tree of free pages, in
# whose leaves values begin with how many.
import struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack_from("<I", data, 40)[0]
meta = max((0, size), key=lambda at: struct.unpack_from("<Q", data, at + 144)[0])
pages = struct.unpack_from("<Q", data, meta + 136)[0] + 1
entries, root = struct.unpack_from("<QQ", data, meta + 40 + 32)
free, left = 0, [root] if root < pages else []
while left:
    at = left.pop() * size
    flags, lower = struct.unpack_from("<HH", data, at + 10)
    for i in range((lower - 16) // 2):
        node = at + struct.unpack_from("<H", data, at + 16 + 2 * i)[0]
        low, high, kind, key = struct.unpack_from("<HHHH", data, node)
        if flags & 1:
            left.append(low | high << 16 | kind << 32)
        elif kind & 1:
            free += struct.unpack_from("<Q", data, struct.unpack_from("<Q", data, node + 8 + key)[0] * size + 16)[0]
        else:
            free += struct.unpack_from("<Q", data, node + 8 + key)[0]
print(len(data) // size, pages - free)
E2
record short -e CPUTIME@f1000 -- "$samples/phases" 2 >/dev/null || fail "phases does not end well"
store=$(echo short.hpct/*.mdb)
# The collector ends behind hpct-record.
for _ in $(seq 1200); do
	read -r all used < <(python3 pages.py "$store" 2>/dev/null) && [ "$all" -eq "$used" ] && break
	sleep 0.05
done
echo "$all pages, $used in use"
check "a file of $all pages, $used of them in use" calc "$used > 10 && $all <= 1.15 * $used"
code "check of it" 0 hpct-info short.hpct --check
hpct-info short.hpct --sizes --format tsv >sizes || fail "its sizes are not told"
same "columns" "part values bytes percent" "$(head -n 1 sizes | tr '\t' ' ')"
same "the parts are the payload" "$(awk '$1 == "payload" { print $2, $3 }' sizes)" \
	"$(awk 'NR > 1 && $1 != "payload" && $1 != "file" { values += $2; bytes += $3 } END { print values, bytes }' sizes)"
same "the file" "1 $(stat -c %s "$store")" "$(awk '$1 == "file" { print $2, $3 }' sizes)"
check "share of the file: $(tail -n 1 sizes)" awk '$1 == "payload" { all = $3 }
	$1 == "file" { off = $4 - 100 * $3 / all; exit !(all > 0 && $3 > all && off * off < 1) }' sizes
same "state" complete "$(info short state)"
check "samples" [ "$(sample_count short)" -gt 50 ]
same "files of the run" "$(basename "$store")" "$(ls -A short.hpct | tr '\n' ' ' | sed 's/ $//')"
