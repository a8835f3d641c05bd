#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-report: classes, efficiencies and verdicts of planted runs; parts that sum to the whole; gates.
. "$(dirname -- "$0")/expect.sh"

# planted NAME TIME-CONTEXT... : a run of two ranks; rank 0 is in each context from its time (ms) on, rank 1 too, behind --
planted() {
	local name=$1 rank=0 word
	shift
	printf 'stream\ttrack\tbegin_ns\tpath\tweight\tmetric\n' >$name.tsv
	for word; do
		[ "$word" != -- ] || { rank=1; continue; }
		printf 'cpu:n/%d/%d.0/0\tsamples\t%d000000\t%s\t1\tCPUTIME\n' $rank $((rank + 1)) "${word%%-*}" "${word#*-}" >>$name.tsv
	done
	hpct-import --from tsv $name.tsv -o $name.hpct 2>err || fail "import: $(cat err)"
}
# add NAME STREAM TIME-CONTEXT... : a stream more in that run
add() {
	local name=$1 stream=$2 word
	shift 2
	for word; do
		printf '%s\tsamples\t%d000000\t%s\t1\tCPUTIME\n' "$stream" "${word%%-*}" "${word#*-}" >>$name.tsv
	done
	rm -rf $name.hpct
	hpct-import --from tsv $name.tsv -o $name.hpct 2>err || fail "import: $(cat err)"
}
rows() { hpct-report "$@" --format tsv >out 2>err || fail "hpct-report $*: $(cat err)"; }
value() { # SECTION KEY COLUMN : of ./out
	tsv '$c["section"] == "'"$1"'" && $c["key"] == "'"$2"'" { print $c["'"$3"'"]; exit }' <out
}

ranks=('0-main;solve' '600-main;step;MPI_Allreduce' '800-main;out;fwrite;__write' '900-main;malloc' '1000-main;malloc' --
	'0-main;solve' '200-main;step;PMPI_Allreduce;memcpy' '1000-main')
planted mpi "${ranks[@]}"
rows mpi.hpct
for want in compute:800000000:40.00 mpi:1000000000:50.00 io:100000000:5.00 memory:100000000:5.00 openmp:: wait::; do
	IFS=: read -r class ns percent <<<"$want"
	same "$class" "$ns:$percent" "$(value threads "$class" time_ns):$(value threads "$class" percent)"
done
same "wall" 1000000000 "$(value run wall time_ns)"
same "parallel efficiency: 0.7 and 0.2 of 1 s" 45.00 "$(value efficiency parallel percent)"
same "load balance" 64.29 "$(value efficiency load_balance percent)"
same "communication efficiency" 70.00 "$(value efficiency communication percent)"
# Rank 1 waits from 200 to 600 ms for rank 0. MPI takes 0.2 and 0.8 s, without that wait 0.3 s on average: T' is 0.7 s.
efficiencies="transfer 70.00 serialization 100.00"
transfer() { echo "transfer $(value efficiency transfer percent) serialization $(value efficiency serialization percent)"; }
same "without what MPI takes itself" "$efficiencies" "$(transfer)"
same "the verdict" "communication 50.00" "$(tsv '$c["section"] == "bound by" { print $c["key"], $c["percent"] }' <out)"
check "the largest path of MPI" grep -q 'paths	mpi	800000000	40.00		main;step;PMPI_Allreduce;memcpy' out

# A path is one, from wherever its functions were called; a depth makes one of those that are the same down to it.
rows mpi.hpct --depth 1
same "paths cut at depth 1" "paths	mpi	1000000000	50.00		main" "$(grep '^paths	mpi' out | cut -f 1-6)"
hpct-record -o phases.hpct -- "$samples/phases" >/dev/null 2>err || fail "record: $(cat err)"
rows phases.hpct
check "there are paths" grep -q '^paths	compute' out
same "no path comes twice" "" "$(grep '^paths' out | cut -f 2,6 | sort | uniq -d)"

planted compute '0-main;solve' '900-main;fwrite' '1000-main'
planted memory '0-main;memcpy' '700-main;solve' '1000-main'
planted io '0-main;MPI_File_write_all' '500-main;read' '800-main;solve' '1000-main'
planted latency '0-main;sem_wait' '700-main;GOMP_parallel;solve' '1000-main'
for run in compute:90.00 memory:70.00 io:80.00 latency:70.00; do
	rows "${run%:*}.hpct"
	same "the verdict of $run" "${run/:/ }" "$(tsv '$c["section"] == "bound by" { print $c["key"], $c["percent"] }' <out)"
done

# Parts sum to the whole, which other readers say, too; also of a window and of some streams.
hpct-simulate -o mixed.hpct --shape mixed --records 20000 --streams 6
for options in '' '--time 100ms..900ms' '--streams rank=0'; do
	# shellcheck disable=SC2086
	rows mixed.hpct $options
	near "$options: classes sum to the threads' lives" 100 \
		"$(tsv '$c["section"] == "threads" { p += $c["percent"] } END { print p }' <out)" 0.05
	near "$options: GPUs run kernels, communicate, copy or idle" 100 "$(tsv '$c["section"] == "gpus" { p += $c["percent"] } END { print p }' <out)" 0.05
done
same "the threads' known time" "$(hpct-stats mixed.hpct --streams kind=cpu --format tsv | tsv '$c["key"] !~ /^(absent|unknown|lost|unmonitored)$/ { n += $c["time_ns"] } END { printf "%.0f", n }')" \
	"$(rows mixed.hpct; value threads cpu time_ns)"
rows mixed.hpct
same "kernels are those of the profile" "$(hpct-profile mixed.hpct --metric GKER --format tsv --top 1 | tsv '{ print $c["GKER:incl"] }')" \
	"$(value operations kernel time_ns)"
same "GPUs' idle time is that of hpct-blame" "$(hpct-blame mixed.hpct --summary --format tsv | tsv '$c["key"] == "gpu_idle_ns" { print $c["value"] }')" \
	"$(value gpus idle time_ns)"
check "coverage is that of the readers" grep -qF "$(value coverage monitored text)" <(hpct-stats mixed.hpct --top 0)
code "a table" 0 hpct-report mixed.hpct
check "its first line is the verdict" grep -q '^mixed.hpct: 4 threads, 2 GPU queues; bound by compute: ' out
code "json" 0 hpct-report mixed.hpct --format json
same "json: the schema" '{"schema":"hpct-report","version":1}' "$(head -n 1 out)"

# A third rank and a process that is no rank change nothing of ranks 0 and 1; nor do its marks.
planted three "${ranks[@]}"
add three cpu:n/2/3.0/0 '0-main;solve' '300-main;step;MPI_Allreduce' '1000-main'
rows three.hpct --streams rank=0-1
same "two of three ranks" "$efficiencies" "$(transfer)"
planted launched "${ranks[@]}"
add launched cpu:n/-/9.0/0 '0-main;waitpid' '1000-main;waitpid'
rows launched.hpct
same "what starts ranks is none" "$efficiencies" "$(transfer)"
printf '%s\n' 'stream	track	begin_ns	end_ns	path	op	attributes' 'cpu:n/0/1.0/0	spans	0	10	main		' \
	'cpu:n/0/1.0/0	spans	0	10		range	name=step' 'cpu:n/1/2.0/0	spans	0	90		range	name=step' >marks.tsv
hpct-import --from tsv marks.tsv -o marks.hpct 2>err || fail "import: $(cat err)"
printf '%s\n' 'max(step) == 10 ns' 'count(step) == 1' >gates
code "marks of the selected process" 0 hpct-report marks.hpct --streams rank=0 --gate gates

# Helper threads of MPI are left out of shares as they are of the threads' lives.
planted helper '0-main;solve' '500-main;step;MPI_Allreduce' '1000-main'
add helper cpu:n/0/1.0/1 '0-<thread root>;libpmix.so.2+0xa98b0;libc.so.6+0x1d224' '1000-main'
rows helper.hpct
same "the helper is no thread of the page" 1 "$(value run threads count)"
printf '%s\n' "share('*') == 100 %" "share('*libc*') == 0 %" "share('main;solve') == 50 %" >gates
code "shares are of the page's threads" 0 hpct-report helper.hpct --gate gates

# Gates.
gate() { printf '%s\n' "$@" >gates; }
gate '# nightly' '' 'share(mpi) <= 50%' "share('main;step;*') < 50.5 %  # both ranks" 'wall >= 1s' 'parallel > 44.9 %' 'lost == 0' 'threads == 2' \
	'coverage > 99%' 'count(step*) == 0' 'share("main;solve") != 41%'
code "gates that hold" 0 hpct-report mpi.hpct --gate gates --format tsv
same "each is a row" 9 "$(grep -c '^gate	holds	' out)"
gate 'share(io) < 10%' 'share(mpi) < 20%' 'wall < 1 ms'
code "gates that fail" 1 hpct-report mpi.hpct --gate gates --format tsv
sentence "gates that fail"
check "the line that failed: $(cat err)" grep -qF "gates:2: 'share(mpi) < 20%' does not hold: it is 50.00 %; nor does 1 other" err
check "the page is there all the same" grep -q '^bound by	communication' out
code "from stdin" 1 hpct-report mpi.hpct --gate - <<<'wall > 1 s'
gate 'p99(step*) < 1 us' 
code "a percentile of steps" 1 hpct-report mixed.hpct --gate gates
ns=$(hpct-sql mixed.hpct "SELECT percentile(until_ns - begin_ns, 99) FROM marks WHERE name GLOB 'step*'" --format tsv | sed 1d)
gate "p99(step*) == $ns ns" "count(step*) == $(hpct-sql mixed.hpct "SELECT count(*) FROM marks WHERE name GLOB 'step*'" --format tsv | sed 1d)"
code "steps last as in SQL: $ns ns" 0 hpct-report mixed.hpct --gate gates
for line in 'nonsense' 'mpi < 20%' 'share(mpi) < 20' 'wall < 5' 'lost < 5%' 'share(main) < 5%' 'share(' 'share(mpi) ~ 5%' 'wall < many' 'p99(x < 1s' '< 5%'; do
	gate "$line"
	code "$line" 2 hpct-report mpi.hpct --gate gates
	sentence "$line"
	check "$line: where: $(cat err)" grep -q 'gates:1: ' err
done
gate 'gpu_busy > 1%'
code "a figure that the run has not" 3 hpct-report mpi.hpct --gate gates
sentence "a figure that the run has not"
gate 'p99(step) < 1s'
code "a mark that the run has not" 3 hpct-report mpi.hpct --gate gates
: >gates
code "no gate at all" 2 hpct-report mpi.hpct --gate gates
code "a file that is not there" 2 hpct-report mpi.hpct --gate missing
sentence "a file that is not there"
code "a window without time" 3 hpct-report mpi.hpct --time 3600s..3601s
code "a run that is not there" 4 hpct-report missing.hpct
code "options that mean nothing here" 2 hpct-report mpi.hpct --by path

# Several runs: each has its rows, and the group each figure's mean, least and most; what a run has not counts as 0.
rows mpi.hpct io.hpct latency.hpct
same "runs" '* io.hpct latency.hpct mpi.hpct' "$(tsv '{ print $c["run"] }' <out | sort -u | paste -sd ' ')"
hpct-report io.hpct --format tsv >alone 2>err
same "a run of several has the rows that it has alone" "$(tsv '{ print }' <alone)" "$(tsv '$c["run"] == "io.hpct" { print }' <out)"
group() { # SECTION KEY : of the group in ./out
	tsv '$c["run"] == "*" && $c["section"] == "'"$1"'" && $c["key"] == "'"$2"'" {
		print $c["percent"], $c["least"], $c["most"], $c["most_run"], $c["runs"]; exit }' <out
}
same "MPI of half of mpi.hpct, half of io.hpct's file access" '16.67 0 50 mpi.hpct 1' "$(group threads mpi)"
same "I/O" '28.33 0 80 io.hpct 2' "$(group threads io)"
same "waits" '23.33 0 70 latency.hpct 1' "$(group threads wait)"
same "who is known to have transfers" '70.00 70 70 mpi.hpct 1' "$(group efficiency transfer)"
same "three verdicts" 'communication:1 of 3 runs io:1 of 3 runs latency:1 of 3 runs' \
	"$(tsv '$c["run"] == "*" && $c["section"] == "bound by" { print $c["key"] ":" $c["text"] }' <out | paste -sd ' ')"
same "no more paths of a class than in a page" 3 "$(tsv '$c["run"] == "*" && $c["section"] == "paths" { n[$c["key"]]++ } END { for (k in n) if (n[k] > m) m = n[k]; print m }' <out)"
code "a table of several" 0 hpct-report mpi.hpct io.hpct latency.hpct
check "its last table is the group's" grep -q '^3 runs of 1 s to 1 s; bound by communication in 1$' out
# A list is a group of its own.
rows mpi.hpct,io.hpct latency.hpct,compute.hpct
same "two groups" 'latency.hpct,compute.hpct:35.00 mpi.hpct,io.hpct:0.00' \
	"$(tsv '$c["run"] ~ /,/ && $c["section"] == "threads" && $c["key"] == "compute" { c2[$c["run"]] = $c["percent"] }
		$c["run"] ~ /,/ { seen[$c["run"]] } $c["run"] ~ /,/ && $c["section"] == "threads" && $c["key"] == "wait" { w[$c["run"]] = $c["percent"] }
		END { for (r in seen) printf "%s:%.2f\n", r, w[r] }' <out | sort | paste -sd ' ')"
same "and each run has its page" 4 "$(tsv '$c["run"] !~ /,/ && $c["key"] == "wall" { print }' <out | wc -l)"
code "an empty name" 2 hpct-report mpi.hpct,,io.hpct
sentence "an empty name"
code "named twice, in a list" 2 hpct-report mpi.hpct,io.hpct io.hpct
gate 'share(io) < 60 %'
code "gates of several" 1 hpct-report mpi.hpct io.hpct latency.hpct --gate gates
check "which run: $(cat err)" grep -qF "io.hpct: gates:1: 'share(io) < 60 %' does not hold: it is 80.00 %" err
code "one of them is not there" 4 hpct-report mpi.hpct missing.hpct
check "then there is no page at all" [ ! -s out ]

# HTML: whole, with its pictures in itself, and nothing that a traced program says is markup.
planted odd '0-main;<script>alert(1)</script>"&' '700-main;solve' '1000-main'
code "html" 0 hpct-report --format html mpi.hpct mixed.hpct odd.hpct
check "it has pictures" [ "$(grep -c '<svg' out)" -ge 7 ]
check "it names no other place" test -z "$(grep -oE '(https?:|src=|href=|url\()[^ ]*' out | grep -v '^http://www.w3.org/2000/svg"$')"
check "names are text" grep -qF '&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;' out
check "and nothing else" test -z "$(grep -F '<script>alert' out)"
check "the group's page" grep -q '<h2>All 3 runs</h2>' out
check "the bar of mpi.hpct" grep -q '<div style="width:50.00%;background:#d1495b" title="mpi 50.00 %"></div>' out
check "rank 1 waits in MPI in its line of the timeline" grep -q 'fill="#d1495b"><title>mpi, 20[0-9.]* ms to 1[.0]* s</title>' out
check "kernels in theirs" grep -q 'fill="#1f6f8b"><title>kernel, ' out
check "a flame graph of the threads" grep -q '<title>PMPI_Allreduce: 40.00 %, itself 0.00 %</title>' out
check "it is one document" [ "$(tail -n 1 out)" = '</html>' ]
code "text is the table" 0 hpct-report --format text mpi.hpct
code "no such format" 2 hpct-report --format pdf mpi.hpct

# Examples of the manual page; a gate may be hit.
hpct-simulate -o run.hpct --shape mixed --records 30000 --streams 6
hpct-simulate -o later.hpct --shape mixed --records 20000 --streams 6
sed -n 's/^\.Dl //p' "$HPCT_SOURCE/man/hpct-report.1" | sed 's/\\e/\\/g; s/60s..120s/1s..2s/' >examples
while read -r example; do
	bash -c "$example" >out 2>err || [ $? -eq 1 ] || fail "$example: $(cat err)"
	check "$example: has rows" [ "$(wc -l <out)" -gt 5 ]
done <examples
same "the page has examples" 5 "$(wc -l <examples)"
