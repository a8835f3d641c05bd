# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# hpct.bash - completes hpct and hpct-VERB in bash. The options are those that --help prints, which is made from the
# same table that parses them; runs are the *.hpct here.

# Options that the manual page has, and --help has no line for.
_hpct_more() {
	case $1 in
	hpct-record) echo --cuda --cuda-graphs --disable-gprof --force --memleak-prob --java --node --newest --all-cpus --sampler --stack-bytes --trace --unwinder --with-sources ;;
	hpct-link) echo --io ;;
	esac
}

# Options of a program, a word each; asked once in a shell.
_hpct_options() {
	local name=_hpct_of_${1//[^a-z]/_}
	if [ -z "${!name-}" ]; then
		# what another program is said to take is not this one's
		printf -v "$name" '%s' "$("$1" --help 2>/dev/null |
			sed -E "s/$1/THIS/g; s/hpct-[a-z]+ [^.;]*//g" | grep -oE -- '(^|[[:space:],(])--?[a-zA-Z][a-z-]*' |
			grep -oE -- '--?[a-zA-Z].*' | sort -u | tr '\n' ' ') $(_hpct_more "$1")"
	fi
	printf '%s' "${!name}"
}

# PROGRAM OPTION : words that it takes, where they are few.
_hpct_values() {
	case $1$2 in
	hpct-blame--by) echo function path module line loop inline file instruction script process program host rank mark; return ;;
	hpct-diff--by) echo function path module line loop inline file instruction script op mark; return ;;
	hpct-profile--by) echo function rank thread process program host device stream; return ;;
	hpct-stats--by) echo function path module line loop inline file instruction script process program host rank stream op step @MARK cluster stall; return ;;
	hpct-view--by) echo function path module line loop inline file instruction script stream op; return ;;
	hpct-view--format) echo text ansi svg html; return ;;
	hpct-report--format) echo table tsv json html; return ;;
	esac
	case $2 in
	--format) echo table tsv json ;;
	--view) echo top-down bottom-up flat ;;
	--by) echo function path module line loop inline file instruction script stream op mark ;;
	--of) echo gpu-idle gpu-idle-sampled all-idle cpu-idle cpu-idle-cause waiting serial lock lock-holder lock-pair gil gil-wait gil-pair omp mpi-wait ;;
	--runtime) echo hidden frames ;;
	--to) echo tsv csv folded chrome speedscope firefox callgrind svg svg-chart html pprof perfetto otf2 ;;
	--from) echo tsv csv prometheus gpu-samples chrome nsys otf2 pprof perfetto perf hpctoolkit folded ;;
	--busy) echo any kernel ;;
	--group) echo process all ;;
	--over | --each) echo rank thread process host device stream ;;
	--scaling) echo strong weak ;;
	--shape) echo cpu gpu mixed odd waits ;;
	--colors) echo 256 16 8 0 ;;
	--align) echo begin ;;
	--sampler) echo auto timer trap overflow perf ;;
	--cuda) echo yield hold ;;
	--cuda-graphs) echo node graph ;;
	--unwinder) echo own libunwind ;;
	--op) echo kernel copy set sync blocked ;;
	esac
}

_hpct() {
	local program=${1##*/} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} at=1 values
	COMPREPLY=()
	if [ "$program" = hpct ]; then # hpct VERB is hpct-VERB
		if [ "$COMP_CWORD" -eq 1 ]; then
			mapfile -t COMPREPLY < <(compgen -W "$(hpct --help 2>/dev/null | sed -n 's/^verbs: //p') help" -- "$word")
			return
		fi
		program=hpct-${COMP_WORDS[1]} at=2
	fi
	values=$(_hpct_values "$program" "$before")
	if [ -n "$values" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
	elif [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_hpct_options "$program")" -- "$word")
	elif [ "$program" = hpct-record ] || [ "$program" = hpct-link ]; then
		if [ "$COMP_CWORD" -eq "$at" ] || [ "$before" = -- ]; then
			mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
		fi
	elif [ "$program" = hpct-import ] || [ "$program" = hpct-names ] || [ "$before" = -o ] || [ "$before" = --output ] || [ "$program$before" = hpct-report--gate ]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	else # a run, or a folder that may hold one
		mapfile -t COMPREPLY < <(compgen -d -- "$word" | grep '\.hpct$' || compgen -d -S / -- "$word")
	fi
}

complete -o filenames -F _hpct hpct hpct-advise hpct-blame hpct-diff hpct-doctor hpct-export hpct-import hpct-info hpct-link hpct-names \
	hpct-plot hpct-profile hpct-record hpct-report hpct-simulate hpct-slice hpct-sql hpct-stacks hpct-stats hpct-view
