#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What docs/scripting.md and man/hpct-sql.1 show runs, and has rows: each question as a command, as SQL and in Python. Where
# they give the same numbers they are compared.
. "$(dirname -- "$0")/expect.sh"
hpct-simulate -o run.hpct --shape mixed --records 30000 --streams 6
hpct-simulate -o yesterday.hpct --shape mixed --records 30000 --streams 6 --seed 2
hpct-import --from tsv -o mpi.hpct "$HPCT_SOURCE/tests/golden/meet/rows.tsv" || fail "import"
cp -r run.hpct gpu.hpct

# Blocks of the page: one file each, number.sh, number.RUN.sql or, with the number of the SQL before it, number.py
awk '
	/^```python/ { file = sprintf("%02d.py", n); if (seen[file]++) exit 1; next }
	/^```(sh|sql)/ { n++; file = sprintf("%02d.%s", n, $1 == "```sh" ? "sh" : $2 ".sql"); next }
	/^```/ { file = ""; next }
	file { print >file }' "$HPCT_SOURCE/docs/scripting.md"
commands=0 queries=0
for block in [0-9]*.sh; do
	code "$(cat "$block")" 0 bash "$block"
	check "$(cat "$block"): has rows" [ "$(wc -l <out)" -gt 1 ]
	cp out "${block%.sh}.command"
	commands=$((commands + 1))
done
for block in [0-9]*.sql; do
	run=${block#*.} number=${block%%.*}
	code "$(cat "$block")" 0 hpct-sql "${run%.sql}" "$(cat "$block")" --format tsv
	check "$(cat "$block"): has rows" [ "$(wc -l <out)" -gt 1 ]
	cp out "$number.query"
	queries=$((queries + 1))
done
same "a command and SQL for each of fifteen questions, and a plan" "15 16" "$commands $queries"

# Python: what it prints, with all digits.
same "Python for each of fifteen questions, and how to begin" 16 "$(ls [0-9]*.py | wc -l)"
if [ -e "$HPCT_BIN/../lib/libhpct.so.0" ] && python_with pandas; then
	export PYTHONPATH=$HPCT_SOURCE/formats/python PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=error
	code "Python" 0 "$python" - [0-9]*.py <<-'END'
		import contextlib, sys
		import hpct, pandas
		pandas.set_option("display.width", 4000, "display.max_columns", 99, "display.max_rows", 999, "display.max_colwidth", None)
		for block in sys.argv[1:]:
		    with open(block) as source, open(block + "thon", "w") as out, contextlib.redirect_stdout(out):
		        exec(compile(source.read(), block, "exec"), {"hpct": hpct, "pandas": pandas})
	END
	cat err
	for block in [0-9]*.py; do
		check "$(cat "$block"): has rows" [ -s "${block}thon" ]
	done
	check "the picture of a second" grep -q '</svg>' second.svg
	# Whole numbers of SQL's answer, all in what Python printed.
	numbers() { grep -oE '[0-9]{4,}' "$1" | sort -u; }
	for query in 02 10 12 14 16 18; do
		same "question $query: numbers of SQL that Python does not have" "" "$(comm -23 <(sed 's/\.[0-9]*//g' $query.query >whole && numbers whole) <(numbers $query.python))"
	done
else
	echo "no python3-pandas, or no libhpct: Python is not tested"
fi

# The same columns have the same numbers; `percent` is rounded by the readers.
column() { awk -F '\t' -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $at }' "$1"; }
equal() { # SENTENCE COMMAND-BLOCK COLUMN... : of it and of the query that follows
	local what=$1 first=$2 name
	shift 2
	for name; do
		same "$what: $name" "$(column "$first.command" "$name")" "$(column "$(printf '%02d' $((10#$first + 1))).query" "$name")"
	done
}
equal "who is late" 01 key blame_ns last occasions path
equal "gaps" 09 begin_ns gap_ns stream cause key
equal "blame" 11 key blame_ns
equal "one second" 13 key time_ns
equal "waits" 17 key time_ns
equal "a formula" 27 key
same "a formula: mean" "$(column 27.command mean)" "$(column 28.query mean | sed 's/\.0$//')"
same "copies: all of them" "$(tsv '$c["op"] == "copy" { n += $c["count"] } END { print n }' <19.command)" "$(column 20.query 'count(*)')"

# Links of two hosts are equal: a launch has its own kernel alone.
{
	printf 'stream\ttrack\tbegin_ns\tend_ns\tpath\top\tattributes\n'
	for host in a b; do
		printf 'cpu:%s/-/1.0/0\tspans\t10\t20\tmain\tlaunch\tlink=1\n' $host
		printf 'gpu:%s/-/1.0/0/1/7\tspans\t%d\t900\tmain;<gpu kernel>;k\tkernel\tlink=1\n' $host "$([ $host = a ] && echo 50 || echo 90)"
	done
} >hosts.tsv
hpct-import --from tsv hosts.tsv -o hosts.hpct 2>err || fail "import: $(cat err)"
waits=$(cat "$(grep -l launches [0-9]*.sql)")
same "a launch and its kernel" "2	30	70" "$(hpct-sql hosts.hpct "$waits" --format tsv | sed 1d)"

# Examples of the manual page, as a shell would see them.
sed -n 's/^\.Dl //p' "$HPCT_SOURCE/man/hpct-sql.1" | sed 's/\\(dq/"/g' >examples
while read -r example; do
	[[ $example != sqlite3* ]] || { command -v sqlite3 >/dev/null || continue; }
	code "$example" 0 env LD_LIBRARY_PATH="$HPCT_BIN/../lib" bash -c "$example"
	check "$example: has rows" [ "$(wc -l <out)" -gt 1 ]
done <examples
check "the page has examples" [ "$(wc -l <examples)" -ge 6 ]
