#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# real.sh BIN [PROGRAM...] - programs that people really run, each bare and recorded at 1000 samples a second of CPU
# time (RATE=): the same output, nothing lost, a sound run, and whole stacks. A row each; exit 1 if one did not hold.
# What is not installed is passed over and said. `./build.sh real` installs it first.
set -uo pipefail
here=$(cd -- "$(dirname -- "$0")" && pwd)
bin=$(cd -- "${1:?the directory of the programs}" && pwd)
shift
only=$*
work=$(mktemp -d "${TMPDIR:-/tmp}/hpct-real.XXXXXX") && cd "$work" || exit 1
trap 'cd / && rm -rf "$work"' EXIT
export LC_ALL=C PATH=$bin:/usr/bin:/bin OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
unset DEBUGINFOD_URLS HPCT_EVENTS
mpirun="mpirun.openmpi --oversubscribe -n 2"
failed=0

fail() {
	echo "FAILED: $*"
	failed=1
}

info() { # RUN KEY
	hpct-info "$1.hpct" --format tsv | awk -F '\t' -v key="$2" '$1 == key { print $2 }'
}

result_take() { # FILE : some write into a file of their own, and go on in it the next time
	local own
	for own in hpccoutf.txt md.log own.hevc; do
		[ ! -f "$own" ] || { cat "$own" >>"$1" && rm "$own"; }
	done
}

# try NAME LEAST FILTER [LAUNCHER --] COMMAND... : LEAST whole stacks in a thousand; FILTER: what of the output counts
try() {
	local name=$1 least=$2 filter=$3 launcher=() samples partial lost
	shift 3
	[ -z "$only" ] || [[ " $only " == *" $name "* ]] || return 0
	if [ "$1" = mpi ]; then
		launcher=($mpirun)
		shift
	fi
	command -v "$1" >/dev/null || {
		echo "$name: $1 is not installed, not tried"
		return 0
	}
	mkdir "$name" && cd "$name" || return 1
	"${launcher[@]}" "$@" >bare.all 2>bare.err </dev/null || fail "$name: bare, exit code $?: $(tail -n 1 bare.err)"
	result_take bare.all
	"${launcher[@]}" hpct-record -e CPUTIME@f"${RATE:-1000}" -o "$name.hpct" --overwrite -- "$@" \
		>recorded.all 2>recorded.err </dev/null || fail "$name: recorded, exit code $?: $(tail -n 1 recorded.err)"
	result_take recorded.all
	eval "$filter" <bare.all >bare
	eval "$filter" <recorded.all >recorded
	[ -s bare ] || fail "$name: nothing is left of the output to compare"
	cmp -s bare recorded || { fail "$name: another output" && diff bare recorded | head -n 5; }
	hpct-info "$name.hpct" --check >check.out 2>&1 || fail "$name: the run is not sound: $(head -n 2 check.out)"
	samples=$(hpct-info "$name.hpct" --streams --format tsv | awk -F '\t' '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { n += $c["samples"] } END { print n + 0 }')
	partial=$(info "$name" partial_stacks) lost=$(info "$name" lost)
	printf '%-8s %7d samples by %-5s  %8.4f %% whole  lost %s  streams %s  rate got %s of %s\n' "$name" "$samples" \
		"$(info "$name" sampler)" "$(awk "BEGIN { print 100 - 100 * ${partial:-0} / ($samples + 0.0001) }")" \
		"$lost" "$(info "$name" streams)" "$(info "$name" rate_got)" "$(info "$name" rate_asked)"
	[ "${lost:-1}" -eq 0 ] || fail "$name: lost $lost"
	[ "$samples" -ge $((${RATE:-1000} / 2)) ] || fail "$name: $samples samples alone"
	awk "BEGIN { exit !(${partial:-$samples} <= (1000 - $least) * $samples / 1000) }" ||
		fail "$name: $partial of $samples stacks are partial"
	cd ..
}

cp "$here"/{in.melt,threads.py,work.js,Work.java,water.mdp,water.top} "$here/../e2e/calls.go" .
if [ -z "$only" ] || [[ " $only " == *" go "* ]] && command -v go >/dev/null; then
	HOME=$work GOCACHE=$work/.cache GO111MODULE=off go build -o calls calls.go >build.log 2>&1 || tail -n 1 build.log
fi
if [ -z "$only" ] || [[ " $only " == *" java "* ]] && command -v javac >/dev/null; then
	javac -d . Work.java >build.log 2>&1 || tail -n 1 build.log
fi
# Eight boxes of 216 molecules of water, by the package's own files.
if [ -z "$only" ] || [[ " $only " == *" gromacs "* ]] && command -v gmx >/dev/null; then
	{ gmx -quiet genconf -f /usr/share/gromacs/top/spc216.gro -nbox 2 2 2 -o water.gro &&
		gmx -quiet grompp -f water.mdp -c water.gro -p water.top -o water.tpr; } >build.log 2>&1 || tail -n 1 build.log
fi
# Lines of numbers per step are the physics; the others are times.
try lammps 999 "grep -E '^ +[0-9]+ +-?[0-9.]+ +-?[0-9.]+'" mpi lmp -log none -in ../in.melt
try python 999 cat /usr/bin/python3 ../threads.py
# Compiled code has no tables, and some of it no frame pointer.
try node 990 cat node ../work.js
try go 970 cat "$work/calls"
# Without frame pointers compiled code of Java leads nowhere. Its compilers' threads jump into assembly.
try java 990 cat java -XX:+PreserveFramePointer -cp .. Work
# Its assembly has neither tables nor frame pointers.
try ffmpeg 998 cat ffmpeg -hide_banner -loglevel error -threads 2 -f lavfi -i testsrc2=size=640x360:rate=25:duration=60 \
	-flags +bitexact -c:v mpeg4 -f md5 -
# Its assembly again; the film in a file of its own.
if [ -z "$only" ] || [[ " $only " == *" x265 "* ]] && command -v ffmpeg >/dev/null; then
	ffmpeg -hide_banner -loglevel error -f lavfi -i testsrc2=size=640x360:rate=25:duration=2 -pix_fmt yuv420p film.y4m
fi
try x265 999 md5sum x265 --input ../film.y4m -o own.hevc --pools 2 --no-info --no-progress --log-level none
# Two ranks that are threads, of two threads each, which sleep where they wait: there may be fewer cores.
OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive try gromacs 999 "grep -A 4 Energies" \
	gmx -quiet mdrun -s ../water.tpr -ntmpi 2 -ntomp 2 -pin off -reprod -noconfout
try hpcc 999 "grep -E 'Success=|_Failed|CommWorldProcs=|HPL_N='" mpi hpcc
exit "$failed"
