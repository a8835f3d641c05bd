#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Figures over time of other tools: what tables with a clock and Prometheus's text say is what a run holds, also laid
# beside a trace by the wall clock; export and import again are the same; Perfetto gets them as counters.
. "$(dirname -- "$0")/expect.sh"
export TZ=UTC

# rows RUN [OPTION...] : metric and values, as text
rows() {
	local run=$1
	shift
	hpct-slice "$run.hpct" --streams kind=gauges --format tsv "$@" | tsv '{ sub(/\.0$/, "", $c["value"]); print $c["stream"], $c["metric"], $c["begin_ns"], $c["value"] }'
}

# As nvidia-smi writes it: a date without a zone, units in the names or behind the values, what is not there.
cat >smi.csv <<'END'
timestamp, index, uuid, utilization.gpu [%], memory.used [MiB], power.draw [W], clocks.sm, fan.speed [%]
2026/11/28 10:00:00.500, 0, GPU-aa, 10, 1024, 70.50, 345 MHz, [N/A]
2026/11/28 10:00:01.500, 1, GPU-bb, 20, 0, 71.00, 1980 MHz, [N/A]
2026/11/28 10:00:01.500, 0, GPU-aa, 97, 2048, 300.25, 1980 MHz, [N/A]
broken line
2026/11/28 10:00:02.500, 0, GPU-aa, much, 2048, 300.25, 1980 MHz, [N/A]
END
code "nvidia-smi's table" 0 hpct-import smi.csv -o smi.hpct
check "what is left out is counted: $(cat err)" grep -q 'left out: 1 lines whose clock is no time; 1 values that are no numbers' err
cat >want <<'END'
gauges:-/-/-.-/0 clocks.sm 0 345000000
gauges:-/-/-.-/0 memory.used 0 1073741824
gauges:-/-/-.-/0 power.draw 0 70.5
gauges:-/-/-.-/0 utilization.gpu 0 10
gauges:-/-/-.-/1 clocks.sm 1000000000 1980000000
END
rows smi --time 0..1.1s | sort | grep -v '^gauges:-/-/-.-/. [a-z.]* 1000000000 .*[a-z]$' | awk '$3 == 0 || /1 clocks/' >got
same_file "values by device, units taken off" want got
check "the wall clock: $(info smi origin_time)" grep -q '^2026-11-28T10:00:00.500' <<<"$(info smi origin_time)"
code "check" 0 hpct-info smi.hpct --check
check "plots have units: $(hpct-plot smi.hpct power.draw | head -n 1)" grep -q 'last 300 W' <<<"$(hpct-plot smi.hpct power.draw)"

# A line for each value, semicolons, quotes, another zone, times in ms.
printf 'time_ms;host;metric;value;unit\n1764338400000;n1;"queue ""a""; all";5;\n1764338401000;n1;sent_total;100;MB\n1764338402000;n1;sent_total;350;MB\n' >long.csv
code "a line for each value" 0 hpct-import --from csv long.csv -o long.hpct
same "quotes" 'queue "a"; all' "$(hpct-info long.hpct --metrics --format tsv | tsv '$c["source"] == "gauge" { print $c["metric"] }')"
same "what ends in _total is a counter" 250000000 "$(hpct-plot long.hpct sent_total --time 1s..2s --width 8 --format tsv | tsv '{ print $c["mean"]; exit }')"

printf 'time_s,a\n1.5e3,1\n2E3,2\n' >exponent.csv
code "times with exponents" 0 hpct-import exponent.csv -o exponent.hpct
same "count by these" "0 500000000000" "$(hpct-slice exponent.hpct --format tsv | tsv '{ print $c["begin_ns"] }' | paste -sd' ')"

cat >metrics.prom <<'END'
# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="user",instance="n1:9100",job="node"} 100.5 1764338400000
node_cpu_seconds_total{cpu="0",mode="user",instance="n1:9100",job="node"} 101 1764338401000
node_cpu_seconds_total{cpu="0",mode="user",instance="n1:9100",job="node"} 0.25 1764338402000
# TYPE node_memory_used_bytes gauge
node_memory_used_bytes{instance="n1:9100"} 1.5e9 1764338400000
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-bb",modelName="NVIDIA H200",Hostname="n2"} 42 1764338400.5
{__name__="up",instance="n\\2"} 1 1764338400000
up{instance="n1:9100"} 1
weird{label="a\"b\\c\nd"} NaN 1764338400000
weird{label="no end} 1 1764338400000
# TYPE jobs_count gauge
jobs_count{instance="n3"} 7 1764338400000
# EOF
END
code "Prometheus's text" 0 hpct-import metrics.prom -o prom.hpct
check "what is left out is counted: $(cat err)" grep -q 'left out: 1 values without a time; 1 values that are no finite numbers; 1 lines that are no series' err
cat >want <<'END'
gauges:n1/-/-.-/- node_cpu_seconds_total{cpu=0,mode=user} 0 100.5
gauges:n1/-/-.-/- node_cpu_seconds_total{cpu=0,mode=user} 1000000000 101
gauges:n1/-/-.-/- node_cpu_seconds_total{cpu=0,mode=user} 2000000000 0.25
gauges:n1/-/-.-/- node_memory_used_bytes 0 1500000000
gauges:n2/-/-.-/1 DCGM_FI_DEV_GPU_UTIL 500000000 42
gauges:n3/-/-.-/- jobs_count 0 7
gauges:n\\2/-/-.-/- up 0 1
END
rows prom | LC_ALL=C sort >got
same_file "series by host and device" want got
same "its type counts more than its name" gauge "$(hpct-info prom.hpct --metrics --format tsv | tsv '$c["metric"] == "jobs_count" { print $c["source"] }')"
same "a counter's rate, in cores" "50 25" "$(hpct-plot prom.hpct 'node_cpu*' --time 0..2s --width 8 --format tsv |
	tsv '{ v = $c["mean"] } NR == 2 { a = v } END { print a, v }')"
same "labels may be left out" "node_cpu_seconds_total{cpu=0,mode=user}" \
	"$(hpct-plot prom.hpct node_cpu_seconds_total --format tsv | tsv '{ print $c["metric"]; exit }')"
check "in a lane, too" grep -q "^node_c.*%" <<<"$(hpct-view prom.hpct --print 80x24 --keys ':lane node_cpu_seconds_total 1<Enter>')"
code "of several figures" 0 hpct-plot prom.hpct no_such_figure node_cpu_seconds_total
check "one that is not there is said" grep -q "no figure 'no_such_figure'" err

# Beside a trace, by the wall clock; what lies outside is left out.
record trace -- perl -e 'select(undef, undef, undef, 0.2); 1 while (times)[0] < 1'
hpct-slice trace.hpct --time 0.4s..0.9s -o part.hpct || fail "no part"
begin=$(date -d "$(info trace origin_time)" +%s.%N)
host=$(info trace host)
awk -v begin="$begin" -v host="$host" -v end="$(info trace end_ns)" 'BEGIN { print "time,host,queue"; for (i = -10; i < end / 5e7 + 10; i++) printf "%.3f,%s,%d\n", begin + i / 20, host, i % 10 }' >queue.csv
code "into a run" 0 hpct-import queue.csv --into trace.hpct
check "what is ahead or behind is counted: $(cat err)" grep -qE 'left out: [0-9]+ values ahead of the run or behind it' err
check "the trace is as it was" calc "$(sample_count trace) > 50"
same "one origin" "$(date -d "$(info trace origin_time)" +%s)" "${begin%.*}"
check "both in one picture" [ "$(hpct-plot trace.hpct queue cpu_user | grep -cE '^(queue|cpu_user) ')" = 2 ]
hpct-stats trace.hpct --when 'queue>=5' --by stream --streams kind=cpu --format tsv >half
near "what ran meanwhile is half of it" 0.5 "$(calc 1 && awk -v a="$(tsv '{ t += $c["time_ns"] } END { print t }' <half)" \
	-v b="$(hpct-stats trace.hpct --by stream --streams kind=cpu --format tsv | tsv '{ t += $c["time_ns"] } END { print t }')" 'BEGIN { print a / b }')" 0.15
hpct-view trace.hpct --print 100x24 --lanes queue >screen || fail "no lane"
check "in a lane: $(grep '^queue' screen)" grep -qE '^queue +[0-9]' screen
code "again" 0 hpct-import queue.csv --into trace.hpct
same "each import is a store" 3 "$(info trace stores)"
code "check of all" 0 hpct-info trace.hpct --check
code "nothing within the run" 4 hpct-import smi.csv --into part.hpct
sentence "nothing within the run"
same "and nothing is left behind" 1 "$(find part.hpct -type f | grep -vc cache)"
hpct-slice trace.hpct --format tsv >rows.tsv
awk -v begin="$begin" -v host="$host" 'BEGIN { srand(1); print "time,host,queue"; for (i = 0; i < 4000; i++) printf "%.4f,%s,%d\n", begin + 0.4 + i / 10000, host, 1000 * rand() }' | gzip >whole.csv.gz
head -c $(($(wc -c <whole.csv.gz) / 2)) whole.csv.gz >cut.csv.gz
code "of a file that is cut short" 4 hpct-import cut.csv.gz --into part.hpct
sentence "of a file that is cut short"
check "what was whole is in the run: $(cat err)" grep -q 'what was whole is in part.hpct$' err
same "as a store of its own" 2 "$(info part stores)"
same "and nothing else" part.hpct "$(find part.hpct -type d | grep -v cache)"
code "two places" 2 hpct-import queue.csv --into part.hpct -o other.hpct
sentence "two places"
code "a trace into a run" 2 hpct-import rows.tsv --into trace.hpct
sentence "a trace into a run"

# Export: the same again, and Perfetto's counters.
for run in smi long prom part; do
	hpct-export "$run.hpct" --to csv >"$run.out.csv" || fail "$run: no export"
	hpct-import "$run.out.csv" -o "$run.again.hpct" 2>/dev/null || fail "$run: no import"
	hpct-export "$run.again.hpct" --to csv | LC_ALL=C sort >again
	LC_ALL=C sort "$run.out.csv" | sed 's/,"\?-"\?,/,,/' >want
	same_file "$run: export, import, export" want again
done
code "of one metric" 0 hpct-export trace.hpct --to csv --metric queue
check "alone" [ "$(cut -d, -f7 out | sort -u | paste -sd' ')" = "metric queue" ]
hpct-export prom.hpct --to chrome 2>/dev/null >counters.json
check "Perfetto's counters" grep -q '"ph":"C".*node_memory_used_bytes' counters.json
if hpct-export prom.hpct --to perfetto -o counters.perfetto 2>/dev/null; then
	check "by its protobuf, too" [ "$(wc -c <counters.perfetto)" -gt 100 ]
fi

# What is no table.
printf 'just text\n' >text.csv
code "no columns" 4 hpct-import --from csv text.csv -o no.hpct
sentence "no columns"
printf 'time,a\nx,1\n' >none.csv
code "no value" 4 hpct-import none.csv -o no.hpct
check "nothing remains" [ ! -e no.hpct ]
