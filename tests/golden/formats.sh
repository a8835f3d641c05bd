#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# formats.sh [--add] - formats/VERSION.tar.xz hold two simulated runs, as the hpct of that version of the store's format
# wrote them: the same records in each. Every reader answers the same of each, byte by byte, as of the newest; and each
# version of store/FORMAT.md has its archive. --add makes that of this build; once it is committed it stays as it is.
set -uo pipefail
here=$(cd -- "$(dirname -- "$0")" && pwd)
PATH=$HPCT_BIN:$PATH
export LC_ALL=C
unset DEBUGINFOD_URLS
work=$(mktemp -d "${TMPDIR:-/tmp}/hpct-formats.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/.cache XDG_CONFIG_HOME=$work/.config
failed=0
fail() {
	printf 'FAILED: %s\n' "$*"
	failed=1
}
own=$(hpct --version --build | sed -n 's/^formats.*writes runs of format \([0-9.]*\),.*/\1/p')

if [ "${1-}" = --add ]; then
	[ ! -e "$here/formats/$own.tar.xz" ] || { echo "formats/$own.tar.xz is there, and stays" && exit 1; }
	mkdir "$own"
	for shape in mixed odd; do
		hpct-simulate -o $shape.hpct --shape $shape --streams 6 --records 900 --seed 7 || exit 1
		cp $shape.hpct/*.mdb "$own/$shape.mdb"
	done
	tar -c --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 "$own" | xz -9e >"$here/formats/$own.tar.xz"
	exit
fi
command -v xz >/dev/null || { echo "skipped: xz is not installed" && exit 77; }

# What every reader says of run.hpct, with its exit code; none looks at the clock or at where the run lies.
answers() {
	while read -r command; do
		echo "$ $command"
		eval "$command" 2>&1
		echo "= $?"
	done <<-'END'
		hpct-info --check run.hpct >check
		hpct-info run.hpct --streams
		hpct-info run.hpct --modules
		hpct-slice run.hpct --format tsv
		hpct-profile run.hpct --format tsv
		hpct-profile run.hpct --view bottom-up --time 1ms..50ms
		hpct-profile run.hpct --no-rollups
		hpct-stats run.hpct --by function
		hpct-stats run.hpct --by op
		hpct-stacks run.hpct
		hpct-blame run.hpct
		hpct-blame run.hpct --of waiting
		hpct-advise run.hpct
		hpct-report run.hpct
		hpct-diff run.hpct run.hpct
		hpct-view run.hpct --print 100x30
		hpct-export run.hpct --to chrome
		hpct-export run.hpct --to folded
		! command -v hpct-sql >/dev/null || hpct-sql run.hpct 'select count(*), sum(weight) from samples'
	END
}
versions=$(find "$here/formats" -name '*.tar.xz' -printf '%f\n' | sed 's/[.]tar[.]xz$//' | sort -V)
newest=$(tail -n 1 <<<"$versions")
for version in $(sort -rV <<<"$versions"); do
	tar -xJf "$here/formats/$version.tar.xz" || fail "$version cannot be unpacked"
	for shape in mixed odd; do
		rm -rf run.hpct .cache
		mkdir -p run.hpct && mv "$version/$shape.mdb" run.hpct/node01-0.mdb
		answers >"$version-$shape"
		got=$(hpct-info run.hpct --format tsv | awk -F '\t' '$1 == "format" { print $2 }')
		[ "$got" = "$version" ] || fail "$version: its format is '$got'"
		grep -q '^= [145]' "$version-$shape" && fail "$version, $shape: a reader refuses it:" &&
			grep -B2 '^= [145]' "$version-$shape" | head -n 6
		cmp -s "$version-$shape" "$newest-$shape" || {
			fail "$version, $shape: it reads otherwise than $newest:"
			diff -a "$version-$shape" "$newest-$shape" | head -n 6 | cut -c1-200
		}
	done
done
[ "$(wc -l <"$newest-mixed")" -gt 1000 ] && [ "$(wc -l <"$newest-odd")" -gt 1000 ] || fail "the runs are almost empty"

# No version without its runs.
for version in 1.0 $(sed -n 's/^| \([0-9.]*\) |.*/\1/p' "$here/../../store/FORMAT.md" | grep -F .); do
	[ -e "$here/formats/$version.tar.xz" ] || fail "format $version has no runs here: tests/golden/formats.sh --add"
done
[ -e "$here/formats/$own.tar.xz" ] || fail "format $own, which is written now, has none: tests/golden/formats.sh --add"
hpct --version --build | grep -qF "reads $(head -n 1 <<<"$versions") to $own" || fail "hpct --version --build does not say so"
exit $failed
