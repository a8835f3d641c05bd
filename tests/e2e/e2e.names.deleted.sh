#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run reads the same after its binaries are gone; by --debug-path a stripped program gets its names elsewhere.
. "$(dirname -- "$0")/expect.sh"
mkdir there && cp "$samples/phases" there/program
record gone -- there/program 0.2 >/dev/null
for reader in "hpct-slice" "hpct-profile" "hpct-stats --by line" "hpct-stats --by module"; do
	# shellcheck disable=SC2086
	$reader gone.hpct --format tsv >>before
done
rm -r there
for reader in "hpct-slice" "hpct-profile" "hpct-stats --by line" "hpct-stats --by module"; do
	# shellcheck disable=SC2086
	$reader gone.hpct --format tsv >>after
done
same_file "answers after the binary is deleted" before after
check "the names are the program's" grep -q 'worker;step;solve;smooth' after
hpct-slice gone.hpct --format tsv >here
mv gone.hpct moved.hpct
hpct-slice moved.hpct --format tsv >there
same_file "a run that was moved" here there

id=$(readelf -n "$samples/phases" | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}" && cp "$samples/phases" stripped && strip stripped &&
	objcopy --only-keep-debug "$samples/phases" "debug/.build-id/${id:0:2}/${id:2}.debug" || fail "cannot strip"
record stripped -- ./stripped 0.2 >/dev/null
hpct-profile stripped.hpct --view flat --format tsv >nameless
check "what has no symbol reads stripped+0x..." grep -q 'stripped+0x' nameless
check "a stripped program has no wrong neighbour's name" [ "$(grep -c 'smooth' nameless)" -eq 0 ]
hpct-profile stripped.hpct --view flat --format tsv --debug-path "$work/debug" >named
check "--debug-path names it by build id" grep -q 'smooth' named
