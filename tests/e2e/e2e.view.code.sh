#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The source of a GPU kernel beside its instructions, by keys in tmux: what one side does the other follows, Enter goes to
# the cause and Backspace back, one side at a time where the terminal is narrow; names and sources that would write to the
# terminal do not; the shares are those of hpct-advise --annotate.
. "$(dirname -- "$0")/expect.sh"
gpu=$HPCT_SOURCE/tests/gpu
awk -v kernel=rolled -f "$HPCT_SOURCE/tests/golden/samples.awk" "$gpu/faults-sm90.samples" >rows || fail "rows"
hpct-import --from gpu-samples rows --binary "$gpu/faults-sm90.cubin" -o run.hpct || fail "import"
mkdir src
cp "$gpu/faults.cu" src
line() { grep -n "$1" src/faults.cu | head -n 1 | cut -d : -f 1; }
loop=$(line 'for (int k = 0; k < n; k++) // *$\|sum += in\[(i + k \* 65536)')
map=':map /usr/src/faults src<Enter>'
view() { LC_ALL=C.UTF-8 hpct-view run.hpct --print "$1" --keys "$map$2" >screen || fail "keys $2"; }

# Its figures are those of the report, instruction by instruction.
view 160x60 77
hpct-advise run.hpct --annotate --format tsv >rows.tsv || fail "annotate"
awk -F '\t' 'NR > 1 && $11 >= 0.01 { printf "%x %.2f\n", $3, $11 }' rows.tsv >want
sed 's/^[^│]*│//' screen | awk '$1 ~ /^[>*]$/ { $1 = ""; $0 = $0 } $1 ~ /^[0-9]+\.[0-9]+$/ {
	for (i = 2; i <= NF; i++) if ($i ~ /^[0-9a-f]+$/) { at = $i; break }
	if ($1 >= 0.01) print at, $1 }' >got
same_file "percent of each instruction" want got
same "the cause's arrow: the load" 1 "$(grep -c '100%┌▸ LDG R2' screen)"
same "to the addition that waits" 1 "$(grep -c '└─ FADD R5' screen)"
same "and no others" 2 "$(grep -c '┌\|└\|├' screen)"

terminal 120 36
type_line 'hpct-view run.hpct'
check "the kernel: $(head -n 8 pane)" shows 'fault_rolled'
tm send-keys -t v 7
check "one key opens source and instructions" shows '[7 Code]'
check "the source is not at hand: said" shows 'No source for /usr/src/faults/faults.cu'
check "instructions alone have their lines" shows 'at cause'
tm send-keys -t v ':map /usr/src/faults src' Enter
check "the source" shows 'src/faults.cu'
tm send-keys -t v 7
check "the whole screen" shows '7 Code  fault_rolled'
check "the hottest instruction waits: $(tail -n 2 pane)" shows 'GMEM 99 %, waits for 130 LDG 100 %'
tm send-keys -t v Enter
check "Enter goes to the cause: $(tail -n 2 pane)" shows '130 LDG  1.76 %'
check "which many wait for" shows ', 82.07 % wait for it'
tm send-keys -t v Enter
check "and on to its own" shows '120 IADD3'
tm send-keys -t v BSpace BSpace
check "Backspace goes back, twice" shows '170 FADD  82.49 %'
tm send-keys -t v BSpace
check "no further" shows 'no jump to go back from'
tm send-keys -t v j
check "the next instruction: $(tail -n 2 pane)" shows '180 BRA  4.22 %'
check "the line follows" grep -qE "^>  +$((loop - 1)) .*for \(int k" pane
tm send-keys -t v h j
check "a line of the source: $(tail -n 2 pane)" shows "faults.cu:$loop  9"
check "its hottest instruction follows" grep -qE '> +82\.49 .* 170 .*FADD' pane
tm send-keys -t v Enter '/BRA' Enter
check "Enter goes to the instructions, / finds one: $(tail -n 2 pane)" shows '180 BRA  4.22 %'
tm send-keys -t v '{'
check "{ the next hotter one: $(tail -n 2 pane)" shows '170 FADD  82.49 %'
tm send-keys -t v '}' '}'
check "} less hot ones: $(tail -n 2 pane)" shows 'f0 IMAD  1.85 %'
tm send-keys -t v '[' '['
check "none of 1 % before" shows 'that was the first instruction of 1 % or more'
tm send-keys -t v '{' '{'
check "back at the hottest" shows '170 FADD'

# Narrow: one side, Tab the other.
tm resize-window -t v -x 80 -y 24
check "80 columns: instructions" pane_lacks 'src/faults.cu'
check "80 columns: instructions" shows 'FADD R5 <- R2 R5 B2'
tm send-keys -t v Tab
check "Tab: the source" shows 'src/faults.cu'
check "alone" pane_lacks 'FADD R5'
tm send-keys -t v Tab
check "Tab: instructions again" shows 'FADD R5 <- R2 R5 B2'
tm resize-window -t v -x 20 -y 5
check "too small is said" shows 'This terminal is 20'
tm resize-window -t v -x 300 -y 80
check "300 columns: both" shows 'src/faults.cu'
check "with reasons in words" shows 'GMEM 99%'
tm resize-window -t v -x 120 -y 36
tm send-keys -t v q
check "q: the timeline" shows '1 Statistics'
tm send-keys -t v V
check "advice" shows 'Loop Unrolling'
tm send-keys -t v Tab
tm send-keys -t v Tab
tm send-keys -t v Enter
check "Enter there: its code" shows '[7 Code]'
tm send-keys -t v q
check "q: advice again" shows 'Loop Unrolling'
tm send-keys -t v q
tm send-keys -t v q
check "ended" shows 'ready>'

# What names and sources contain does not reach the terminal.
evil=$(printf 'k\033[31m\001*?<%%s>\377')
awk -F '\t' -v OFS='\t' -v name="$evil" 'NR > 1 { $1 = name } { print }' rows >evil.rows
hpct-import --from gpu-samples evil.rows --binary "$gpu/faults-sm90.cubin" -o evil.hpct || fail "import of a strange name"
sed -i "s/sum/s\x1b[5mu\x9bm/" src/faults.cu
for keys in 77 77h 77hY 77V 7 7Y; do
	LC_ALL=C.UTF-8 hpct-view evil.hpct --print 120x36 --keys "$map$keys" >screen || fail "a strange name, $keys"
	same "nothing but text, $keys" 0 "$(LC_ALL=C grep -c "$(printf '[\001-\010\013-\037\177]')" screen)"
	check "text is UTF-8, $keys" iconv -f UTF-8 -t UTF-8 screen >ignored
done
LC_ALL=C.UTF-8 hpct-view evil.hpct --print 120x36 --keys "${map}77" >screen
check "the kernel is found by its name all the same: $(head -n 3 screen)" grep -q 'FADD R5' screen
check "strange bytes of the source can be read" grep -qF 's\x1B[5mu\x9Bm' screen
# Intel's code, samples without launches, no lines: the scoreboard's token leads to the message.
printf 'kernel\toffset\treason\tweight\nfirst_of_two\t0x238\tSbidStall\t90\nfirst_of_two\t0x1e8\tActive\t4\n' >intel.rows
hpct-import --from gpu-samples intel.rows --binary "$gpu/intel_faults-pvc.zebin" -o intel.hpct || fail "import of Intel's samples"
LC_ALL=C.UTF-8 hpct-view intel.hpct --print 120x36 --keys 'VVb<Enter>' >screen # 3: no launch, nothing was monitored
check "no lines is said" grep -q '^ No lines: -lineinfo' screen
check "the message: $(sed -n 3,20p screen)" grep -qE '1e8 100%┌▸ send \$4' screen
check "what waits for it" grep -qE '^> +95\.74 +90 G.* GMEM 100% +238     └─ mad' screen
# Arrows go on through barriers, and from device functions to their callers.
for case in 'passed 0x180 barrier 3000 0x160 long_scoreboard 600' 'handed 0x110 wait 500 0x80 long_scoreboard 800 0x60 long_scoreboard 90'; do
	read -ra words <<<"$case"
	{
		printf 'kernel\toffset\treason\tweight\n'
		for ((i = 1; i < ${#words[@]}; i += 3)); do
			printf '%s\t%s\t%s\t%s\n' "${words[0]}" "${words[i]}" "${words[i + 1]}" "${words[i + 2]}"
		done
	} >links.rows
	rm -rf links.hpct
	hpct-import --from gpu-samples links.rows --binary "$gpu/links-sm90.cubin" -o links.hpct || fail "import of ${words[0]}"
	LC_ALL=C.UTF-8 hpct-view links.hpct --print 80x36 --keys 'VVb<Enter>}<Enter>' >"${words[0]}.screen"
	LC_ALL=C.UTF-8 hpct-view links.hpct --print 80x36 --keys 'VVb<Enter>' >"${words[0]}.first"
done
check "who is late at the barrier" grep -qE ' 160 100%┌▸ FADD' passed.first
check "the barrier" grep -qE '^> +8.* 180     └─ BAR' passed.first
check "what the caller computes" grep -qE ' 80 +90%┌▸ FMUL' handed.screen
check "past the heading of the function: $(grep -n calls handed.screen)" grep -qE '^ calls scaled .*│' handed.screen
check "what waits for that" grep -qE '^> .* 10     └─ FMUL R0 <- R0 R5' handed.screen
# Without the code there is a sentence.
hpct-import --from gpu-samples rows -o bare.hpct || fail "import without code"
hpct-view bare.hpct --print 120x36 --keys 77 >screen || fail "no code"
check "no code is said: $(sed -n 2,4p screen)" grep -q 'does not keep the code of' screen
