#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Figures over time of a real program: they are what the kernel says of it, they can be chosen and left out, and they
# change nothing that is told of threads.
. "$(dirname -- "$0")/expect.sh"
need perl

values_of() { # RUN METRIC : how many values
	hpct-slice "$1.hpct" --streams kind=gauges --format tsv | tsv '$c["metric"] == "'"$2"'" { n++ } END { print n + 0 }'
}

most_of() { # RUN METRIC : its largest value; the last one may be of the process while it ends
	hpct-slice "$1.hpct" --streams kind=gauges --format tsv | tsv '
		$c["metric"] == "'"$2"'" && $c["value"] > v { v = $c["value"] } END { printf "%.0f\n", v }'
}

# 64 MiB of memory, 1.5 s of CPU time, 3 MB read, then what the kernel says of all that.
cat >work.pl <<'END'
open(my $zero, '<', '/dev/zero'); read($zero, my $bytes, 1 << 20) for 1 .. 3;
my $memory = 'x' x (64 << 20);
my @held = map { open(my $f, '<', '/dev/null'); $f } 1 .. 20;
1 while (times)[0] < 1.5;
select(undef, undef, undef, 1.3);
open(my $statm, '<', '/proc/self/statm'); my @pages = split ' ', <$statm>;
printf "%d %.0f\n", $pages[1] * 4096, 1e9 * (times)[0];
END
record full --gauges 50ms -- perl work.pl >told || fail "the program does not end well"
read -r resident user <told
# To 2 %: memory as /proc/self/statm, CPU time as times() have it.
near "resident memory" "$resident" "$(most_of full resident)" $((resident / 50))
near "CPU time" "$user" "$(most_of full cpu_user)" $((user / 50))
same "threads" 1 "$(most_of full threads)"
check "descriptors: $(most_of full descriptors)" calc "$(most_of full descriptors) >= 20"
check "bytes read: $(most_of full read)" calc "$(most_of full read) >= 3 * 2 ^ 20"
check "page faults: $(most_of full faults)" calc "$(most_of full faults) > 16000"
check "private memory is less than resident" calc "$(most_of full private) < $(most_of full resident)"
check "20 a second: $(values_of full resident)" [ "$(values_of full resident)" -gt 20 ]
check "the host's memory is known" calc "$(most_of full memory_total) > $(most_of full memory_used)"
code "check" 0 hpct-info full.hpct --check
same "streams are threads and queues" "$(info full processes)" "$(info full streams)"

# In a reader: the figure's own unit, and what ran while it was so.
code "plot" 0 hpct-plot full.hpct resident cpu_user --width 40
check "the plot names its process: $(head -n 1 out)" grep -q '^cpu_user  perl' out
hpct-stats full.hpct --when 'resident>60MB' --by stream --format tsv 2>/dev/null >when
check "it ran with that much memory" [ "$(wc -l <when)" -gt 1 ]

# Less, and nothing; a short program has none, nor do figures make it longer than one row.
record some --gauges resident -- perl -e 'select(undef, undef, undef, 0.5)'
check "one figure: $(values_of some resident)" [ "$(values_of some resident)" -gt 0 ]
same "and no other" 0 "$(values_of some cpu_user)"
record none --gauges off -- perl -e 'select(undef, undef, undef, 0.3)'
same "off: streams of gauges" 0 "$(hpct-info none.hpct --streams --format tsv | tsv '$c["kind"] == "gauges" { n++ } END { print n + 0 }')"
code "plot of a run without" 3 hpct-plot none.hpct
code "a wrong name" 125 hpct-record --gauges nonsense true
check "says what there is" grep -q 'hpct-record --list' err
hpct-record --list >list
check "the list has them" grep -q '^  resident  *B  *process' list

# Figures alone, and read again from a copy.
record alone -e NONE --gauges 100ms -- sleep 1
check "figures without samples: $(values_of alone resident)" [ "$(values_of alone resident)" -gt 2 ]
code "their plot" 0 hpct-plot alone.hpct
code "counters of them" 0 hpct-export alone.hpct --to chrome
check "in Perfetto" grep -q '"ph":"C".*resident' out
code "a copy" 0 hpct-slice full.hpct -o copy.hpct
hpct-plot full.hpct --format tsv >want
hpct-plot copy.hpct --format tsv >got
same_file "figures of a copy" want got
hpct-slice full.hpct --format tsv >rows.tsv
code "import" 0 hpct-import --from tsv rows.tsv -o rows.hpct
hpct-plot rows.hpct --time "0..$(info full end_ns)ns" --format tsv | wc -l >got
hpct-plot full.hpct --time "0..$(info full end_ns)ns" --format tsv | wc -l >want
same_file "figures through rows" want got
