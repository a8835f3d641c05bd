#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One screen as text: its size, its streams, the same bytes twice; too small gets a sentence.
. "$(dirname -- "$0")/expect.sh"
record view -- "$samples/phases" 0.3 >/dev/null
for size in 120x36 80x24 200x50; do
	hpct-view view.hpct --print "$size" >screen 2>err || fail "--print $size: $(cat err)"
	same "$size: lines" "${size#*x}" "$(wc -l <screen)"
	check "$size: a line is wider than ${size%x*}" \
		[ "$(LC_ALL=C.UTF-8 awk -v w="${size%x*}" 'length($0) > w' screen | wc -l)" -eq 0 ]
done
export LC_ALL=C.UTF-8
hpct-view view.hpct --print 120x36 >one && hpct-view view.hpct --print 120x36 >two
same_file "the same screen twice" one two
for word in 'worker 1' 'worker 4' view.hpct; do
	check "the screen does not show $word" grep -q "$word" one
done
hpct-view view.hpct --print 120x36 --keys 'w' >zoomed
check "a zoom changes the screen" [ "$(cmp -s one zoomed; echo $?)" -eq 1 ]
check "help is shown" grep -q 'I WANT TO' <(hpct-view view.hpct --print 120x36 --keys '?')
LC_ALL=C hpct-view view.hpct --print 120x36 >ascii
check "ASCII only where the locale is not UTF-8" [ "$(LC_ALL=C tr -d '\000-\177' <ascii | wc -c)" -eq 0 ]
record loops -- "$samples/loops" >/dev/null
hpct-view loops.hpct --print 120x36 --keys '/sum_row<Enter>wwwwwwwwwl:set loops<Enter>' >looped
check "loops stand in the call stack when they are asked for: $(head -n 12 looped | cut -c 84-)" grep -q 'loop at loops.c: [0-9]' looped
check "with the line of each call" grep -q 'work  *loops.c:[0-9]' looped
hpct-view loops.hpct --print 120x36 --keys '/sum_row<Enter>wwwwwwwwwl:set sites off<Enter>' >plain
check "and neither when not" [ "$(grep -cE '[0-9]  (work|sum_row) .*loops.c' plain)" -eq 0 ]
check "the frames stay" grep -qE '[0-9]  sum_row' plain
code "a window behind the run" 3 hpct-view view.hpct --print 80x24 --time 1000s..1001s
sentence "a window behind the run"
check "and it says what the run covers" grep -q 'the run covers' err
begins=$(hpct-info view.hpct --streams --format tsv | awk -F'\t' '$2 == "cpu" { if (!end || $11 > end) end = $11 } END { printf "%.0f", end - 50000000 }')
hpct-view view.hpct --print 200x24 --time "${begins}ns..1000s" >screen
check "a window that goes on behind it ends with it: $(head -n 1 screen)" grep -qE 'window ([34][0-9]|5[0-9]|6[0-9])\.[0-9] ms' screen
code "too small" 2 hpct-view view.hpct --print 20x4
sentence "too small"
check "too small: how large it must be: $(cat err)" grep -q '60x12' err
check "too small: the screen says so, too" grep -q 'needs 60x12' <(hpct-view view.hpct --print 40x5 2>/dev/null)
code "the least size" 0 hpct-view view.hpct --print 60x12
for keys in 'wwwwwwwwwwwwwwwwwwwwwwwwwwwwww' 'sssss' 'llllllllllEEEEEEEeeeee' 'jjjjjjjjjjkkkk' 'DDDDAAAA' '??qq' ':nonsense\n'; do
	hpct-view view.hpct --print 100x30 --keys "$keys" >out 2>err || fail "keys $keys: $(head -n 1 err)"
done

# Two runs: --time reaches the end of the longer one, as the keys do.
hpct-simulate -o short.hpct --records 4000 --seed 7 && hpct-simulate -o long.hpct --records 12000 --seed 7
ends=$(hpct-info long.hpct --streams --format tsv | awk -F'\t' 'NR > 1 { if ($11 > end) end = $11 } END { printf "%.0f", end }')
starts=$(hpct-info short.hpct --streams --format tsv | awk -F'\t' 'NR > 1 { if ($11 > end) end = $11 } END { printf "%.0f", end }')
check "the runs are not alike long: $starts of $ends" calc "$ends > 2 * $starts"
for time in '100ms..' '..' "$((starts + 1000000))ns.." '-400ms..' '-10s..'; do
	code "--time $time of two runs" 0 hpct-view short.hpct long.hpct --time "$time" --print 120x30 --keys Y
	time_ends=$(sed -n 's/.*--time-b [0-9]*ns\.\.\([0-9]*\)ns.*/\1/p' out)
	check "--time $time ends at ${time_ends:-?}, not where the longer run ends, $ends" calc "${time_ends:-0} >= $ends"
done
code "a window behind both" 3 hpct-view short.hpct long.hpct --time "$((ends + 1000000))ns.." --print 120x30
sentence "a window behind both"
check "it says what both cover: $(cat err)" grep -q 'together they cover' err
code "a window behind the run alone" 3 hpct-view short.hpct --time "$((starts + 1000000))ns.." --print 120x30
hpct-import --from tsv -o figures.hpct "$(dirname -- "$0")/../golden/gauges/rows.tsv" || fail "no run with figures"
mkdir -p config/hpct && echo 'no such line' >config/hpct/keys
export XDG_CONFIG_HOME=$PWD/config
code "two runs, and a file of the user's that is not understood" 0 hpct-view view.hpct loops.hpct --print 120x36
code "figures, and that file" 0 hpct-view figures.hpct --print 120x36 --lanes cpu_busy
check "the screen says so" grep -q "line 1 of your file 'keys'" <(hpct-view figures.hpct --print 120x36 --lanes cpu_busy)
code "a figure that there is not" 2 hpct-view figures.hpct --print 120x36 --lanes cpu_busy,nothing
check "its name alone is told: $(cat err)" grep -q -- "--lanes nothing: there is no figure 'nothing'" err
