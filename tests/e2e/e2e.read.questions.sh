#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 100 random questions: a reader, SQL, libhpct from C and Python give the same rows, to the ns, or refuse with the same
# code and sentence. HPCT_SEED=N repeats a game.
. "$(dirname -- "$0")/expect.sh"
columns=$HPCT_BIN/../tests/columns
[ -x "$columns" ] || skip "libhpct is not built"
need python3
export PYTHONPATH=$HPCT_SOURCE/formats/python PYTHONDONTWRITEBYTECODE=1 HPCT_LIBRARY=$HPCT_BIN/../lib/libhpct.so.0
for shape in cpu gpu mixed odd; do
	hpct-simulate -o $shape.hpct --shape $shape --records 6000 --streams 6
done
hpct-import --from tsv -o mpi.hpct "$HPCT_SOURCE/tests/golden/meet/rows.tsv" || fail "import"
code "the answers" 0 python3 "$HPCT_SOURCE/tests/e2e/read_questions.py" "$columns" "${HPCT_SEED:-34}" 100 {cpu,gpu,mixed,odd,mpi}.hpct
cat out err
check "rows were compared" [ "$(cat out)" -gt 10000 ]
