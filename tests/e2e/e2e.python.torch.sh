#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# PyTorch's observers: a mark for each step of an optimizer, ranges, backward kernels below the code of their operator.
# By libraries with its names, in two layouts; by PyTorch itself where a Python has it, on kernels of OpenCL.
. "$(dirname -- "$0")/expect.sh"
need g++
python_with ctypes || skip "no Python has ctypes"
marks() { # RUN : names of its marks with their number
	hpct-slice "$1.hpct" --op mark --format tsv | tsv '$c["op"] == "mark" { print $c["attributes"] }' | sort | uniq -c |
		awk '{ $1 = $1 } 1' | sort
}
step_rows() { # RUN : rows of steps in --by step
	hpct-stats "$1.hpct" --by step --format tsv | tsv '$c["key"] ~ /^step#/' | wc -l
}

for layout in "" -DWIDE; do
	g++ -O1 -shared -fPIC $layout -o libtorch_cpu.so "$HPCT_SOURCE/tests/e2e/torch_cpu.cc" &&
		g++ -O1 -shared -fPIC -o libtorch_python.so "$HPCT_SOURCE/tests/e2e/torch_python.cc" -L. -ltorch_cpu \
			-Wl,-rpath,"$work" -lOpenCL -pthread 2>log || skip "the libraries cannot be built: $(head -1 log)"
	fake=("$python" "$HPCT_SOURCE/tests/e2e/torch_fake.py" "$work/libtorch_cpu.so" "$work/libtorch_python.so")
	rm -rf -- *.hpct
	both steps "${fake[@]}" steps
	printf '%s\n' "10 name=step,optimizer=Sharded" "45 name=step,optimizer=SGD" >wanted
	marks steps >got
	same_file "marks, each step once $layout" wanted got
	same "--by step has a row for each" 55 "$(step_rows steps)"
	same "rows of --by step sum to the whole" "$(hpct-stats steps.hpct --by op --format tsv | tsv '{ n += $c["time_ns"] } END { print n }')" \
		"$(hpct-stats steps.hpct --by step --format tsv | tsv '{ n += $c["time_ns"] } END { print n }')"
	same "steps follow each other" "" "$(hpct-slice steps.hpct --op mark --format tsv | tsv '
		$c["op"] == "mark" { if (end[$c["stream"]] && end[$c["stream"]] != $c["begin_ns"]) print; end[$c["stream"]] = $c["end_ns"] }')"
	check "--time @step#50" hpct-slice steps.hpct --time @step#50 --op mark --format tsv >/dev/null
	same "ranges" 65 "$(hpct-slice steps.hpct --op range --format tsv | tsv '$c["op"] == "range" && /Optimizer.step/' | wc -l)"
	both own "${fake[@]}" own
	printf '%s\n' "7 name=step" >wanted
	marks own >got
	same_file "a program with steps of its own" wanted got
	both backward "${fake[@]}" backward
	hpct-slice backward.hpct --time @known --op kernel --format tsv | tsv '$c["op"] == "kernel" {
		path = $c["path"]
		from = path ~ /;first_layer;/ ? "first" : path ~ /;second_layer;/ ? "second" : path ~ /;measured;/ ? "measured" : "thread"
		print from, path ~ /;<backward>;/ ? "backward" : "forward" }' | sort | uniq -c | awk '{ $1 = $1 } 1' | sort >got
	printf '%s\n' "10 first backward" "10 first forward" "20 measured forward" "10 second backward" "10 second forward" \
		"20 thread forward" | sort >wanted
	same_file "kernels by the code that they belong to $layout" wanted got
	# Four threads whose functions have the same numbers: one makes some that never launch, one's backward pass
	# has a forward and a backward pass of its own, which stay where they are.
	both threads "${fake[@]}" threads
	hpct-slice threads.hpct --time @known --op kernel --format tsv | tsv '$c["op"] == "kernel" {
		path = $c["path"]
		from = match(path, /;(layer_[a-z]*|no_layer);/) ? substr(path, RSTART + 1, RLENGTH - 2) : "thread"
		print from, path ~ /;<backward>;/ ? "backward" : "forward" }' | sort | uniq -c | awk '{ $1 = $1 } 1' | sort >got
	printf '%s\n' "10 layer_one forward" "9 layer_one backward" "10 layer_two forward" "9 layer_two backward" \
		"10 layer_again forward" "$((9 * 8)) layer_again backward" "$((1 + 1 + 10 + 8 + 40)) thread forward" | sort >wanted
	same_file "kernels of several forward threads $layout" wanted got
	both compiled "${fake[@]}" compiled
	hpct-slice compiled.hpct --time @known --op kernel --format tsv | tsv '$c["op"] == "kernel" {
		path = $c["path"]
		print path ~ /;compiled_graph;/ ? "graph" : "thread", path ~ /;<backward>;/ ? "backward" : "forward" }' |
		sort | uniq -c | awk '{ $1 = $1 } 1' | sort >got
	printf '%s\n' "10 graph backward" "30 graph forward" "10 thread forward" | sort >wanted
	same_file "kernels of a compiled graph $layout" wanted got
done

# By PyTorch itself.
if python_with torch.autograd.profiler; then
	both real "$python" "$HPCT_SOURCE/tests/e2e/torch_real.py"
	hpct-slice real.hpct --time @known --op kernel --format tsv | tsv '$c["op"] == "kernel" {
		path = $c["path"]
		print path ~ /;layer_one;/ ? "one" : path ~ /;layer_two;/ ? "two" : "thread", path ~ /;<backward>;/, path ~ /;one$/ ? "one" : "two" }' |
		sort | uniq -c | awk '{ $1 = $1 } 1' | sort >got
	printf '%s\n' "10 one 0 one" "9 one 1 one" "1 thread 0 one" "10 two 0 two" "9 two 1 two" "1 thread 0 two" | sort >wanted
	same_file "kernels of two threads, by PyTorch" wanted got
	both alone "$python" "$HPCT_SOURCE/tests/e2e/torch_real.py" alone
	hpct-slice alone.hpct --time @known --op kernel --format tsv | tsv '$c["op"] == "kernel" {
		path = $c["path"]
		print path ~ /;layer_one;/ ? "one" : "thread", path ~ /;<backward>;/ }' | sort | uniq -c | awk '{ $1 = $1 } 1' | sort >got
	printf '%s\n' "10 one 0" "9 one 1" "1 thread 0" | sort >wanted
	same_file "kernels where one operator alone has a number, by PyTorch" wanted got
fi

# A library whose symbols the agent cannot read works as without it.
g++ -O1 -shared -fPIC -Wl,--hash-style=sysv -o libtorch_cpu.so "$HPCT_SOURCE/tests/e2e/torch_cpu.cc" || fail "it cannot be built"
both unread "${fake[@]}" steps
same "its engine is set" 1 "$(head -1 measured.out)"
