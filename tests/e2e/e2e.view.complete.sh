#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bash and zsh complete every program: verbs, each option that the program takes, few-worded values, runs here.
. "$(dirname -- "$0")/expect.sh"
# shellcheck source=/dev/null
. "$HPCT_SOURCE/man/hpct.bash" || fail "hpct.bash does not load"
mkdir one.hpct other && : >file.tsv

complete_words() { # WORD... : what bash offers for the last of them
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_hpct "$1"
	printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | sort | tr '\n' ' '
}
same "verbs" "slice stacks stats " "$(complete_words hpct s | sed 's/simulate //')"
same "values" "table tsv " "$(complete_words hpct-stats --format t)"
same "values after hpct VERB" "flat " "$(complete_words hpct profile --view f)"
same "runs" "one.hpct " "$(complete_words hpct-view o)"
same "files" "file.tsv " "$(complete_words hpct-import f)"
for program in "$HPCT_BIN"/hpct-*; do
	name=${program##*/}
	for option in $("$program" --help | grep -oE -- '--[a-z][a-z-]*' | sort -u); do
		[[ " $(complete_words "$name" "$option") " == *" $option "* ]] || fail "bash does not offer $option of $name"
	done
	check "bash completes $name" grep -qw -- "$name" <(complete -p | grep -F _hpct)
	check "zsh completes $name" grep -qw -- "$name" <(head -n 1 "$HPCT_SOURCE/man/_hpct")
done
if command -v zsh >/dev/null; then
	check "_hpct is zsh" zsh -n "$HPCT_SOURCE/man/_hpct"
	# its own function alone: a terminal is not needed for what it parses
	zsh -fc 'compdef() { }; _describe() { :; }; _files() { :; }; words=(hpct-view --); CURRENT=2; . '"$HPCT_SOURCE"'/man/_hpct
		_hpct_options hpct-view' >offered 2>&1
	for option in print keys colors align time streams depth debug-path help; do
		check "zsh offers --$option of hpct-view: $(head -n 3 offered)" grep -q "^--$option:" offered
	done
else
	echo "zsh is not installed: its completion was not tried"
fi
