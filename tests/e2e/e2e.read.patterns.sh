#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Patterns of call paths with conditions: kinds of frames, loops and lines, costs; in every reader and in SQL.
. "$(dirname -- "$0")/expect.sh"

paths() { # RUN PATTERN OPTION... : the paths that match, sorted
	local run=$1 pattern=$2
	shift 2
	hpct-stats "$run" --context "$pattern" --by path --format tsv "$@" 2>err | sed 1d | cut -f 1 | sort | paste -sd ' '
}

# Planted costs: 100 ms in all, of which solve has 60 below itself and 10 in itself.
{
	printf 'stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\n'
	for word in '0-main;init' '20-main;solve;step' '60-main;solve' '70-main;solve;norm' '90-main;out' '95-main'; do
		printf 'cpu:n/0/1.0/0\tsamples\t%d000000\t\t%s\t\t1\tCPUTIME\n' "${word%%-*}" "${word#*-}"
	done
	printf 'cpu:n/0/1.0/0\tsamples\t100000000\t\tmain\t\t1\tCPUTIME\n'
} >planted.tsv
hpct-import --from tsv planted.tsv -o planted.hpct 2>err || fail "import: $(cat err)"
is() { same "$1" "$2" "$(paths planted.hpct "$1")"; }
is 'main;*@cost>60%' 'main;solve'
is 'main;*@cost>=20%' 'main;init main;solve'
is 'main;*@cost > 15 ms;*' 'main;init main;solve main;solve;norm main;solve;step'
is '*;@own<10 ms' 'main main;out' # main itself has 5 ms
is '*;@own<=10ms' 'main main;out main;solve'
is '*;@own > 35 % ' 'main;solve;step'
is 'main;@cost>60%;@cost<25%' 'main;solve;norm'
is '*;s*@function@own<15%' 'main;solve'
is '*;@inline;*' ''
is '*;@kernel;*' ''
same "in a window costs are the window's" 'main;init main;solve;step' "$(paths planted.hpct '*;@own>30%' --time 0..40ms)"
same "and the streams'" '' "$(paths planted.hpct '*@cost>1%;*' --streams 'kind=cpu' --time 99ms..99500us --op kernel)"
same "the profile has them, too" 'main solve norm' \
	"$(hpct-profile planted.hpct --context 'main;@cost>60%;@cost<25%' --format tsv | tsv '$c["name"] !~ /</ { print $c["name"] }' | paste -sd ' ')"
same "and the slice" 1 "$(hpct-slice planted.hpct --context '*;@own>35%' --format tsv | sed 1d | wc -l)"
printf '%s\n' "share('main;@cost>60%;*') == 70 %" >gates
code "and gates" 0 hpct-report planted.hpct --gate gates
for pattern in 'main;x@loop' '@loop@line' '@cost>3' '@own<1h' '@file' '@line@inline'; do
	code "$pattern" 2 hpct-stats planted.hpct --context "$pattern"
	sentence "$pattern"
done

# Real code: kinds, files, loops and lines, against the columns of other readers.
record loops -- "$samples/loops" 1 || fail "loops does not end well"
record inline -- "$samples/inline" 1 || fail "inline does not end well"
source=$HPCT_SOURCE/samples/loops.c
line_of() { grep -n -- "MARK $1 " "$source" | tail -n 1 | cut -d: -f1; }
check "a file" test -n "$(paths inline.hpct '*;i6@inline@file=inline.c')"
same "an inlined function is no other" "" "$(paths inline.hpct '*;i6@function')"
check "a module" test -n "$(paths inline.hpct 'main@module=inline;*')"
same "of another module" "" "$(paths inline.hpct 'main@module=libc*;*')"
same "a line of the innermost frame" "$(hpct-sql inline.hpct "SELECT count(*) FROM contexts WHERE function = 'i6' AND line > 0" --format tsv | sed 1d)" \
	"$(hpct-sql inline.hpct "SELECT count(*) FROM contexts_matching('*;i6;@line=inline.c:*')" --format tsv | sed 1d)"
calls=$(grep -n 'calls i6' "$HPCT_SOURCE/samples/inline.c" | cut -d: -f1)
check "a line of a call" test -n "$(paths inline.hpct "*;i5;@line=$calls;i6")"
same "another line" "" "$(paths inline.hpct "*;i5;@line=$((calls + 1));i6")"
hpct-names "$samples/loops" "$(nm "$samples/loops" | awk '$3 == "work" { print $1 }')" 2>&1 | grep -q capstone && skip "hpct was built without capstone: no loops"
outer=$(line_of outer) called=$(line_of called) inner=$(line_of inner)
check "a call in two loops" test -n "$(paths loops.hpct "main;*;work;@loop=loops.c:$outer;@loop=$called;leaf")"
same "not the other way round" "" "$(paths loops.hpct "main;*;work;@loop=$called;@loop=$outer;leaf")"
same "a call in its inner loop alone: a loop may be left out" "$(paths loops.hpct "*;work;*;leaf")" "$(paths loops.hpct "*;work;@loop=$called;leaf")"
near "the inner loop's time" "$(hpct-stats loops.hpct --by loop --format tsv | tsv '$c["key"] ~ /loops.c:'"$inner"'$/ { print $c["time_ns"] }')" \
	"$(hpct-stats loops.hpct --context "*;@loop=$inner" --by module --format tsv | tsv '{ n += $c["time_ns"] } END { print n }')" 0.001
same "a loop's cost" "" "$(paths loops.hpct "*;@loop=$inner@cost<30%")"
check "which it has" test -n "$(paths loops.hpct "*;@loop=$inner@cost>30%")"
for pattern in '*;@loop;*' "*;@loop=$outer;*" '*;leaf@cost>1%;*'; do
	hpct-slice loops.hpct --context "$pattern" --format tsv | tsv '$c["path"] != "" { print $c["path"] }' | sort -u >sliced
	hpct-sql loops.hpct "SELECT DISTINCT path FROM contexts_matching('$pattern')" --format tsv | sed 1d | sort -u >matching
	check "$pattern: it has rows" [ -s sliced ]
	same "$pattern: contexts_matching has the paths of all records that --context selects" "" "$(comm -23 sliced matching)"
done
code "without a pattern" 2 hpct-sql loops.hpct 'SELECT * FROM contexts_matching'
sentence "without a pattern"
