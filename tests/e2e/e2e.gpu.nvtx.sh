#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranges of NVTX by its own interface for tools: thousands of registered names, within each other, on their paths.
. "$(dirname -- "$0")/expect.sh"

names=5000 turns=2
record ranges -- "$HPCT_BIN/../tests/cuda_nvtx" $names $turns || fail "the program does not end well"
hpct-slice ranges.hpct --op range --format tsv | tsv '
	$c["op"] == "range" {
		n = split($c["path"], f, ";")
		print f[n], $c["attributes"] ~ /^name=[0-9]+ of a long name: 0+[0-9]+,domain=instructions$/ ? "by name" : $c["attributes"]
	}' | sort | uniq -c | awk '{ $1 = $1 } 1' >got
cat >wanted <<ROWS
$((names * turns)) inner by name
$turns outer by name
$turns outer name=step\\, the outer\\=one
$turns outer name=turn\\, by\\=id,domain=instructions
ROWS
same_file "ranges by path and name" wanted got
same "different names" $((names + 1)) "$(hpct-slice ranges.hpct --op range --format tsv |
	tsv '$c["attributes"] ~ /domain/ && !seen[$c["attributes"]]++' | wc -l)"
same "lost" 0 "$(info ranges lost)"
record off -e gpu=off -- "$HPCT_BIN/../tests/cuda_nvtx" 10 1 || fail "the program does not end well without GPUs"
same "ranges where GPUs are not watched" 0 "$(hpct-slice off.hpct --op range --format tsv | tsv '$c["op"] == "range"' | wc -l)"
