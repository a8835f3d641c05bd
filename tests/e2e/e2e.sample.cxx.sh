#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# C++: demangled names of templates, a lambda behind std::function, exceptions in flight.
. "$(dirname -- "$0")/expect.sh"
[ -x "$samples/templates" ] || skip "built without a C++ compiler"
record cxx -- "$samples/templates" 0.5 || fail "templates does not end well"
hpct-slice cxx.hpct --format tsv | tsv '
	$c["track"] == "samples" { all += $c["weight"]; p = $c["path"]; w = $c["weight"]
		if (p ~ /(^|;)main;shop::grid<double>::relax/) a += w
		else if (p ~ /(^|;)main;shop::grid<int>::relax/) b += w
		else if (p ~ /lambda/) l += w
		else if (p ~ /(^|;)main;catcher/) e += w }
	END { printf "%.1f %.1f %.1f %.1f\n", 100 * a / all, 100 * b / all, 100 * l / all, 100 * e / all }' >shares
read -r doubles integers lambda exceptions <shares
limit=$(share_limit cxx)
near "share of grid<double>" 25 "$doubles" "$limit"
near "share of grid<int>" 25 "$integers" "$limit"
near "share of the lambda" 25 "$lambda" "$limit"
near "share of catcher and the exceptions below it" 25 "$exceptions" "$limit"
check "the thrower's frames are in paths" [ "$(share cxx 'shop::thrower::leap')" != 0.000 ]
weights_agree cxx
