#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bash and zsh complete every program: verbs, each option that the program takes, few-worded values, runs here.
# Every option of --help is in a manual page, every option of a page is completed and taken.
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
same "verbs" "slice sql stacks stats " "$(complete_words hpct s | sed 's/simulate //')"
same "values" "table tsv " "$(complete_words hpct-stats --format t)"
same "values of hpct-view" "svg " "$(complete_words hpct view --format s)"
same "values after hpct VERB" "flat " "$(complete_words hpct profile --view f)"
same "runs" "one.hpct " "$(complete_words hpct-view o)"
same "files" "file.tsv " "$(complete_words hpct-import f)"
same "values of hpct-record" "hold " "$(complete_words hpct-record --cuda h)"
hpct-simulate -o two.hpct --records 100
for program in stats blame diff; do # each key that it takes
	for key in $("hpct-$program" --by none two.hpct 2>&1 | sed 's/.*: say //; s/,//g; s/ or / /'); do
		same "keys of hpct-$program" "$key " "$(complete_words "hpct-$program" --by "$key")"
	done
done
for program in stats blame diff view; do # and no others
	for key in $(_hpct_values "hpct-$program" --by); do
		case $key in step | @MARK) continue ;; esac # the run's own marks
		case $program in
		diff) set -- two.hpct one.hpct ;;
		view) set -- two.hpct --print 80x24 ;;
		*) set -- two.hpct ;;
		esac
		"hpct-$program" "$@" --by "$key" >/dev/null 2>refused
		check "hpct-$program takes the key $key: $(head -n 1 refused)" [ "$(grep -c -- '--by' refused)" -eq 0 ]
	done
done
helped() { # PROGRAM : the long options that --help tells of, without examples of other programs'
	"$HPCT_BIN/$1" --help | grep -v 'hpct-import --from tsv reads' | grep -oE -- '--[a-z][a-z-]*' | sort -u
}
paged() { # PROGRAM : the long options that its page describes
	grep -E '^\.It Fl' "$HPCT_SOURCE/man/$1.1" | grep -oE -- ' -[a-z][a-z-]+' | sed 's/^ /-/' | sort -u
}
in_page() { # OPTION PAGE : -x, -long or --long as mdoc writes it
	grep -qE -- "(Fl|,) ${1#-}( |\$)" "$HPCT_SOURCE/man/$2.1"
}
for program in "$HPCT_BIN"/hpct-*; do
	name=${program##*/}
	[ -f "$HPCT_SOURCE/man/$name.1" ] || fail "$name has no manual page"
	_hpct_options "$name" >options # asks --help once for all that follow
	for option in $(helped "$name") $(paged "$name"); do
		[[ " $(complete_words "$name" "$option") " == *" $option "* ]] || fail "bash does not offer $option of $name"
		in_page "$option" "$name" || in_page "$option" hpct || fail "man/$name.1 says nothing of $option"
	done
	[ "$name" = hpct-link ] || for option in $(_hpct_options "$name"); do # the rest of its options are the compiler's
		[[ $option != @(-a|--all-cpus) ]] || continue                  # it would begin
		"$program" "$option" >out 2>&1 </dev/null
		! grep -qE 'unknown option|is no option of' out || fail "bash offers $option of $name, which does not take it"
	done
	for option in $(paged "$name"); do # refused for its value, or for what is missing, but known
		[[ $option != --all-cpus ]] || continue
		for given in "$option" "$option=x"; do
			"$program" "$given" >out 2>&1 </dev/null
			grep -qE 'unknown option|is no option|wrong option' out || continue 2
		done
		fail "man/$name.1: $name does not take $option"
	done
	for letter in $("$program" --help | grep -oE '^  (-[a-zA-Z]|-ds), ' | tr -d ' ,'); do
		in_page "$letter" "$name" || in_page "$letter" hpct || fail "man/$name.1 says nothing of $letter"
	done
	for option in --help --version -h -V; do
		code "$name $option" 0 "$program" "$option"
	done
	check "bash completes $name" grep -qw -- "$name" <(complete -p | grep -F _hpct)
	check "zsh completes $name" grep -qw -- "$name" <(head -n 1 "$HPCT_SOURCE/man/_hpct")
done
if command -v zsh >/dev/null; then
	check "_hpct is zsh" zsh -n "$HPCT_SOURCE/man/_hpct"
	# its own function alone: a terminal is not needed for what it parses
	for program in "$HPCT_BIN"/hpct-*; do
		name=${program##*/}
		zsh -fc 'compdef() { }; _describe() { :; }; _files() { :; }; words=(hpct-view --); CURRENT=2; . '"$HPCT_SOURCE"'/man/_hpct
			_hpct_options '"$name" >offered 2>&1
		for option in $(helped "$name") $(paged "$name"); do
			check "zsh offers $option of $name: $(head -n 3 offered)" grep -q -- "^$option:" offered
		done
	done
	check "zsh tells what an option with brackets does" grep -q '^--source:the lines' <(zsh -fc 'compdef() { }
		_describe() { :; }; _files() { :; }; words=(hpct-view --); CURRENT=2; . '"$HPCT_SOURCE"'/man/_hpct
		_hpct_options hpct-profile' 2>&1)
else
	echo "zsh is not installed: its completion was not tried"
fi
