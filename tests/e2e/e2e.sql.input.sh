#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-sql and the extension: words, formats, plans; and bad input, a run that grows, ends or is removed while it is open,
# an interruption: one sentence, the right exit code, nothing left behind.
. "$(dirname -- "$0")/expect.sh"
hpct-simulate -o mixed.hpct --shape mixed --records 6000 --streams 6
hpct-simulate -o cpu.hpct --records 2000
touch -d '1 hour ago' cpu.hpct/*
mkdir tmp before
export TMPDIR=$work/tmp SQLITE_TMPDIR=$work/tmp
ls -A >files.before

# Words.
samples_of=$(hpct-info mixed.hpct --streams --format tsv | tsv '{ n += $c["samples"] } END { print n }')
count='SELECT sum(samples) FROM streams'
answer() { sed 1d out; }
code "RUN QUERY" 0 hpct-sql mixed.hpct "$count" --format tsv
same "RUN QUERY" "$samples_of" "$(answer)"
code "QUERY alone" 0 hpct-sql "$count" --format tsv
same "QUERY alone: the newest run" "hpct-sql: reading mixed.hpct" "$(cat err)"
same "QUERY alone" "$samples_of" "$(answer)"
code "RUN alone, the query on stdin" 0 hpct-sql mixed.hpct/ --format tsv <<<"-- how many
$count;"
same "RUN alone, the query on stdin" "$samples_of" "$(answer)"
code "a run that is not there" 4 hpct-sql missing.hpct
sentence "a run that is not there"
code "a run that is not there, and a query" 4 hpct-sql missing.hpct "$count"
code "three words" 2 hpct-sql mixed.hpct "$count" more
sentence "three words"

# Formats.
code "table" 0 hpct-sql mixed.hpct "SELECT 'a' AS text, 7 AS whole, 0.25 AS part"
same "table" 'text  whole  part
a         7  0.25' "$(cat out)"
code "json" 0 hpct-sql mixed.hpct "SELECT 'a' || char(9) AS text, -7 AS whole, 1/3.0 AS part, NULL AS none, x'00ff' AS bytes" --format json
same "json" '{"schema":"hpct-sql","version":1}
{"text":"a\\t","whole":-7,"part":0.333333333333333,"none":null,"bytes":"00ff"}' "$(sed 's/0.3333333333333333/0.333333333333333/' out)"
code "several statements" 0 hpct-sql mixed.hpct "SELECT 1 AS a; SELECT 2 AS b;" --format tsv
same "several statements" 'a 1 b 2' "$(tr '\n' ' ' <out | sed 's/ $//')"
code "the version of the schema" 0 hpct-sql mixed.hpct "SELECT hpct_schema()" --format tsv
same "the version of the schema" 1 "$(answer)"

# Plans say what is taken over.
plan() { hpct-sql mixed.hpct "EXPLAIN QUERY PLAN $1" --format tsv | sed -n 's/.*VIRTUAL TABLE INDEX [0-9]*://p'; }
same "plan: time, stream, metric, path" "stream=?, begin_ns>=?, begin_ns<?, metric=?, path GLOB ?" "$(plan "SELECT weight FROM samples
	WHERE stream = 'a' AND begin_ns >= 5 AND begin_ns < 7 AND metric = 'CPUTIME' AND path GLOB 'main*'")"
same "plan: operation, context" "op=?, context=?" "$(plan "SELECT * FROM spans WHERE op = 'kernel' AND context = 3")"
same "plan: arguments" "begin=?, end=?, by=?" "$(plan "SELECT * FROM stats(1, 2, 'path')")"
same "plan: streams come first where they choose" "t s" "$(hpct-sql mixed.hpct "EXPLAIN QUERY PLAN SELECT count(*) FROM samples s JOIN
	streams t ON s.stream = t.stream WHERE t.rank = 0" --format tsv | sed -n 's/.*SCAN \([a-z]\) VIRTUAL.*/\1/p' | tr '\n' ' ' | sed 's/ $//')"

same "plan: another collation is SQLite's" "begin_ns>=?" "$(plan "SELECT * FROM spans WHERE op = 'KERNEL' COLLATE NOCASE AND begin_ns >= 5")"
kernels=$(hpct-sql mixed.hpct "SELECT count(*) FROM spans WHERE op = 'kernel'" --format tsv | sed 1d)
same "NOCASE: kernels" "$kernels" "$(hpct-sql mixed.hpct "SELECT count(*) FROM spans WHERE op = 'KERNEL' COLLATE NOCASE" --format tsv | sed 1d)"
check "NOCASE: there are kernels" [ "$kernels" -gt 0 ]
same "NOCASE: streams" 6 "$(hpct-sql mixed.hpct "SELECT count(*) FROM streams a JOIN streams b ON b.stream = upper(a.stream) COLLATE NOCASE" --format tsv | sed 1d)"

# Percentiles and deviations.
code "percentile" 0 hpct-sql mixed.hpct "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 200)
	SELECT percentile(x, 50), percentile(x, 99), percentile(x, 100), percentile(x, 0), percentile(NULL, 9), stddev(x % 2) FROM c" --format tsv
same "percentile" '100	198	200	1		0.5' "$(answer)"

code "percentiles of 1 to 100" 0 hpct-sql mixed.hpct "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100)
	SELECT count(*) FROM c p WHERE p.x = (SELECT percentile(x, p.x) FROM c)" --format tsv
same "percentiles of 1 to 100: each is the value" 100 "$(answer)"

# What writes is refused, before it is done.
for query in 'CREATE TABLE a(b)' 'CREATE TEMP TABLE a(b)' "ATTACH 'file.db' AS a" "VACUUM INTO 'file.db'" 'DELETE FROM streams' \
	"INSERT INTO spans(op) VALUES ('x')" 'UPDATE streams SET rank = 7' 'PRAGMA journal_mode = wal' 'PRAGMA temp_store_directory = x' \
	"SELECT load_extension('x')" 'BEGIN' 'DROP TABLE streams' 'SELECT 1; CREATE TABLE a(b)'; do
	code "$query" 2 hpct-sql mixed.hpct "$query"
	sentence "$query"
done
# What is no query, or asks for what is not there.
many=$(seq -s , 10000)
for query in 'SELEC 1' 'SELECT * FROM nowhere' 'SELECT colour FROM streams' "SELECT $many" 'SELECT ?1' "SELECT 'a" "SELECT * FROM stats('soon')" \
	"SELECT * FROM stats WHERE \"by\" = 'colour'" "SELECT * FROM stats WHERE metrics = 'CPUTIME'" "SELECT * FROM blame('someone')" \
	"SELECT * FROM profile WHERE view = 'sideways'" "SELECT * FROM stats(9, 5)" "SELECT * FROM spans('@nowhere')" "SELECT hpct_open(1) FROM streams"; do
	code "${query:0:60}" 2 hpct-sql mixed.hpct "$query"
	sentence "${query:0:60}"
done
code "no stream matched" 3 hpct-sql mixed.hpct "SELECT * FROM stats WHERE streams = 'name=nobody'"
code "nothing monitored" 3 hpct-sql mixed.hpct "SELECT * FROM profile('3600s', '3601s')"
code "another run that is not there" 4 hpct-sql mixed.hpct "SELECT * FROM stats WHERE run = 'missing.hpct'"
sentence "another run that is not there"
code "no room for the answer" 5 bash -c 'hpct-sql mixed.hpct "SELECT * FROM spans" >/dev/full'
sentence "no room for the answer"
code "two runs in one query" 0 hpct-sql mixed.hpct "SELECT count(*) FROM streams a JOIN streams b ON b.run = 'cpu.hpct'" --format tsv
same "two runs in one query" $((6 * 4)) "$(answer)"

# What is no run, or damaged.
mkdir empty.hpct cut.hpct
echo text >file.hpct
cp mixed.hpct/*.mdb cut.hpct && truncate -s 5000 cut.hpct/*.mdb
for run in empty.hpct cut.hpct file.hpct; do
	code "$run" 4 hpct-sql $run 'SELECT * FROM samples'
	sentence "$run"
done
rm -r empty.hpct cut.hpct file.hpct

# A newer format.
hpct-slice cpu.hpct -o newer.hpct --archive
for file in newer.hpct/*.mdz; do printf '\2' | dd of="$file" bs=1 seek=8 conv=notrunc status=none; done
code "a newer format" 4 hpct-sql newer.hpct "$count"
sentence "a newer format"
rm -r newer.hpct

# Interrupted: by the signal, with a sentence.
handles_int() { [ $((0x$(sed -n 's/^SigCgt:\t*//p' "/proc/$1/status") & 2)) -ne 0 ]; }
env --default-signal=INT hpct-sql mixed.hpct "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c
	WHERE x IN (SELECT begin_ns FROM spans ORDER BY path)" >out 2>err &
pid=$!
check "a query that never ends has begun" await handles_int $pid
kill -INT $pid
wait $pid
same "interrupted: exit code" 130 $?
sentence "interrupted"

same "nothing is left behind" "$(cat files.before)" "$(ls -A | grep -vE '^(out|err)$')"
same "nothing is left behind for SQLite" "" "$(ls -A tmp)"

# The extension, in SQLite's own shell. A run that is recorded grows between two statements, and ends; one that was read
# stays readable when it is removed.
need sqlite3
load=".load $HPCT_BIN/../lib/libhpct_sql"
same "the extension" "$samples_of" "$(sqlite3 -bail :memory: "$load" "SELECT hpct_open('mixed.hpct')" "$count" | sed 1d)"
same "the extension: HPCT_RUN" "$samples_of" "$(HPCT_RUN=mixed.hpct sqlite3 -bail :memory: "$load" "$count")"
completed() { HPCT_SQL_SHELL=1 sqlite3 -bail :memory: "$load" "SELECT DISTINCT candidate FROM completion$1" | sort | paste -sd ' '; }
same "hpct-sql's shell completes tables and columns" "stream streams|time_ns" "$(completed "('stre')")|$(completed "('time_')")"
same "and functions, and SQLite's own words" "percent percentile|SELECT" "$(completed "('perc')")|$(completed " WHERE wholeline = 'EXPLAIN sele'")"
same "other shells keep theirs" 0 "$(sqlite3 :memory: "$load" "SELECT count(*) FROM completion('percentile')")"
same "the extension writes no run" 1 "$(sqlite3 :memory: "$load" "DELETE FROM streams" 2>&1 | grep -c 'may not be modified')"
cp -r mixed.hpct gone.hpct
same "a run that is removed while it is open" "$samples_of" \
	"$(sqlite3 -bail :memory: "$load" "SELECT hpct_open('gone.hpct')" ".shell rm -r gone.hpct" "$count" | sed 1d)"
cat >grown <<'END'
before=$(cat first) left=2400
until [ "$(hpct-info live.hpct --streams --format tsv | awk -F '\t' 'NR > 1 { n += $12 } END { print n + 0 }')" -gt "$before" ] ||
	[ $((left -= 1)) -eq 0 ]; do sleep 0.05; done
END
cat >ended <<'END'
kill $(cat pid)
left=2400
while hpct-info live.hpct --format tsv | grep -q '^behind_ns' && [ $((left -= 1)) -gt 0 ]; do sleep 0.05; done
END
hpct-record -o live.hpct -- "$samples/threads8" 1000 >/dev/null 2>&1 &
echo $! >pid
check "a run that is being recorded" await sampled live
sqlite3 -bail :memory: >out 2>err <<END || fail "a run that grows: $(cat err)"
$load
SELECT hpct_open('live.hpct');
.once first
SELECT count(*) FROM samples;
.shell bash grown
.once second
SELECT count(*) FROM samples;
.shell bash ended
.once third
SELECT count(*) FROM samples;
END
wait "$(cat pid)"
check "a run that is recorded grows between statements: $(cat first second)" [ "$(cat second)" -gt "$(cat first)" ]
same "a run that has ended while it was open is whole" "$(sample_count live)" "$(cat third)"

# hpct-sql without a query is that shell, on a terminal.
terminal 100 20
for option in '--jobs 1' --no-rollups '--mem 64M' '--python native' --debuginfod '--debug-path .'; do
	type_line "clear; hpct-sql $option mixed.hpct; echo code \$?"
	check "$option without a query: $(cat pane)" shows 'options of how a run is read need a QUERY'
	check "$option without a query is wrong usage" shows 'code 2'
done
type_line 'hpct-sql mixed.hpct'
check "the shell begins" shows 'hpct>'
type_line "SELECT 'sum', sum(samples) FROM streams \\;" # what ends a word ends a command of tmux's
check "the shell answers: $(cat pane)" shows "$samples_of"
type_line '.quit'
