#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tables on a terminal fit into its lines: the longest texts lose their middle, columns stay columns. Pipes and files
# get all of every name.
. "$(dirname -- "$0")/expect.sh"
command -v script >/dev/null || skip "no script to make a terminal"

long=at::native::vectorized_elementwise_kernel\<4,at::native::AUnaryFunctor\<float\>,std::array\<char*,2ul\>\>
{
	printf 'stream\ttrack\tbegin_ns\tend_ns\tpath\top\tattributes\n'
	printf 'gpu:n/-/10.0/0/1/1\tspans\t0\t900000\t\tmonitored\tname=queue\n'
	printf 'gpu:n/-/10.0/0/1/1\tspans\t100000\t300000\tmain;train;<gpu kernel>;%s\tkernel\t\n' "$long"
	printf 'gpu:n/-/10.0/0/1/1\tspans\t400000\t450000\tmain;train;<gpu kernel>;gemm\tkernel\t\n'
	printf 'gpu:n/-/10.0/0/1/1\tspans\t500000\t510000\tmain;träin;<gpu kernel>;ü%s\tkernel\t\n' "${long//n/ñ}"
} >rows.tsv
hpct-import --from tsv rows.tsv

hpct-import --from tsv "$HPCT_SOURCE/tests/golden/blame/rows.tsv" -o blame.hpct || fail "the rows of blame"

on_terminal() { # COLUMNS COMMAND
	script -qec "stty cols $1; $2" /dev/null </dev/null | tr -d '\r'
}
export LC_ALL=C.UTF-8 NO_COLOR=1 HPCT_PAGER=
on_terminal 130 "hpct-stats rows.hpct --operations" >wide
one_byte_each() { sed 's/[^ -~]/x/g' "$1"; }
same "the widest line of 130" "" "$(one_byte_each wide | awk 'length > 130')"
check "its beginning and its end are there" grep -q 'at::native::vec.*\.\.\..*char\*,2ul>>  ' wide
same "columns" 1 "$(one_byte_each wide | awk '/kernel/ { print length }' | sort -u | wc -l)"
on_terminal 60 "hpct-stats rows.hpct --by path --op kernel" >narrow
same "the widest line of 60" "" "$(one_byte_each narrow | awk '/kernel/ && length > 60')"
check "a short name is whole" grep -q 'main;train;<gpu kernel>;gemm$' narrow
check "characters are whole, too" iconv -f UTF-8 -t UTF-16 narrow
# What is too wide even so leaves columns out, says which, and keeps the names of the rest.
for question in "hpct-info blame.hpct --streams" "hpct-stats blame.hpct --operations" "hpct-blame blame.hpct --imbalance" \
	"hpct-blame blame.hpct --findings" "hpct-blame blame.hpct --by mark" "hpct-blame blame.hpct --gaps" \
	"hpct-blame blame.hpct --of all-idle" "hpct-blame blame.hpct --late" "hpct-blame blame.hpct --summary" \
	"hpct-diff blame.hpct blame.hpct --scaling strong" "hpct-stats blame.hpct" "hpct-profile blame.hpct"; do
	on_terminal 80 "$question" >folded
	same "the widest line of 80: $question" "" "$(awk 'length > 80' folded)"
	same "each row is one line: $question" "$($question 2>/dev/null | grep -cE ' (us|ms|ns)( |$)')" \
		"$(grep -cE ' (us|ms|ns)( |$)' folded)"
done
on_terminal 80 "hpct-info blame.hpct --streams" >narrow
same "columns left out are named" "no room for host, rank, pid, tid, device, queue; --format table has all" "$(tail -1 narrow)"
same "the head of the others" "stream kind name begin end samples spans values lost" "$(head -1 narrow | xargs)"
on_terminal 60 "hpct-info blame.hpct --streams" >narrower
check "what the stream's name says goes first, then what is at the right: $(tail -1 narrower)" \
	grep -q '^no room for kind, host, rank, pid, tid, device, queue, values, lost; --format' narrower
hpct-info blame.hpct --streams >piped
on_terminal 60 "hpct-info blame.hpct --streams --format table" >chosen
same_file "a chosen format is what a pipe gets" piped chosen
on_terminal 80 "hpct-stacks rows.hpct --at 200us" >stacks
same "the widest line of 80: hpct-stacks" "" "$(one_byte_each stacks | awk 'length > 80')"
check "a frame keeps its ends: $(cat stacks)" grep -q '^  #0  at::native::vec.*\.\.\..*char\*,2ul>>$' stacks
check "a pipe has all of a frame" grep -qF "$long" <(hpct-stacks rows.hpct --at 200us)
on_terminal 1000 "hpct-stats rows.hpct --by path --op kernel" >whole
check "a wide terminal has all" grep -qF "main;train;<gpu kernel>;$long" whole
# The page of hpct-blame: of GPUs, of threads; names, sentences and commands with what they show.
sed 's/main;build/main;load_the_configuration_of_everything;py::run_all:pages.py;evaluate_the_whole_expression_tree;simplify_the_terms_in_place;build/' \
	"$HPCT_SOURCE/tests/golden/blame/rows.tsv" | hpct-import --from tsv -o page.hpct - || fail "the rows of blame"
for streams in '*' 'kind=cpu'; do
	[ "$streams" = '*' ] && question="hpct-blame page.hpct" || question="hpct-blame page.hpct --streams '$streams'"
	for columns in 80 100; do
		on_terminal $columns "$question" >page
		same "the widest line of $columns: $streams" "" "$(awk -v c=$columns 'length > c' page)"
	done
	check "the columns of a narrow page end in one: $streams" \
		[ "$(awk '/ %$/ { print length }' page | sort -u | wc -l)" -eq 1 ]
	on_terminal 300 "$question" >page
	bash -c "$question" >piped
	same_file "a wide terminal shows what a pipe gets: $streams" piped page
done
on_terminal 80 "hpct-blame page.hpct" >page
check "a gap has a line of its own: $(cat page)" grep -qE '^ +largest gap: .* at ' page
check "the function of Python's is kept" grep -q ';py::run_all:pages.py;' page
# Help, likewise.
for program in doctor link names record simulate; do
	same "hpct-$program --help: the widest line" "" "$(hpct-$program --help | awk 'length > 80')"
done
for program in blame diff export import info names profile slice stacks stats view; do
	on_terminal 80 "hpct-$program --help" >help
	same "hpct-$program --help: the widest line of 80" "" "$(awk 'length > 80' help)"
	same "hpct-$program --help: its usage begins a line" 1 "$(grep -c '^usage: ' help)"
	hpct-$program --help >piped
	same "hpct-$program --help: words" "$(tr -s ' \n' '\n\n' <piped | md5sum)" "$(tr -s ' \n' '\n\n' <help | md5sum)"
done
hpct-stats rows.hpct --operations >piped
check "so has a pipe" grep -qF "$long" piped
