#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package: installed by pip without a network, and by the build; columns without anything, for NumPy, pandas and
# Arrow; errors, a run that grows or is removed, an interruption.
. "$(dirname -- "$0")/expect.sh"
[ -e "$HPCT_BIN/../lib/libhpct.so.0" ] || skip "libhpct is not built"
need python3
export PYTHONDONTWRITEBYTECODE=1
tests=$HPCT_SOURCE/tests/e2e/python_package.py
hpct-simulate -o mixed.hpct --shape mixed --records 30000 --streams 6
hpct-simulate -o long.hpct --shape cpu --streams 20 --records 3000000
cp -r mixed.hpct gone.hpct
ls -A >files.before

# pip: a copy of the tree, so that it may write where it stands.
cp -r "$HPCT_SOURCE/formats/python" package
sed -n 's/^project(hpct VERSION \([0-9.]*\).*/\1/p' "$HPCT_SOURCE/CMakeLists.txt" >package/VERSION
if python3 -m venv venv >log 2>&1; then
	code "pip install, without a network" 0 venv/bin/pip install --no-index --disable-pip-version-check ./package
	check "pip lists it" grep -q "^hpct *$(cat package/VERSION)$" <(venv/bin/pip list --disable-pip-version-check 2>/dev/null)
	code "installed: it finds the library by the program hpct" 0 venv/bin/python "$tests" plain
	cat err
	code "pip uninstall" 0 venv/bin/pip uninstall -y hpct
	check "nothing is left of it" [ -z "$(find venv -name 'hpct*')" ]
	code "pip install -e" 0 venv/bin/pip install --no-index --disable-pip-version-check -e ./package
	code "editable" 0 venv/bin/python -c 'import hpct; print(hpct.__file__)'
	same "editable: the source" "$(realpath package)/hpct/__init__.py" "$(realpath "$(cat out)")"
	# Without the project around it: from the source archive.
	python3 -c 'import sys; sys.path.insert(0, "package"); import hpct_build; print(hpct_build.build_sdist("."))' >name
	mkdir from && tar -C from -xzf "$(cat name)"
	code "from the source archive" 0 venv/bin/pip install --no-index --disable-pip-version-check --force-reinstall ./from/*
	code "installed from it" 0 venv/bin/python -c 'import hpct; print(hpct.release())'
	env -i PATH=/usr/bin:/bin venv/bin/python -c 'import hpct; hpct.open("mixed.hpct")' >out 2>err
	check "without a library a sentence says what to do: $(tail -n 1 err)" grep -q 'HPCT_LIBRARY' err
else
	echo "no venv (python3-venv): pip is not tested"
fi
rm -rf package venv from log name hpct-*.tar.gz

export PYTHONPATH=$HPCT_SOURCE/formats/python
for name in plain arrow errors threads removed stopped timeline; do
	code "$name" 0 python3 "$tests" "$name"
	cat err
done
for name in numpy pandas; do
	if python_with "$name"; then
		code "$name" 0 "$python" "$tests" "$name"
		cat err
	else
		echo "no python3-$name: not tested"
	fi
done

# Ctrl-C.
env --default-signal=INT python3 "$tests" endless >asked 2>err &
pid=$!
check "a query that never ends has begun" await grep -qs asking asked
while kill -INT $pid 2>/dev/null && [ "$(wc -l <asked)" -lt 2 ]; do sleep 0.1; done
wait $pid
check "interrupted: $(tail -n 1 err)" grep -q interrupted asked

# A run that grows, and ends.
hpct-record -o live.hpct -- "$samples/threads8" 1000 >/dev/null 2>&1 &
pid=$!
check "a run that is being recorded" await sampled live
code "live" 0 python3 "$tests" live live.hpct $(pgrep -P $pid -x threads8)
cat err
wait $pid
rm -r live.hpct
same "nothing is left behind" "$(grep -v gone.hpct files.before)" "$(ls -A | grep -vxE 'out|err|asked|\.cache')"
