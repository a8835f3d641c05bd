#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Static programs that hpct-link has linked: as always when started alone, measured like dynamic ones by hpct-record;
# threads, exceptions, children, exec, allocations; static-pie; what hpct-link itself says.
. "$(dirname -- "$0")/expect.sh"
need gcc
source=$HPCT_SOURCE
flags=(-O2 -g -fomit-frame-pointer -D_GNU_SOURCE -I"$source" -I"$source/record/program")
echo 'int main(void) { return 3; }' >small.c
gcc -static -o small small.c 2>/dev/null || skip "no static libc (libc6-dev)"

link() { # HOW... SAMPLE : hpct-link with HOW, into ./SAMPLE
	local sample=${*: -1} file
	file=$(echo "$source/samples/$sample".c*)
	"${@:1:$#-1}" "${flags[@]}" -o "$sample" "$file" -pthread || fail "$sample is not linked"
}

# Threads, by both ways to be static: weights as the threads read them themselves, whole stacks.
for how in -static-pie -static; do
	link hpct-link gcc -fPIE $how threads8
	code "$how, alone" 0 ./threads8 0.02
	record threads --overwrite -- ./threads8 0.05 >reading || fail "$how: threads8 does not end well"
	weights_agree threads
	same "$how: streams" 9 "$(info threads streams)"
	same "$how: partial stacks" 0 "$(info threads partial_stacks)"
	readings_agree threads <reading
done
same "--check" "./threads8: an agent is inside" "$(hpct-link --check ./threads8)"
strip threads8
check "the agent of a stripped program is found" hpct-link --check ./threads8 >out

# Exceptions: the functions' shares are the dynamic program's. No frame is the agent's or libc's start-up.
if command -v g++ >/dev/null; then
	link hpct-link g++ -std=c++17 -static templates
	event=CPUTIME@f1000 both static ./templates 0.3
	weights_agree static
	record dynamic -e CPUTIME@f1000 -- "$samples/templates" 0.3 >out
	limit=$(awk -v a="$(share_limit static)" -v b="$(share_limit dynamic)" 'BEGIN { print a + b }')
	for function in 'catcher' 'shop::grid<double>::relax' 'shop::thrower::leap' '_Unwind_RaiseException'; do
		for run in static dynamic; do
			hpct-slice $run.hpct --format tsv | tsv '$c["track"] == "samples" { all += $c["weight"]
				if (index(";" $c["path"], ";'"$function"'")) n += $c["weight"] }
				END { printf "%.2f\n", 100 * n / all }' >"share.$run"
		done
		near "share of $function, as in the dynamic program" "$(cat share.dynamic)" "$(cat share.static)" "$limit"
	done
	check "full stacks: $(info static partial_stacks) of $(info static samples) are partial" \
		calc "$(info static partial_stacks) <= 0.015 * $(info static samples)"
	# What runs when main has returned is called by exit; before main, by libc's start, or it is the agent's own.
	hpct-slice static.hpct --format tsv | tsv '$c["track"] == "samples" && $c["weight"] > 0 &&
		$c["path"] !~ /^(|(main|exit|<partial>|_start;__libc_start_main)(;.*)?)$/ { print $c["path"] }' >strangers
	same "paths that begin neither at main nor at exit" "" "$(head -n 3 strangers)"
fi

# What the agent does ahead of main is sampled, and is no call of libc's start, or the loader's: it stands on the root.
hpct-link gcc -static -o starts.static small.c || fail "small.c is not linked"
gcc -o starts.dynamic small.c
for how in static dynamic; do
	for turn in {1..20}; do
		code "a start-up" 3 record starts --overwrite -e CPUTIME@f10000 -- "./starts.$how"
		hpct-slice starts.hpct --format tsv
	done >rows
	tsv '$c["track"] == "samples" && $c["path"] ~ /(^|;)(mmap|socket|connect|sendmsg|close|syscall)(;|$)/ {
		print $c["path"] }' <rows >strangers
	same "$how: calls of the agent's" "" "$(head -n 3 strangers)"
	own=$(tsv '$c["track"] == "samples" && $c["path"] == "" && $c["weight"] > 0 { n++ } END { print n + 0 }' <rows)
	check "$how: no sample of the agent's start" [ "$(info starts sampler)" = timer -o "$own" -gt 0 ]
done

# Children by fork, vfork, spawn, system and exec, each measured.
link hpct-link gcc -static forks
record children -- ./forks all 0.1 >reading || fail "forks does not end well"
weights_agree children
hpct-slice children.hpct --format tsv >rows
limit=$(edge children 12e6)
while IFS=$'\t' read -r kind pid ns; do
	case $kind in
	parent) function=parent_work ;;
	fork) function=fork_work ;;
	*) function=child_work ;;
	esac
	near "$kind: weights in $function" 0.1e9 "$(tsv '$c["track"] == "samples" &&
		split($c["stream"], part, "/") && part[3] ~ /^'"$pid"'\./ && (";" $c["path"] ";") ~ /;'"$function"';/ {
		n += $c["weight"] } END { printf "%.0f\n", n }' <rows)" "$limit"
done <reading
same "exec: generations" 2 "$(tsv '{ print $c["stream"] }' <rows | grep -o "/$(awk '$1 == "exec" { print $2 }' reading)\.[0-9]*/" |
	sort -u | wc -l)"
same "nothing was unmonitored" 0 "$(tsv '$c["op"] == "unmonitored" { n++ } END { print n + 0 }' <rows)"

# Allocations, to the byte; without --memleak hpct-record says why there are none.
link hpct-link --memleak gcc -static leaks
event=MEMLEAK both leaks ./leaks
hpct-profile leaks.hpct --format tsv | tsv '$c["name"] == "lose" {
	print $c["MEMLEAK:allocated:incl"], $c["MEMLEAK:freed:incl"] }' >row
same "what is lost" "100000 0" "$(cat row)"
code "no --memleak" 0 hpct-record -e MEMLEAK -o unseen.hpct -- ./threads8 0.01
sentence "no --memleak"
check "no --memleak: $(cat err)" grep -q 'hpct-link --memleak' err

# What is not for hpct-link: a dynamic program is measured once, from outside.
code "a dynamic program" 0 hpct-link gcc -o dynamic small.c
sentence "a dynamic program"
code "a dynamic program, recorded" 3 record once -- ./dynamic
same "a dynamic program: streams" 1 "$(info once streams)"
code "a link that fails" 1 hpct-link gcc -static -o none nothing.c
code "compiling alone" 0 hpct-link gcc -c small.c
same "compiling alone says nothing" "" "$(cat err)"
code "no command" 125 hpct-link
sentence "no command"
code "a command that is not there" 127 hpct-link nothing-of-that-name -static
