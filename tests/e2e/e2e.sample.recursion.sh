#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# S4 10.4.2, as a program: inclusive and exclusive time of g, which calls itself, in all three views.
. "$(dirname -- "$0")/expect.sh"
record recursion -- "$samples/recursion" 0.3 || fail "recursion does not end well"
total=$(weight_sum recursion) limit=$(share_limit recursion)
echo "$(sample_count recursion) samples, shares within $limit points"

percent() { # VIEW FUNCTION COLUMN : of the first row of that name at the view's top, or the sum of the rows of a view
	hpct-profile recursion.hpct --view "$1" --format tsv | tsv '
		$c["kind"] == "function" && $c["name"] == "'"$2"'" && ("'"$1"'" == "flat" || $c["depth"] == top + 0 ||
			top == "") { top = $c["depth"]; n += $c["'"$3"'"] }
		END { printf "%.2f", 100 * n / '"$total"' }'
}

while read -r function inclusive exclusive; do
	near "flat: $function inclusive" "$inclusive" "$(percent flat "$function" CPUTIME:incl)" "$limit"
	near "flat: $function exclusive" "$exclusive" "$(percent flat "$function" CPUTIME:excl)" "$limit"
	near "bottom-up: $function inclusive" "$exclusive" \
		"$(percent bottom-up "$function" CPUTIME:excl)" "$limit"
done <<'END'
m 100 0
f 70 10
g 90 50
h 40 40
END
hpct-slice recursion.hpct --format tsv | tsv '
	$c["track"] == "samples" {
		path = $c["path"]; sub(/;(cpu_now_ns|clock_gettime|__|\[?vdso|linux-vdso).*/, "", path); sum[path] += $c["weight"] }
	END { for (path in sum) printf "%s\t%.2f\n", path, 100 * sum[path] / '"$total"' }' >paths
while read -r path percent; do
	near "time in $path itself" "$percent" "$(awk -F '\t' -v p="$path" '$1 == p { print $2 }' paths)" "$limit"
done <<'END'
main;m;f 10
main;m;f;g 10
main;m;f;g;g 10
main;m;f;g;g;h 40
main;m;g 30
END
