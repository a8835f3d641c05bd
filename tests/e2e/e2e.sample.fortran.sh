#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fortran: module procedures, an internal procedure, MAIN__.
. "$(dirname -- "$0")/expect.sh"
[ -x "$samples/fortran" ] || skip "built without a Fortran compiler"
record fortran -- "$samples/fortran" 0.4 || fail "fortran does not end well"
hpct-slice fortran.hpct --format tsv | tsv '
	$c["track"] == "samples" { all += $c["weight"]; p = $c["path"]; w = $c["weight"]
		if (p !~ /(^|;)main;(MAIN__|heat)(;|$)/) next
		if (p ~ /;(__grid_MOD_smooth|grid::smooth|smooth)(;|$)/) s += w
		else if (p ~ /;(__grid_MOD_norm|grid::norm|norm)(;|$)/) n += w
		else if (p ~ /;(heat::)?save_grid(\.[0-9]+)?(;|$)/) v += w }
	END { printf "%.1f %.1f %.1f\n", 100 * s / all, 100 * n / all, 100 * v / all }' >shares
read -r smooth norm save <shares
limit=$(share_limit fortran)
near "share of smooth" 50 "$smooth" "$limit"
near "share of norm" 25 "$norm" "$limit"
near "share of save_grid" 25 "$save" "$limit"
