#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who started whom, with which command, and how each ended: by exit code, by signal, by an exec.
. "$(dirname -- "$0")/expect.sh"
need perl
cat >tree.pl <<'P'
my $child = fork;
if (!$child) {
	my $below = fork;
	if (!$below) { exit 7; }
	waitpid $below, 0;
	kill 9, $$;
	sleep 60;
}
waitpid $child, 0;
system "exec sh -c 'sleep 0.01; exit 4'";
P
record tree -- perl tree.pl
hpct-info tree.hpct --processes --format tsv >processes.tsv || fail "hpct-info --processes"
row() { # COMMAND EXIT : its pid, parent's pid and depth
	awk -F'\t' -v command="$1" -v end="$2" '$10 == command && $9 == end { sub(/.*\//, "", $1); sub(/\..*/, "", $1); print $1, $3, $4 }' processes.tsv
}
read -r root _ depth <<<"$(row 'perl tree.pl' 0)"
same "the program is at the top" 0 "${depth:-none}"
read -r child parent depth <<<"$(row 'perl tree.pl' 'signal 9')"
same "who started the killed child" "$root 1" "${parent:-none} ${depth:-}"
read -r _ parent depth <<<"$(row 'perl tree.pl' 7)"
same "who started the child below it" "$child 2" "${parent:-none} ${depth:-}"
read -r shell parent _ <<<"$(row "sh -c 'sleep 0.01; exit 4'" 4)"
same "who started the shell" "$root" "${parent:-none}"
read -r _ parent _ <<<"$(row 'sleep 0.01' 0)"
same "who started sleep" "$shell" "${parent:-none}"
# A daemon: its parent has ended before it could ask who that is; the parent's own record of the fork tells.
record daemon -- sh -c '(setsid sleep 1.5 &) ; sleep 2'
hpct-info daemon.hpct --processes --format tsv >processes.tsv
read -r _ parent depth <<<"$(row 'sleep 1.5' 0)"
check "a daemon's parent is who forked it, not process ${parent:-none}" [ "${parent:-1}" != 1 ]
same "below the shell's subshell" 2 "${depth:-none}"
hpct-info tree.hpct --processes --format tsv >processes.tsv
hpct-slice tree.hpct -o again.hpct && hpct-info again.hpct --processes --format tsv >again.tsv
same_file "a slice of it has the same tree" processes.tsv again.tsv
hpct-info tree.hpct --processes >table || fail "as a table"
check "the command is indented by its depth: $(tail -n 1 table)" grep -q '   perl tree.pl$' table
