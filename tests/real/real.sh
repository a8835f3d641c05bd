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

wanted() { # NAME NEEDS : asked for, and what it is made by is there
	{ [ -z "$only" ] || [[ " $only " == *" $1 "* ]]; } && command -v "$2" >/dev/null
}

make() { # COMMAND...
	"$@" >build.log 2>&1 || tail -n 1 build.log
}

cp "$here"/{in.melt,threads.py,work.*,Work.java,water.mdp,water.top} "$here/../e2e/calls.go" .
! wanted go go || HOME=$work GOCACHE=$work/.cache GO111MODULE=off make go build -o calls calls.go
! wanted java javac || make javac -d . Work.java
! wanted fortran gfortran || make gfortran -O2 -fopenmp -o by_fortran work.f90
! wanted rust rustc || make rustc -O -o by_rust work.rs
! wanted ocaml ocamlopt || make ocamlopt -o by_ocaml work.ml
! wanted qemu gcc || make gcc -O2 -o primes "$here/primes.c"
# Eight boxes of 216 molecules of water, by the package's own files.
if wanted gromacs gmx; then
	make gmx -quiet genconf -f /usr/share/gromacs/top/spc216.gro -nbox 2 2 2 -o water.gro
	make gmx -quiet grompp -f water.mdp -c water.gro -p water.top -o water.tpr
fi
# Lines of numbers per step are the physics; the others are times.
try lammps 999 "grep -E '^ +[0-9]+ +-?[0-9.]+ +-?[0-9.]+'" mpi lmp -log none -in ../in.melt
try python 999 cat /usr/bin/python3 ../threads.py
# Compiled code has no tables, and some of it no frame pointer.
try node 999 cat node ../work.js
try go 998 cat "$work/calls"
# Without frame pointers. Its compilers' threads jump into assembly.
try java 990 cat java -cp .. Work
# Its fibers have stacks of their own.
try ruby 998 cat ruby ../work.rb
try perl 999 cat perl ../work.pl
try lua 999 cat lua5.4 ../work.lua
try R 999 cat Rscript --vanilla ../work.R
# Where it raises, its tables are two instructions behind.
try ocaml 997 cat "$work/by_ocaml"
try rust 999 cat "$work/by_rust"
OMP_NUM_THREADS=2 try fortran 999 cat "$work/by_fortran"
# Code made at run time, without frame pointers.
try qemu 997 cat qemu-x86_64 "$work/primes"
# Written by hand: its functions have tables. The figures are times.
try openssl 999 "wc -l" openssl speed -seconds 2 -evp aes-128-gcm
try sqlite 999 cat sqlite3 :memory: "create table t(a, b); insert into t select value, value * 7919 % 100003
	from generate_series(1, 600000); create index i on t(b); select sum(a), b % 10 from t where b > 50000 group by 2"
try cc1 999 md5sum g++ -O2 -S -o - ../work.cc
try clang 999 md5sum clang-14 -O2 -S -o - ../work.cc
try luajit 985 cat luajit ../work.lua
OMP_NUM_THREADS=2 try imagemagick 999 md5sum convert -size 1200x900 gradient: -blur 0x6 -rotate 17 -resize 50% ppm:-
# Its assembly has neither tables nor frame pointers.
try ffmpeg 998 cat ffmpeg -hide_banner -loglevel error -threads 2 -f lavfi -i testsrc2=size=640x360:rate=25:duration=60 \
	-flags +bitexact -c:v mpeg4 -f md5 -
# Its assembly again; the film in a file of its own.
if wanted x265 ffmpeg; then
	ffmpeg -hide_banner -loglevel error -f lavfi -i testsrc2=size=640x360:rate=25:duration=2 -pix_fmt yuv420p film.y4m
fi
try x265 999 md5sum x265 --input ../film.y4m -o own.hevc --pools 2 --no-info --no-progress --log-level none
# Two ranks that are threads, of two threads each, which sleep where they wait: there may be fewer cores. Debian's ends
# at once where its instructions are not all there.
! wanted gromacs gmx || grep -qw rdtscp /proc/cpuinfo ||
	echo "gromacs: it is built for processors with rdtscp, which this one has not; not tried"
! grep -qw rdtscp /proc/cpuinfo || OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive try gromacs 999 "grep -A 4 Energies" \
	gmx -quiet mdrun -s ../water.tpr -ntmpi 2 -ntomp 2 -pin off -reprod -noconfout
try hpcc 999 "grep -E 'Success=|_Failed|CommWorldProcs=|HPL_N='" mpi hpcc
exit "$failed"
