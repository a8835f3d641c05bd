#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs in pid namespaces of their own have the same numbers at the same time: each is measured to its end.
. "$(dirname -- "$0")/expect.sh"
need unshare
unshare -pf true 2>/dev/null || skip "no pid namespace can be made here: not root"

# Both are there before either goes on.
cat >both.sh <<'END'
mkfifo there go
exec 8<>there 9<>go
for i in 1 2; do
	unshare -pf sh -c 'echo >&8; read -r line <&9; exec "$0" 0.3 8>&- 9>&-' "$1" &
done
read -r line <&8
read -r line <&8
printf '\n\n' >&9
wait
END
record own -- bash both.sh "$samples/phases" >/dev/null
same "exit code" 0 "$?"
ended() { # how many threads of phases, by their clocks, were measured to their end
	hpct-slice own.hpct --format tsv | tsv '
		$c["op"] == "monitored" && $c["stream"] ~ /\/1\.2\// && $c["attributes"] ~ /cpu_end_ns=/ { n++ }
		END { print n + 0 }'
}
same "threads of two programs, both process 1" 10 "$(ended)"
hpct-info own.hpct --streams --format tsv | tsv '$c["pid"] == 1 && $c["kind"] == "cpu" { print $c["name"] }' | sort | uniq -c >streams
same "their streams" "2 phases, 2 sh, 2 unshare, 2 worker 1, 2 worker 2, 2 worker 3, 2 worker 4" \
	"$(sed 's/^ *//' streams | paste -sd, | sed 's/,/, /g')"
same "children taken for unmonitored" 0 "$(info own children_unmonitored)"
code "check" 0 hpct-info own.hpct --check

# The collector has no use for the numbers that a parent in there gives its children.
record inside -- unshare -pf bash -c 'for ((i = 0; i < 40; i++)); do (sleep 0.002) & done; wait'
same "children of a parent in there, taken for unmonitored" 0 "$(info inside children_unmonitored)"
