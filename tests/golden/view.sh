#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# view.sh NAME: draws one screen of view_cases and compares it with view_NAME.screen (readme: docs/timeline.svg, the
# picture at the top of the README; picture-NAME: docs/NAME.svg, picture-gauges-plot being of hpct-plot).
# In: HPCT_BIN. HPCT_GOLDEN_UPDATE=1 writes the screen anew: look at the difference before it is committed.
set -euo pipefail
here=$(cd -- "$(dirname -- "$0")" && pwd)
name=$1 screen_file=$here/view_$1.screen
[ "$name" != readme ] || screen_file=$here/../../docs/timeline.svg
[[ $name != picture-* ]] || screen_file=$here/../../docs/${name#picture-}.svg
export PATH=$HPCT_BIN:$PATH TZ=UTC
unset NO_COLOR
work=$(mktemp -d "${TMPDIR:-/tmp}/hpct-golden.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CONFIG_HOME=$work XDG_CACHE_HOME=$work

IFS='|' read -r _ run size locale options keys < <(grep "^$name|" "$here/view_cases")
gpu=$here/../gpu
# kernels FILE CODE SOURCE [KERNEL] : a run with samples of GPU instructions and the code they are of, a source beside it
kernels() {
	awk -v kernel="${4-}" -f "$here/samples.awk" "$gpu/$1" >rows
	hpct-import --from gpu-samples rows --binary "$gpu/$2" -o "$run.hpct"
	mkdir src
	cp "$gpu/$3" src/
}
if [ "$run" = faults ]; then
	kernels faults-sm90.samples faults-sm90.cubin faults.cu
elif [ "$run" = fields ]; then
	kernels more_faults-sm90.samples more_faults-sm90.cubin more_faults.cu fields
elif [ "$run" = amd ]; then
	hpct-import --from gpu-samples "$gpu/amd_faults-gfx90a.samples" --binary "$gpu/amd_faults-gfx90a.co" -o amd.hpct
	mkdir src
	cp "$gpu/amd_faults.cl" src/
elif [ -f "$here/view_$run.awk" ]; then
	awk -f "$here/view_$run.awk" >"$run.tsv"
	hpct-import --from tsv "$run.tsv" -o "$run.hpct"
else
	hpct-simulate -o "$run.hpct" --shape "$run" --streams 12 --records 20000 --seed 7
fi
case $name in
source | source-8* | source-p*) for file in 0 1 2 3; do seq -f "statement %g of $file;" 1100 >$file.c; done ;;
source-map) mkdir new && seq -f "	mapped %g" 1100 >new/0.c ;;
esac
read -ra words <<<"$options"
case $name in
compare*) # the same run, a quarter faster and without its uploads
	awk -F'\t' -v OFS='\t' '/upload/ { next } NR > 1 { $3 = sprintf("%.0f", $3 * 0.75); if ($4 != "") $4 = sprintf("%.0f", $4 * 0.75)
		if ($8 != "" && $2 == "samples") $8 = sprintf("%.0f", $8 * 0.75) } { print }' "$run.tsv" >fast.tsv
	hpct-import --from tsv fast.tsv -o fast.hpct
	words+=(fast.hpct)
	printf 'name\tbegin_ns\tend_ns\nstep20\t1239416832\t1239416832\n' >"$run.hpct/marks.tsv"
	printf 'name\tbegin_ns\tend_ns\nstep20\t929562624\t929562624\n' >fast.hpct/marks.tsv
	for step in 0 1 2 3; do # the program's steps, as marks of both
		printf 'step\t%d\t\n' $((1239416832 + step * 71303168)) >>"$run.hpct/marks.tsv"
		printf 'step\t%d\t\n' $((929562624 + step * 53477376)) >>fast.hpct/marks.tsv
	done
	;;
esac
want=0 got=0
case $name in
no-data | no-data-100) want=3 ;;
too-small | tiny) want=2 ;;
esac
if [ "$name" = picture-gauges-plot ]; then
	LC_ALL=$locale hpct-plot "$run.hpct" "${words[@]}" >screen || got=$?
else
	LC_ALL=$locale hpct-view "$run.hpct" --print "$size" ${words[@]+"${words[@]}"} --keys "$keys" >screen || got=$?
fi
[ "$got" = "$want" ] || { echo "exit code $got, not $want"; exit 1; }
sed -i 's/\x1b/\\e/g' screen # colours, so that people can read the difference
if [ -n "${HPCT_GOLDEN_UPDATE-}" ]; then
	cp screen "$screen_file"
fi
diff -u "$screen_file" screen
