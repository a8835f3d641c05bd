#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Children by fork, vfork, posix_spawn, system and exec are streams of their own, whole.
. "$(dirname -- "$0")/expect.sh"
record children -- "$samples/forks" all 0.3 >reading || fail "forks does not end well"
weights_agree children
hpct-slice children.hpct --format tsv >rows
weight_of() { # PID FUNCTION
	tsv '$c["track"] == "samples" && split($c["stream"], part, "/") && part[3] ~ /^'"$1"'\./ &&
		(";" $c["path"] ";") ~ /;'"$2"';/ { n += $c["weight"] } END { printf "%.0f\n", n }' <rows
}
limit=$(edge children 12e6)
while IFS=$'\t' read -r kind pid ns; do
	case $kind in
	parent) function=parent_work want=0.3e9 ;;
	fork) function=fork_work want=0.3e9 ;;
	*) function=child_work want=0.3e9 ;;
	esac
	near "$kind: weights in $function of process $pid (its clock: $ns)" "$want" \
		"$(weight_of "$pid" "$function")" "$limit"
done <reading
pid=$(awk '$1 == "exec" { print $2 }' reading)
tsv '{ print $c["stream"] }' <rows | grep -o "/$pid\.[0-9]*/" | sort -u >generations
same "exec: generations of process $pid" "/$pid.0/ /$pid.1/ " "$(tr '\n' ' ' <generations)"

# A storm of short children, two at a time: every one is there, exit codes come through.
record storm -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true & /bin/false; done; wait; exit 4'
same "storm: exit code" 4 "$?"
check "storm: 21 processes, got $(hpct-info storm.hpct --streams --format tsv |
	tsv '$c["kind"] == "cpu" { print $c["pid"] }' | sort -u | wc -l)" [ "$(hpct-info storm.hpct --streams --format tsv |
	tsv '$c["kind"] == "cpu" { print $c["pid"] }' | sort -u | wc -l)" -eq 21 ]

# Children of children that end at once: none is taken for one that never loaded the agent.
record nested --summary summary -- bash -c 'for i in {1..50}; do x=$(y=$(:); echo); done'
check "nested: 101 processes, all measured: $(cat summary)" grep -q '^processes 101 ' summary
check "nested: none is taken for unmeasured: $(cat summary)" [ -z "$(grep '^unmonitored' summary)" ]

# Children whose parent's other thread held the loader's locks when they began, which nobody gives back to them.
for options in '-e CPUTIME@f200' '-e CPUTIME@f10000' '--unwinder libunwind'; do
	# shellcheck disable=SC2086 # words
	record inherits $options --summary summary -- timeout -k 1 20 \
		"$HPCT_BIN/../tests/inherits" "$HPCT_BIN/../tests/inherits_library.so" >reading
	same "inherits, $options: exit code" 0 "$?"
	same "inherits, $options: what the program says" "list 3 load 3 " "$(tr '\n' ' ' <reading)"
	check "inherits, $options: the children's 100 ms are there" calc "$(weight_sum inherits) > 90000000"
	rm -rf inherits.hpct
done
