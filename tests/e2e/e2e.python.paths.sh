#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Python programs, recorded with nothing but hpct-record: names, lines, shares, both languages in one path, threads
# and processes, waits; the raw C frames one switch away; an interpreter that is not known.
. "$(dirname -- "$0")/expect.sh"
. "$HPCT_SOURCE/tests/e2e/pythons.sh"
cp "$HPCT_SOURCE/samples/python.py" .
inclusive() { # RUN NAME : seconds of CPU time in the functions so named
	hpct-profile "$1.hpct" --view flat --format tsv | tsv '
		$c["kind"] == "function" && $c["name"] ~ /^([A-Za-z]*\.)?'"$2"'$/ && $c["module"] ~ /python\.py$/ { n += $c["CPUTIME:incl"] }
		END { printf "%.3f", n / 1e9 }'
}
while read -r python; do
	rm -rf r.hpct
	record r -e CPUTIME@1000 -- "$python" python.py 1 >out || fail "$python: the program does not end well"
	same "$python: output" done "$(cat out)"
	same "$python: partial stacks" 0 "$(info r partial_stacks)"
	near "$python: heavy" 0.600 "$(inclusive r heavy)" 8
	near "$python: work" 0.300 "$(inclusive r work)" 10
	near "$python: light, in two processes" 0.200 "$(inclusive r light)" 15
	hpct-profile r.hpct --view top-down --format tsv >top
	"/usr/bin/env" python3 "$HPCT_SOURCE/tests/e2e/python_paths.py" python.py <top >paths 2>wrong ||
		fail "$python: the profile cannot be read"
	read -r checked bad _ <paths
	check "$python: $checked paths" [ "${checked:-0}" -gt 25 ]
	same "$python: calls that the source does not have" 0 "${bad:--}"
	[ "${bad:-0}" = 0 ] || head -5 wrong
	weights_agree r
	# The interpreter gives way, in the whole path; without it all native frames are there and no others.
	hpct-slice r.hpct --format tsv >mixed
	hpct-slice r.hpct --python native --format tsv >native
	# (Where Python begins or ends, no Python function stands for it.)
	same "$python: evaluation in paths with Python" 0 "$(grep '_PyEval_EvalFrameDefault' mixed | grep -c '<module>\|_bootstrap')"
	same "$python: Python in native paths" 0 "$(grep -c 'heavy_step' native)"
	same "$python: samples" "$(grep -c '	samples	' mixed)" "$(grep -c '	samples	' native)"
	same "$python: a record in all depths" "$(tail -n +2 mixed | cut -f1-4,8 | sort | sha256sum)" \
		"$(tail -n +2 native | cut -f1-4,8 | sort | sha256sum)"
	check "$python: nothing below Python with --python only" calc "$(hpct-slice r.hpct --python only --format tsv |
		tsv '$c["track"] == "samples" && $c["path"] ~ /^<module>/ && $c["path"] ~ /clock_gettime/ { n++ } END { print n + 0 }') == 0"
	# The lines of a function sum up to it; all time is there, however it is shown.
	for shown in mixed only; do
		same "$python, --python $shown: lines of spin are spin" \
			"$(hpct-stats r.hpct --python $shown --by function --format tsv | tsv '$c["key"] == "spin" { printf "%.0f", $c["time_ns"] }')" \
			"$(hpct-stats r.hpct --python $shown --by line --format tsv | tsv '
				$c["key"] ~ /\/?python\.py:(1[6-9]|20)$/ { n += $c["time_ns"] } END { printf "%.0f", n }')"
	done
	same "$python: time of each way" 1 "$(for shown in mixed only native; do
		hpct-stats r.hpct --python $shown --by line --format tsv | tsv '{ n += $c["time_ns"] } END { printf "%.0f\n", n }'
	done | uniq | wc -l)"
	check "$python: threads of both kinds" grep -q 'Thread._bootstrap\|_bootstrap' mixed
	hpct-info r.hpct --check >checked || fail "$python: hpct-info --check: $(tail -1 checked)"
done < <(pythons)

# A thread in a sub-interpreter has both interpreters' frames, in the order of the calls.
cat >sub.py <<'END'
import threading
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
TEXT = """
import time
def inner_work():
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        sum(range(1000))
def outer_work():
    inner_work()
outer_work()
"""
def runs_it():
    interpreters.run_string(interpreters.create(), TEXT)
runs_it()
thread = threading.Thread(target=runs_it)
thread.start()
thread.join()
END
while read -r python; do
	rm -rf sub.hpct
	record sub -e CPUTIME@1000 -- "$python" sub.py || fail "$python: sub.py does not end well"
	hpct-slice sub.hpct --format tsv | tsv '$c["track"] == "samples" && $c["path"] ~ /inner_work/ {
			n[$c["path"] ~ /^(<module>|<thread root>;.*_bootstrap);(.*;)?runs_it;(.*;)?<module>;outer_work;inner_work(;|$)/] += $c["weight"] }
		END { printf "%.3f %.3f\n", n[1] / 1e9, n[0] / 1e9 }' >sub.sums
	near "$python: in a sub-interpreter" 0.6 "$(cut -d' ' -f1 sub.sums)" 10
	check "$python: $(cat sub.sums) with all frames, without" calc "$(cut -d' ' -f2 sub.sums) < 0.02"
done < <(pythons)

# C that Python calls, and Python that C calls; a wait has the same path.
python=$(pythons | head -1)
cat >both.py <<END
import ctypes, time
oracle = ctypes.CDLL("${HPCT_BIN%/bin}/tests/python_oracle.so")
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
def back(n):
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        sum(range(1000))
    return n
def waits():
    time.sleep(0.3)
def outer():
    oracle.oracle_call(back, 1)
    waits()
outer()
END
record both -e CPUTIME@1000 -- "$python" both.py || fail "both.py does not end well"
hpct-slice both.hpct --format tsv >both.tsv
near "C between two Python functions" 0.3 "$(tsv '
	$c["track"] == "samples" && $c["path"] ~ /^<module>;outer;.*oracle_call;.*;back($|;)/ { n += $c["weight"] }
	END { printf "%.3f", n / 1e9 }' <both.tsv)" 10
near "blocked below waits" 0.3 "$(tsv '
	$c["op"] == "blocked" && $c["path"] ~ /^<module>;outer;waits;/ { n += $c["end_ns"] - $c["begin_ns"] }
	END { printf "%.3f", n / 1e9 }' <both.tsv)" 20

# Its source is shown, and a slice of the run is the run.
check "lines of the source" grep -q "both.py" <(hpct-profile both.hpct --view flat)
hpct-slice both.hpct -o part.hpct || fail "hpct-slice -o"
same "a slice's paths" "$(cut -f5 both.tsv | sort | sha256sum)" \
	"$(hpct-slice part.hpct --format tsv | cut -f5 | sort | sha256sum)"

# Embedded: a C program that opens libpython by itself.
if libpython=$(ls "$(dirname -- "$(dirname -- "$python")")"/lib/*/libpython3.*.so.1.0 2>/dev/null | head -1) && [ -n "$libpython" ]; then
	cat >embed.c <<'END'
#include <dlfcn.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	void (*begin)(void) = (void (*)(void))dlsym(library, "Py_Initialize");
	int (*run)(const char *) = (int (*)(const char *))dlsym(library, "PyRun_SimpleString");
	begin();
	return run("import time\ndef embedded():\n e = time.thread_time() + 0.4\n while time.thread_time() < e: pass\nembedded()\n");
}
END
	if cc -o embed embed.c -ldl 2>/dev/null; then
		record embed -- ./embed "$libpython" || fail "embed does not end well"
		check "embedded" grep -q 'main;<module>;embedded' <(hpct-slice embed.hpct --format tsv)
	fi
fi

# Not known: native frames, and the summary says so.
for old in "${PYENV_ROOT:-${HOME:-/root}/.pyenv}"/versions/3.7.*/bin/python3; do
	[ -x "$old" ] || continue
	record old --summary old.txt -- "$old" -c 'sum(i * i for i in range(3000000))' || fail "$old"
	check "said of $old" grep -q "Python" old.txt
	same "Python of $old" 0 "$(hpct-slice old.hpct --format tsv | grep -c '<genexpr>')"
done
if command -v pypy3 >/dev/null; then
	record pypy --summary pypy.txt -- pypy3 -c 'print(sum(i * i for i in range(3000000)))' >pypy.out || fail "pypy3"
	check "said of PyPy: $(grep -c . pypy.txt) lines" grep -q "PyPy: its stack cannot be read" pypy.txt
	same "PyPy's output" "$(pypy3 -c 'print(sum(i * i for i in range(3000000)))')" "$(cat pypy.out)"
fi
