#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 100 random questions: SQL answers each as the reader does, to the ns and byte; and what SQL takes over of a WHERE gives
# the rows that SQLite would have left of all. HPCT_SEED=N repeats a game.
. "$(dirname -- "$0")/expect.sh"
seed=${HPCT_SEED:-34}
RANDOM=$seed
declare -A end_ns=()
for shape in cpu gpu mixed odd; do
	hpct-simulate -o $shape.hpct --shape $shape --records 6000 --streams 6
	end_ns[$shape]=$(info $shape end_ns)
	hpct-sql $shape.hpct 'SELECT stream FROM streams' --format tsv | sed 1d >$shape.streams
done

end_ns[odd]=4000000000 # most of its records; it ends in 584 years

one_of() { # WORD... : into $word
	shift $((RANDOM % $#))
	word=$1
}
window() { # into $from, $until: within the run, at least a third of it
	local end=${end_ns[$run]} at
	at=$(((RANDOM * 32768 + RANDOM) % 1073741824))
	from=$(awk "BEGIN { printf \"%.0f\", $end * $at / 1073741824 * 0.6 }")
	at=$(((RANDOM * 32768 + RANDOM) % 1073741824))
	until=$(awk "BEGIN { printf \"%.0f\", $from + $end * (0.33 + $at / 1073741824 * 0.5) }")
}
picked() { # NAME OPTION VALUE : in a third of the questions: an option, and a constraint of that argument
	[ $((RANDOM % 3)) -eq 0 ] || return
	options+=("--$2" "$3")
	where+=" AND $1 = '${3//\'/\'\'}'"
}
quoted() { printf "'%s'" "${1//\'/\'\'}"; }

# alike QUERY COLUMNS READER... : the reader's TSV (these columns, as cut has them) and SQL's are the same; or both refuse
alike() {
	local query=$1 columns=$2 wanted=0 got=0
	shift 2
	"$@" "${options[@]}" "$run.hpct" --format tsv >all 2>err || wanted=$?
	hpct-sql "$run.hpct" "$query" --format tsv >got 2>sql.err || got=$?
	cut -f "$columns" all | sed 1d >want.rows
	sed 1d got >got.rows
	[ "$sorts" = no ] || { sort -o want.rows want.rows && sort -o got.rows got.rows; }
	[ "$wanted" = "$got" ] || fail "$* ${options[*]} $run.hpct: exit code $wanted, of SQL $got: $(cat sql.err)"
	cmp -s want.rows got.rows || {
		fail "seed $seed: $* ${options[*]} $run.hpct is not what this gives: $query"
		diff want.rows got.rows | head -n 4 | cut -c1-300
	}
	rows=$((rows + $(wc -l <want.rows)))
}

ask_stats() {
	one_of function path module line stream op loop inline file instruction
	options+=(--by "$word")
	where+=" AND \"by\" = '$word'"
	picked streams streams "$(one_of kind=cpu kind=gpu rank=0 '!rank=1' 'thread=0-2' && echo "$word")"
	picked contexts context "$(one_of '*faces*' 'main;*' '*;solve*' '*' && echo "$word")"
	picked max_depth depth $((RANDOM % 6 + 1))
	picked ops op "$(one_of kernel 'k*' '*' launch && echo "$word")"
	alike "SELECT key, time_ns, records FROM stats WHERE $where" 1,2,4 hpct-stats
}
ask_profile() {
	one_of top-down bottom-up flat
	options+=(--view "$word")
	where+=" AND view = '$word'"
	one_of CPUTIME REALTIME BLOCKED GKER
	options+=(--metric "$word" --all)
	picked streams streams "$(one_of kind=cpu rank=0 'thread=0-2' && echo "$word")"
	picked max_depth depth $((RANDOM % 6 + 1))
	alike "SELECT depth, id, parent, kind, name, module, file, line, inclusive, exclusive FROM profile
		WHERE metric = '$word' AND $where" 1-10 hpct-profile
}
ask_slice() {
	picked streams streams "$(one_of kind=cpu kind=gpu rank=0 'thread=0-2' && echo "$word")"
	picked contexts context "$(one_of '*faces*' 'main;*' '*' && echo "$word")"
	ask_rows "$where"
}
ask_rows() { # WHERE
	local where=$1
	alike "SELECT stream, 'samples', begin_ns, NULL, path, NULL, NULL, weight, metric, NULL, NULL FROM samples WHERE $where
		UNION ALL SELECT stream, 'spans', begin_ns, end_ns, path, op, bytes, weight, NULL, NULL, attributes FROM spans WHERE $where
		UNION ALL SELECT stream, 'values', begin_ns, NULL, path, NULL, NULL, NULL, metric, value, NULL FROM \"values\" WHERE $where" \
		1-11 hpct-slice
}
ask_blame() {
	one_of gpu-idle gpu-idle-sampled all-idle cpu-idle cpu-idle-cause waiting serial
	options+=(--of "$word")
	where+=" AND \"of\" = '$word'"
	one_of function path line module loop
	options+=(--by "$word")
	where+=" AND \"by\" = '$word'"
	picked streams streams "$(one_of kind=cpu rank=0 rank=0-1 && echo "$word")"
	picked max_depth depth $((RANDOM % 6 + 1))
	alike "SELECT key, blame_ns FROM blame WHERE $where" 1,2 hpct-blame
}
ask_gaps() {
	one_of function path line module
	options+=(--by "$word")
	where+=" AND \"by\" = '$word'"
	picked streams streams "$(one_of rank=0 rank=0-1 && echo "$word")"
	picked min min "$(one_of 1us 100us 1ms && echo "$word")"
	alike "SELECT begin_ns, end_ns, gap_ns, stream, cause, key, path FROM gaps WHERE $where" 1-7 hpct-blame --gaps
}
ask_late() {
	picked streams streams "$(one_of kind=cpu rank=0 rank=0-1 && echo "$word")"
	alike "SELECT key, blame_ns, last, occasions, waited_ns, path FROM late WHERE $where" 1,2,4-7 hpct-blame --late
}
# The same rows, whether hpct or SQLite looks at what is asked: of +x SQLite takes nothing over.
ask_pushed() {
	local table stream glob what pushed unpushed
	one_of samples spans '"values"'
	table=$word
	stream=$(shuf -n 1 --random-source=<(yes $RANDOM) $run.streams)
	one_of '*faces*' 'main;*' '*' 'x*'
	glob=$word
	one_of CPUTIME kernel copy launch monitored
	what="$([ "$table" = spans ] && echo op || echo metric) IN ('$word', 'none')"
	pushed="begin_ns >= $from AND begin_ns < $until.5" unpushed="+begin_ns >= $from AND +begin_ns < $until.5"
	[ $((RANDOM % 3)) -ne 0 ] || { pushed+=" AND stream = $(quoted "$stream")" unpushed+=" AND +stream = $(quoted "$stream")"; }
	[ $((RANDOM % 3)) -ne 0 ] || { pushed+=" AND path GLOB '$glob'" unpushed+=" AND +path GLOB '$glob'"; }
	[ $((RANDOM % 3)) -ne 0 ] || { pushed+=" AND $what" unpushed+=" AND +$what"; }
	[ $((RANDOM % 3)) -ne 0 ] || [ "$table" != spans ] || { pushed+=" AND end_ns <= $until" unpushed+=" AND +end_ns <= $until"; }
	hpct-sql $run.hpct "SELECT * FROM $table WHERE $pushed" --format tsv >got.rows 2>err || fail "$pushed: $(cat err)"
	hpct-sql $run.hpct "SELECT * FROM $table WHERE $unpushed" --format tsv >want.rows 2>err || fail "$unpushed: $(cat err)"
	cmp -s want.rows got.rows || {
		fail "seed $seed: $run.hpct, $table WHERE $pushed: other rows than of all"
		diff want.rows got.rows | head -n 4 | cut -c1-300
	}
	rows=$((rows + $(wc -l <want.rows) - 1))
}
# Each side of an OR is read by a filter of its own; +() is read once.
ask_either() {
	local table one two what from_one=$from
	one_of samples spans
	table=$word
	what=$([ "$table" = spans ] && echo op || echo metric)
	one=$(quoted "$(shuf -n 1 --random-source=<(yes $RANDOM) $run.streams)")
	two=$(quoted "$(shuf -n 1 --random-source=<(yes $RANDOM) $run.streams)")
	one_of "stream = $two AND begin_ns >= $until" "stream = $one AND begin_ns < $until" \
		"stream = $two AND $what IN ('CPUTIME', 'kernel', 'launch')" "stream = $one AND begin_ns >= $from_one"
	local where="((stream = $one AND begin_ns >= $from_one) OR ($word))"
	hpct-sql $run.hpct "SELECT * FROM $table WHERE $where" --format tsv >got.rows 2>err || fail "$where: $(cat err)"
	hpct-sql $run.hpct "SELECT * FROM $table WHERE +$where" --format tsv >want.rows 2>err || fail "+$where: $(cat err)"
	sort -o want.rows want.rows && sort -o got.rows got.rows
	cmp -s want.rows got.rows || fail "seed $seed: $run.hpct, $table WHERE $where: $(wc -l <got.rows) rows, not $(wc -l <want.rows)"
	hpct-sql $run.hpct "EXPLAIN QUERY PLAN SELECT * FROM $table WHERE $where" >plan 2>err
	either=$((either + $(grep -c 'MULTI-INDEX OR' plan)))
	rows=$((rows + $(wc -l <want.rows) - 1))
}

rows=0 total=0
for question in $(seq 100); do
	one_of cpu gpu mixed mixed odd
	run=$word options=() where=1 sorts=no
	one_of stats stats stats profile profile slice slice blame blame gaps late pushed pushed pushed
	ask=$word
	[[ $ask != blame && $ask != gaps ]] || { one_of gpu mixed && run=$word; } # runs with GPUs
	window
	if [ "$ask" != pushed ] && [ $((RANDOM % 4)) -ne 0 ]; then
		options+=(--time "${from}ns..${until}ns")
		where+=" AND \"begin\" = $from AND \"end\" = $until"
	fi
	[ "$ask" != slice ] || sorts=yes
	before=$rows
	ask_"$ask"
	[ "$rows" -eq "$before" ] || total=$((total + 1))
done
either=0
for run in cpu gpu mixed odd cpu gpu mixed odd; do
	window
	ask_either
done
check "SQLite reads both sides of an OR in $either of 8" [ "$either" -ge 4 ]
check "most questions have an answer: $total of 100, $rows rows" [ "$total" -ge 40 ]

# Rows that are alike are all kept, whichever side of an OR finds them; a row that both sides find is one row.
{
	printf '%s\t' stream track begin_ns end_ns path op bytes weight metric value attributes | sed 's/\t$/\n/'
	for path in a b a a; do printf 'cpu:h/-/7.0/0\tsamples\t1000\t\t%s\t\t\t5\tCPUTIME\t\t\n' $path; done
	printf 'cpu:h/-/7.0/1\tsamples\t1000\t\ta\t\t\t5\tCPUTIME\t\t\n'
} >twins.tsv
hpct-import --from tsv -o twins.hpct twins.tsv 2>err || fail "import: $(cat err)"
for where in "stream = 'cpu:h/-/7.0/0' AND begin_ns >= 0" "stream = 'cpu:h/-/7.0/0' AND path = 'a'" "stream = 'cpu:h/-/7.0/1' AND begin_ns >= 0"; do
	both="((stream = 'cpu:h/-/7.0/0' AND path = 'a') OR ($where))"
	same "twins: $where" "$(hpct-sql twins.hpct "SELECT path, weight FROM samples WHERE +$both ORDER BY 1" --format tsv)" \
		"$(hpct-sql twins.hpct "SELECT path, weight FROM samples WHERE $both ORDER BY 1" --format tsv)"
done

# A stream of PC samples, whose rows are a selector's, too.
{
	printf '%s\t' stream track begin_ns end_ns path op bytes weight metric value attributes | sed 's/\t$/\n/'
	printf 'gpu:h/-/7.0/0/1/pc\tspans\t0\t200000\t\tmonitored\t\t0\t\t\tperiod=16,sms=132\n'
	printf 'cpu:h/-/7.0/0\tsamples\t1000\t\tmain\t\t\t1000\tCPUTIME\t\t\n'
	printf 'gpu:h/-/7.0/0/1/7\tspans\t50000\t90000\tmain;<gpu kernel>;spin\tkernel\t\t0\t\t\t\n'
	printf 'gpu:h/-/7.0/0/1/pc\tsamples\t100000\t\t<gpu kernel>;spin\t\t\t4096\tGINST:STL_GMEM\t\t\n'
} >pc.tsv
hpct-import --from tsv -o pc.hpct pc.tsv 2>err || fail "import: $(cat err)"
run=pc sorts=yes rows=0
for where in '' 'kind=pc' 'kind=cpu|kind=pc'; do
	options=(${where:+--streams "$where"}) where=${where:+"streams = '$where'"}
	ask_rows "${where:-1}"
done
options=(--time 0..1ms)
ask_rows "\"begin\" = 0 AND \"end\" = '1ms'"
check "PC samples are among the rows" [ "$rows" -eq 13 ]

# A stream that no span calls monitored gets one where a window cuts it.
{
	printf '%s\t' stream track begin_ns end_ns path op bytes weight metric value attributes | sed 's/\t$/\n/'
	printf 'gpu:h/-/7.0/0/1/7\tspans\t%d\t%d\ta\tkernel\t\t\t\t\t\n' 0 100 300 400 800 1000
} >bare.tsv
hpct-import --from tsv -o bare.hpct bare.tsv 2>err || fail "import: $(cat err)"
run=bare sorts=yes rows=0
for window in '0 1000' '50 1000' '0 850' '350 820' '120 250'; do
	read -r from until <<<"$window"
	options=(--time "${from}ns..${until}ns")
	ask_rows "\"begin\" = $from AND \"end\" = $until"
done
check "spans and what was monitored: $rows rows" [ "$rows" -eq $((3 + 4 + 4 + 3 + 1)) ]
options=(--time 50ns..850ns --context a)
rows=0
ask_rows "\"begin\" = 50 AND \"end\" = 850 AND contexts = 'a'"
check "only those that are asked for" [ "$rows" -eq 3 ]

# What a run is made of. The sum of odd's times has no 64 bits.
for run in cpu gpu mixed odd pc; do
	options=() sorts=no
	alike 'SELECT stream, kind, host, rank, pid, tid, device, queue, name, begin_ns, end_ns, samples, spans, "values", lost FROM streams' \
		1-15 hpct-info --streams
	alike 'SELECT kind, path, build_id, load_ns, unload_ns, frames, named, lines, in_loops, lacks, partial FROM modules' 1-11 hpct-info --modules
	alike 'SELECT metric, unit, source FROM metrics' 1-3 hpct-info --metrics
	hpct-sql $run.hpct 'SELECT DISTINCT c.path FROM samples s JOIN contexts c USING (context) WHERE s.path IS NOT c.path' --format tsv >odd.paths 2>err
	same "$run: paths of contexts are those of samples" 1 "$(wc -l <odd.paths)"
	[ $run = odd ] || same "$run: times of functions" "$(hpct-stats $run.hpct --by function --format tsv | tsv '{ n += $c["time_ns"] } END { printf "%.0f", n }')" \
		"$(hpct-sql $run.hpct 'SELECT sum(time_ns) FROM stats' --format tsv | sed 1d)"
done

# Who came last, where ranks and threads meet.
for run in meet messages threads; do
	hpct-import --from tsv -o $run.hpct "$HPCT_SOURCE/tests/golden/$run/rows.tsv" 2>err || fail "import: $(cat err)"
	options=() sorts=no rows=0
	alike 'SELECT key, blame_ns, last, occasions, waited_ns, path FROM late' 1,2,4-7 hpct-blame --late
	check "somebody came last in $run" [ "$rows" -gt 0 ]
done
