#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rows.sh CASE - the golden test of one directory here: rows.tsv, stated by hand, is imported as rows.hpct, and
# NAME.rows.tsv, if there is any, as NAME.hpct; or, where a file `runs` names recordings of samples/runs, those are
# unpacked. Each line of `commands` is WANT EXIT COMMAND: the command's output (both kinds) must be the file WANT, byte
# for byte, and its exit code EXIT. With HPCT_GOLDEN=write the files are written instead: read the difference before
# committing it.
# In: HPCT_BIN, the directory of the programs.
set -uo pipefail
export LC_ALL=C TZ=UTC PATH=${HPCT_BIN:?}:/usr/bin:/bin
case=$(cd -- "$(dirname -- "$0")/$1" && pwd) || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/hpct-golden.XXXXXX") || exit 1
trap 'cd / && rm -rf "$work"' EXIT
mkdir "$work/here" && cd "$work/here" || exit 1
failed=0
if [ -e "$case/runs" ]; then
	command -v xz >/dev/null || { echo "SKIPPED: xz is not there to unpack the recordings"; exit 77; }
	while read -r run; do
		mkdir "$run.hpct" && xz -dc "$case/../../../samples/runs/$run.mdb.xz" >"$run.hpct/vm-0.mdb" || exit 1
	done <"$case/runs"
else
	cp "$case/rows.tsv" . && hpct-import --from tsv rows.tsv || exit 1
	for more in "$case"/*.rows.tsv; do
		[ ! -f "$more" ] || { cp "$more" . && hpct-import --from tsv "${more##*/}" -o "$(basename "$more" .rows.tsv).hpct"; } ||
			exit 1
	done
fi
while read -r want code command; do
	[ -n "$want" ] || continue
	bash -c "$command" >"$work/got" 2>&1 </dev/null
	got=$?
	[ "$got" -eq "$code" ] || { echo "FAILED: $command: exit code $got, not $code"; cat "$work/got"; failed=1; }
	if [ "${HPCT_GOLDEN-}" = write ]; then
		cp "$work/got" "$case/$want"
	elif ! diff -u "$case/$want" "$work/got"; then
		echo "FAILED: $command: not what $want says"
		failed=1
	fi
done <"$case/commands"
for run in *.hpct; do
	rm -rf one.hpct
	hpct-slice "$run" --format tsv >one.tsv && hpct-import --from tsv one.tsv &&
		hpct-slice one.hpct --format tsv | cmp - one.tsv || { echo "FAILED: $run: slice | import | slice"; failed=1; }
done
exit "$failed"
