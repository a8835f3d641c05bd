# SPDX-License-Identifier: Apache-2.0
# packages.sh - which package has which file of an installed tree, and what it says of itself: for deb.sh and rpm.sh.
# shellcheck shell=bash disable=SC2034

recorders='record|doctor|link|names'
# package_of FILE : sets package, empty: none has it, and name, below the prefix. Fails for a file that it does not know.
package_of() {
	name=$1
	case $1 in
	bin/* | share/man/man1/* | share/bash-completion/completions/*)
		if [[ $(basename "$1" .1) =~ ^hpct-($recorders)$ ]]; then package=hpct-agent; else package=hpct; fi
		;;
	lib/hpct/*.a | lib/libhpct.a | lib/libhpct.so | include/* | lib/pkgconfig/* | lib/cmake/*) package=hpct-dev ;;
	lib/hpct/hpct-ranks-*) package=hpct ;;
	lib/hpct/*) package=hpct-agent ;;
	lib/libhpct_sql.so | lib/libhpct.so.*) package=hpct ;;
	lib/python3*-packages/hpct/*) package=hpct name=lib/python3/dist-packages/hpct/${1##*/} ;;
	share/zsh/site-functions/*) package=hpct ;;
	share/doc/* | LICENSE) package=hpct-doc ;;
	README.md | CHANGELOG.md) package=hpct-doc name=share/doc/hpct/$1 ;;
	share/modulefiles/* | share/terminfo/*) package= ;; # systems with packages have these terminals
	*) return 1 ;;
	esac
}

# summary_of PACKAGE : sets summary, a line, and text
summary_of() {
	case $1 in
	hpct-agent)
		summary='record call-path traces of CPU threads and GPU streams'
		text='hpct-record records what every thread and every GPU queue of an unmodified
program did, as a trace of call paths. hpct-doctor says what can be measured
on a machine. This package is all that a compute node needs.'
		;;
	hpct)
		summary='read call-path traces: timeline, profiles, blame'
		text='hpct-view shows the timeline of a recorded run in the terminal; other programs
profile any window of it, say which code idle GPUs and waiting threads waited
for, compare runs, and answer SQL.'
		;;
	hpct-dev)
		summary='mark phases of programs for hpct, and record static ones'
		text='hpct.h and a Fortran module name the parts of a program in its trace, and
start and stop the recording. hpct-link puts the static agent into programs
that are linked statically. hpct_read.h and libhpct.a are for programs that
read recorded runs.'
		;;
	hpct-doc)
		summary='documentation of hpct'
		text='A guide, recipes for clusters and containers, a glossary, the sources of all
methods, and the description of the store, byte by byte.'
		;;
	esac
}

# pages_put SOURCE DIRECTORY : what a person reads, out of the source tree
pages_put() {
	mkdir -p "$2/recipes"
	cp "$1"/docs/*.md "$1/store/FORMAT.md" "$2/"
	cp "$1"/docs/recipes/*.md "$2/recipes/"
}
