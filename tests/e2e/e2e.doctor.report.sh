#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-doctor --report: what a maintainer needs is in it, nothing private without --full; what is written is what was shown.
. "$(dirname -- "$0")/expect.sh"
mkdir -p "home/secret plan/deep"
cp "$samples/exits" home/hidden-program
cd "home/secret plan/deep" || exit 1
export HOME=$work/home TMPDIR=$work HPCT_NOTHING=$work/home/vault/key.txt DEBUGINFOD_URLS=https://server.site.org/private
record sim -- "$work/home/hidden-program" return 3 0.1 password=hunter2 2>/dev/null
same "what was recorded" 3 "$(info sim exit)"

code "a report" 0 hpct-doctor --report
same "says nothing on stderr" "" "$(cat err)"
for words in '[version]' "hpct $(hpct --version | cut -d' ' -f2)" 'formats ' "kernel: Linux $(uname -r)" 'C library: glibc' \
	'Max open files' '[settings]' '[GPUs]' 'agent  ' '(hpct-record ended with 0, hpct-info with 0)' 'sampler	' 'samples	' \
	'command	~/hidden-program ...' 'lost	0' 'begin_ns	end_ns	op	attributes' 'HPCT_NOTHING=~/.../key.txt'; do
	check "it has '$words'" grep -qF -- "$words" out
done
for words in hunter2 "$work" 'secret plan' vault site.org; do
	check "it has no '$words'" test "$(grep -cF -- "$words" out)" = 0
done
host=$(uname -n)
[ "${#host}" -lt 4 ] || check "it does not name the host" test "$(grep -v '^/[ps]' out | grep -cw -- "$host")" = 0
code "a report with names" 0 hpct-doctor --report --full
for words in hunter2 "$work/home/hidden-program" vault site.org "host	$host"; do
	check "--full has '$words'" grep -qF -- "$words" out
done

# Of another machine's run, too, and of one that is named.
hpct-simulate -o other.hpct --shape mixed --records 2000
code "a named run" 0 hpct-doctor --report other.hpct
check "its facts" grep -q "^samples	$(info other samples)$" out
check "its losses" test "$(grep -c '	lost	' out)" -gt 0
others=$(hpct-info other.hpct --format tsv | tsv '$c["key"] == "host" { print $c["value"] }' | sort -u)
for other in $others; do
	check "its host $other is not named" test "$(sed -n '/^\[the last run\]/,$p' out | grep -cw -- "$other")" = 0
done
cd "$work" && mkdir empty && cd empty || exit 1
code "without a run" 0 hpct-doctor --report
check "says so" grep -q '(hpct-info ended with [1-9]' out

# Shown, then written; never over another file.
code "into a file" 0 hpct-doctor --report -o report.txt
same_file "what is written" report.txt out
code "a file that is there" 2 hpct-doctor --report -o report.txt
sentence "a file that is there"
code "a directory that is not there" 5 hpct-doctor --report -o nowhere/report.txt
sentence "a directory that is not there"
[ ! -w /dev/full ] || { hpct-doctor --report -o full.txt >/dev/full 2>err; same "not shown" 5 "$?"; }
check "what was not shown is not written" [ ! -e full.txt ]
if command -v script >/dev/null; then
	for answer in n y; do
		echo $answer | script -qec "hpct-doctor --report" /dev/null >shown 2>&1
		check "on a terminal it asks" grep -q 'write this to hpct-doctor.txt? \[y/N\]' shown
		same "answered $answer" "$([ $answer = y ] && echo yes)" "$([ -s hpct-doctor.txt ] && echo yes)"
	done
fi
code "--full without a report" 2 hpct-doctor --full
sentence "--full without a report"
code "-o without a report" 2 hpct-doctor -o x
sentence "-o without a report"
code "two runs" 2 hpct-doctor --report a b
sentence "two runs"
