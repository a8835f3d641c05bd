#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What docs/tour.md and the recipes tell to do, done: each command of the tour on the demo's program, the keys of its
# stations with what they must show, every option and command that the recipes and docs/hpcviewer.md name.
. "$(dirname -- "$0")/expect.sh"
mkdir -p build/demo build/samples
ln -s "$HPCT_BIN" build/bin
ln -s "$samples/phases" build/samples/phases
hpct-record -o build/demo/phases.hpct --overwrite -- build/samples/phases 0.4 >/dev/null || fail "the demo's run"
run=build/demo/phases.hpct
export LC_ALL=C.UTF-8

commands() { # FILE : the indented commands of a page, one a line
	grep -E '^    [^ ]' "$HPCT_SOURCE/$1" | sed 's/^    //; s/  *#.*//'
}
on_screen() { # WHAT KEYS TEXT... : the text is on the screen after the keys, $run being one run or two
	local what=$1 keys=$2 text
	shift 2
	# shellcheck disable=SC2086 # runs
	hpct-view $run --print 120x36 --keys "$keys" >screen 2>err || fail "$what: $(cat err)"
	for text; do
		grep -qF -- "$text" screen || { fail "$what: '$keys' does not show '$text'" && head -n 6 screen; }
	done
}
while read -r command; do
	case $command in
	./build.sh*) continue ;; # this test is part of it
	*hpct-view*) command="$command --print 100x30" ;;
	esac
	bash -c "$command" >out 2>err </dev/null || fail "docs/tour.md: $command: $(tail -n 2 err)"
done < <(commands docs/tour.md)

on_screen "1, the whole run" "" 'worker 4' 'main' 'Statistics'
on_screen "2, deeper" "ee" 'depth'
on_screen "3, closer" "jllllwww" 'worker 1'
on_screen "4, the path over time" "j44" '4 Depth' 'worker'
on_screen "5, who is late" "/exchange<Enter>" 'exchange'
code "5, whom CPUs waited for" 0 hpct-blame "$run" --of cpu-idle
on_screen "6, the profile" "60P" '6 Profile' 'worker' 'step' 'solve' 'smooth'
on_screen "6, bottom-up" "60b" '[bottom-up]'
on_screen "6, the source" "60P7" 'Source'
on_screen "7, is the work even" "60/assemble<Enter>G" 'assemble'
run="$run build/demo/again.hpct"
on_screen "8, what changed" "" '9 Compare' 'A phases.hpct' 'B again.hpct' 'Difference of the windows' 'assemble' 'noise' 'shift 0'
on_screen "8, shifted" ">" ' shift '
check "8, the second run is elsewhere" calc "$(grep -oE 'shift [0-9.]+ ms' screen | grep -oE '[0-9.]+') > 1"
on_screen "8, aligned" "lllllT" 'at '
on_screen "8, the table" "<Enter>jj" '9 Compare' 'B - A'
on_screen "8, the gaps of both" "5" 'A phases.hpct' 'B again.hpct' 'Gaps of both'
on_screen "8, one tree of both" "6" 'B-A:CPUTIME' 'main'
on_screen "8, the command" "Y" 'hpct diff'
command=$(hpct-view build/demo/phases.hpct build/demo/again.hpct --print 200x40 --keys Y | grep -o 'hpct diff.*' | sed 's/ *$//')
check "what Y prints of two runs can be run: $command" bash -c "$command" >out
run=${run%% *}
on_screen "9, the command" "Y" 'hpct stats'
on_screen "9, a table as CSV" ":csv stats.csv<Enter>"
check "stats.csv" grep -q 'worker' stats.csv
command=$(hpct-view "$run" --print 200x40 --keys Y | grep -o 'hpct stats.*' | sed 's/ *$//')
check "what Y prints can be run: $command" bash -c "$command" >out

# Recipes and the table of features: programs and options that they name are there.
for page in docs/recipes/slurm.md docs/recipes/torchrun.md docs/recipes/container.md docs/hpcviewer.md docs/tour.md; do
	while read -r line; do
		program=$(grep -oE 'hpct-[a-z]+' <<<"$line" | head -n 1)
		[ -x "$HPCT_BIN/$program" ] || { fail "$page: $program is no program: $line" && continue; }
		rest=${line#*"$program"}
		rest=${rest%% -- *}
		"$program" --help >help 2>&1
		for option in $(grep -oE -- ' --[a-z][a-z-]*' <<<"$rest" | sort -u); do
			grep -q -- "$option" help || fail "$page: $program has no $option: $line"
		done
	done < <(grep -oE 'hpct-[a-z]+[^`]*' "$HPCT_SOURCE/$page" | grep -E '^hpct-(record|view|info|blame|stats|diff|doctor|profile)')
done
# Commands behind ':' that the pages name are known to the view.
for word in $(grep -ohE '`:[a-z]+' "$HPCT_SOURCE"/docs/hpcviewer.md "$HPCT_SOURCE"/docs/tour.md | tr -d '`:' | sort -u); do
	hpct-view "$run" --print 120x36 --keys ":$word<Enter>" >screen
	! grep -q 'is no command' screen || fail "the docs name :$word, which is no command"
done
# The marks of the torchrun recipe, and how it selects by them.
if command -v python3 >/dev/null; then
	sed -n '/```python/,/```/p' "$HPCT_SOURCE/docs/recipes/torchrun.md" | sed '/```/d; s/^  //' |
		sed 's/for batch in loader:/for batch in range(24):/' >train.py
	echo '    sum(range(300000))' >>train.py
	code "the recipe's marks" 0 hpct-record -o train.hpct -- python3 train.py
	for options in '--time @step#20..@step#21' '--time @step#20..'; do
		# shellcheck disable=SC2086 # words
		code "train.py, $options" 0 hpct-stats train.hpct $options
	done
	code "two versions" 0 hpct-view train.hpct train.hpct --align @step#20 --print 120x36
	check "steps are counted" grep -q 'Difference per step' out
fi
