#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A report on a terminal: what is longer than the screen goes through the user's pager, what is not goes at once; a
# pipe, a chosen format and --no-pager have neither pager nor colours; rankings show their first 20 rows.
. "$(dirname -- "$0")/expect.sh"
command -v script >/dev/null || skip "no script to make a terminal"
hpct-import --from tsv "$HPCT_SOURCE/tests/golden/blame/rows.tsv" -o blame.hpct || fail "the rows of blame"
{
	printf 'stream\ttrack\tbegin_ns\tend_ns\tpath\top\tattributes\n'
	printf 'cpu:n/-/10.0/0\tspans\t0\t100000\t\tmonitored\tname=main\n'
	for i in $(seq 30); do
		printf 'gpu:n/-/10.0/0/1/1\tspans\t%d\t%d\tmain;<gpu kernel>;kernel_%d\tkernel\t\n' \
			$((i * 1000)) $((i * 1000 + i * 10)) "$i"
	done
} >rows.tsv
hpct-import --from tsv rows.tsv || fail "the rows"

on_terminal() { # COLUMNS ROWS COMMAND
	TERM=${term-xterm-256color} script -qec "stty cols $1 rows $2; $3" /dev/null </dev/null | tr -d '\r'
}
export LC_ALL=C.UTF-8
unset NO_COLOR PAGER LESS COLORTERM
export HPCT_PAGER='sed s/^/paged:/'
question='hpct-stats blame.hpct --operations'
NO_COLOR=1 on_terminal 120 50 "$question" >whole
lines=$(wc -l <whole)
on_terminal 120 "$lines" "$question" >screen
same "as long as the screen, where the prompt needs a line: paged" "$lines" "$(grep -c ^paged: screen)"
on_terminal 120 $((lines + 1)) "$question" >screen
same "a line shorter: at once" 0 "$(grep -c ^paged: screen)"
same "--no-pager" 0 "$(on_terminal 120 5 "$question --no-pager" | grep -c ^paged:)"
same "a chosen format" 0 "$(on_terminal 120 5 "$question --format table" | grep -c ^paged:)"
same "no terminal" 0 "$(script -qec "stty rows 5; $question | cat" /dev/null </dev/null | grep -c ^paged:)"
same "a dumb terminal" 0 "$(term=dumb on_terminal 120 5 "$question" | grep -c ^paged:)"
same "HPCT_PAGER wins" "$lines" "$(PAGER=cat on_terminal 120 5 "$question" | grep -c ^paged:)"
for none in '' cat no_such_pager_here; do
	same "HPCT_PAGER=$none: the whole, at once" "$(cat whole)" "$(HPCT_PAGER=$none NO_COLOR=1 on_terminal 120 5 "$question")"
done
same "PAGER" "$lines" "$(unset HPCT_PAGER; PAGER='sed s/^/paged:/' on_terminal 120 5 "$question" | grep -c ^paged:)"
same "who leaves the pager early has no fault" "0" \
	"$(HPCT_PAGER='head -1' on_terminal 120 5 "$question >/dev/tty; echo \$?" | tail -1)"
same "its status is kept" 3 \
	"$(on_terminal 120 5 "hpct-stats blame.hpct --time 5s..6s; echo \$?" | tail -1)"
# Colours: of heads, bars and shares; none where they are not wanted.
escape=$'\033'
on_terminal 120 50 "hpct-blame blame.hpct" >page
check "a bar: $(cat -v page)" grep -qE "$escape\[1;38;5;32m#+ " page
check "a large share" grep -qE "$escape\[1;38;5;166m +40.0 %$escape\[0m" page
check "a small one is plain" grep -qE "$escape\[0m +3.0 %$escape\[0m" page
on_terminal 120 50 "hpct-stats blame.hpct" >page
check "a head" grep -qF "${escape}[1;38;5;32mkey${escape}[0m" page
same "16 colours have the basic ones" 1 "$(term=xterm on_terminal 120 50 "hpct-stats blame.hpct" | grep -cF "${escape}[1;34mkey")"
for plain in "NO_COLOR=1 $question" "TERM=dumb $question" "$question --format table" "$question | cat"; do
	same "no colours: $plain" 0 "$(on_terminal 120 50 "$plain" | grep -c "$escape")"
done
same "the words are the same" "$(cat whole)" "$(on_terminal 120 50 "$question" | sed "s/$escape\[[0-9;]*m//g")"
# The first 20 rows, and what holds for all.
export NO_COLOR=1 HPCT_PAGER=
on_terminal 120 50 "hpct-stats rows.hpct --by function" >rows
same "20 rows of work" 20 "$(grep -c kernel_ rows)"
check "the largest first: $(cat rows)" grep -q ' kernel_30$' rows
check "states are not cut off" grep -q 'unmonitored\|idle' rows
same "how to see the others" "10 more rows; --top 30 shows all" "$(tail -1 rows)"
same "--top 25" 25 "$(on_terminal 120 90 "hpct-stats rows.hpct --top 25" | grep -c kernel_)"
same "a pipe has all" 30 "$(hpct-stats rows.hpct | grep -c kernel_)"
same "a chosen format has all" 30 "$(on_terminal 120 90 "hpct-stats rows.hpct --format table" | grep -c kernel_)"
on_terminal 120 50 "hpct-stats rows.hpct --operations" >rows
same "20 operations" "20 10 more rows; --top 30 shows all" "$(grep -c kernel_ rows) $(tail -1 rows)"
on_terminal 120 50 "hpct-diff rows.hpct rows.hpct --by function" >rows
check "20 differences at most" [ "$(grep -c kernel_ rows)" -le 20 ]
check "and how many more" grep -q 'more rows; --top .* shows all' rows
hpct-simulate --shape waits --streams 40 --records 5000 -o waits.hpct >/dev/null || fail "a run of waits"
for ranking in "--critical-path --by stream" "--of waiting --by cause" "--of lock --by chain"; do
	all=$(($(hpct-blame waits.hpct $ranking --format tsv | wc -l) - 1))
	same "20 rows: $ranking" "$((all - 20)) more rows; --top $all shows all" \
		"$(on_terminal 120 50 "hpct-blame waits.hpct $ranking" | tail -1)"
done
# 25 ranks in a ring, each the last at one collective call, each with a needless synchronization of its own.
{
	printf 'stream\ttrack\tbegin_ns\tend_ns\tpath\top\tbytes\tattributes\n'
	for rank in $(seq 0 24); do
		stream=cpu:n/$rank/$((100 + rank)).0/0
		next=$(((rank + 1) % 25))
		printf '%s\tspans\t0\t10000000\t\tmonitored\t\tname=main\n' "$stream"
		printf 'gpu:n/%d/%d.0/0/1/1\tspans\t0\t1000000\tmain;<gpu kernel>;k\tkernel\t\t\n' "$rank" $((100 + rank))
		for call in $(seq 0 24); do
			begin=$((call * 100000 + (call == rank ? 90000 : 0)))
			printf '%s\tspans\t%d\t%d\tmain;step;MPI_Allreduce\tmpi\t\tcall=allreduce,comm=world,seq=%d\n' \
				"$stream" "$begin" $((call * 100000 + 95000)) $((call + 1))
		done
		printf '%s\tspans\t3000000\t3001000\tmain;MPI_Send\tmpi\t8\tcall=MPI_Send,comm=world,peer=%d,tag=1\n' \
			"$stream" "$next"
		printf '%s\tspans\t3100000\t3101000\tmain;MPI_Recv\tmpi\t8\tcall=MPI_Recv,comm=world,peer=%d,tag=1\n' \
			"$stream" $(((rank + 24) % 25))
		printf '%s\tspans\t4000000\t5000000\tmain;part_%d;cudaDeviceSynchronize\tsync\t\t\n' "$stream" "$rank"
	done
} >ring.tsv
hpct-import --from tsv ring.tsv || fail "the rows of a ring"
for ranking in --late --findings --matrix; do
	hpct-blame ring.hpct $ranking --format tsv >all.tsv || fail "$ranking"
	all=$(($(wc -l <all.tsv) - 1))
	check "$ranking has many rows: $(cat all.tsv)" [ "$all" -ge 25 ]
	on_terminal 200 90 "hpct-blame ring.hpct $ranking" >rows
	same "20 rows: $ranking: $(cat rows)" "$((all - 20)) more rows; --top $all shows all" "$(tail -1 rows)"
	on_terminal 200 90 "hpct-blame ring.hpct $ranking --top $all" >more
	same "all rows are $((all - 20)) more and one line less: $ranking" $((all - 21)) \
		$(($(wc -l <more) - $(wc -l <rows)))
	same "a pipe has all: $ranking" "$(wc -l <more)" "$(hpct-blame ring.hpct $ranking | wc -l)"
done
# A report that is longer than what is kept.
hpct-simulate --streams 4 --records 20000 -o long.hpct >/dev/null || fail "a long run"
same "all of a long report reaches the pager" "$(hpct-slice long.hpct | wc -l)" \
	"$(HPCT_PAGER='wc -l' on_terminal 300 50 "hpct-slice long.hpct" | xargs)"
# Of reports that write no table, too.
{
	printf 'stream\ttrack\tbegin_ns\tend_ns\tpath\top\tattributes\n'
	path=$(seq -f 'a_function_whose_name_is_longer_than_most_so_that_lines_are_long_%g' -s ';' 60)
	for i in $(seq 80); do
		printf 'gpu:n/-/10.0/0/1/%d\tspans\t0\t100000\t%s\tkernel\t\n' "$i" "$path"
	done
} >wide.tsv
hpct-import --from tsv wide.tsv || fail "the rows of many stacks"
hpct-stacks wide.hpct >stacks || fail "stacks"
check "longer than what is kept: $(wc -c <stacks)" [ "$(wc -c <stacks)" -gt 300000 ]
same "all stacks reach the pager" "$(wc -l <stacks)" \
	"$(HPCT_PAGER='wc -l' on_terminal 300 50 "hpct-stacks wide.hpct" | xargs)"
