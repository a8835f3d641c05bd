#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# try.sh ARCHIVE ROOT... : what ./build.sh package made, in root file systems of other releases (as debootstrap makes them),
# as root and as a user, with and without /proc: records that system's own programs and reads the run. Needs root. A line
# for each; exits 1 if one failed. musl_root.sh makes a root without glibc, for the archive of `./build.sh package --static`.
set -uo pipefail
archive=$(realpath -- "$1")
shift
status=0
said() { printf '%-12s %-28s %s\n' "$root_name" "$1" "$2"; }
# inside WORDS... : in the root, with the archive's programs first; $who is the user, $proc whether /proc is there
inside() {
	unshare -m bash -c '
		root=$1 who=$2 proc=$3
		shift 3
		[ "$proc" = no ] || mount -t proc proc "$root/proc"
		mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
		mkdir -p "$root/sys" && mount --bind /sys "$root/sys" # old C libraries look there
		[ -e "$root/dev/pts/ptmx" ] || mount --rbind /dev "$root/dev"
		exec chroot --userspec="$who:$who" "$root" /usr/bin/env -i HOME=/tmp TERM=xterm \
			PATH=/hpct/bin:/usr/bin:/bin sh -c "cd /tmp && $*"' - "$root" "$who" "$proc" "$@"
}
tries() { # LABEL COMMAND : it must exit 0
	local out
	if out=$(inside "$2" 2>&1); then
		said "$1" "yes"
	else
		status=1
		said "$1" "no: $(tail -n 1 <<<"$out")"
	fi
}
records() { # LABEL PROGRAM... : recorded, and its time is in the profile
	local label=$1
	shift
	tries "$label" "hpct-record -o r --summary s -- $* >out && hpct-info r.hpct >info && hpct-profile r.hpct >profile && \
		hpct-view r.hpct --print 80x24 >screen && hpct-info r.hpct --check && grep -q '^ *[1-9].*100.00' profile"
}
programs_write() { # DIRECTORY : what is recorded
	mkdir "$1"
	printf '#!/bin/sh\ni=0; while [ $i -lt 300000 ]; do i=$((i+1)); done\n' >"$1/loop.sh"
	printf '#include <mpi.h>\nint main(int argc, char **argv)\n{\n\tdouble sum = 0, all;\n\tMPI_Init(&argc, &argv);
	for (int i = 0; i < 30; i++) {\n\t\tfor (int j = 0; j < 3000000; j++)\n\t\t\tsum += j;
	\tMPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);\n\t}\n\treturn MPI_Finalize() || all < 0;\n}\n' >"$1/mpi.c"
	echo 'sum(i * i for i in range(3000000))' >"$1/sum.py"
	echo 'for (1..6000000) { $x += $_ }' >"$1/sum.pl"
	echo 'echo "int main(void) { return 0; }" >a.c; for i in 1 2 3 4 5 6 7 8; do gcc -O2 -c a.c; done' >"$1/compile.sh"
}
for root; do
	root_name=$(. "$root/etc/os-release" && echo "$ID $VERSION_ID")
	rm -rf "$root/hpct"
	mkdir "$root/hpct" && tar -C "$root/hpct" --strip-components=1 -I zstd -xf "$archive" || exit 1
	programs_write "$root/hpct/try"
	said "glibc" "$(who=0 proc=no inside 'ldd --version' 2>/dev/null | sed -n '1s/.* //p')"
	for who in 0 65534; do
		for proc in yes no; do
			records "uid $who, /proc $proc: sh" sh /hpct/try/loop.sh
		done
	done
	who=65534 proc=yes
	[ ! -x "$root/usr/bin/spins" ] || records "a program of musl's" spins # musl_root.sh's
	[ ! -x "$root/usr/bin/python3" ] || records "python3" python3 /hpct/try/sum.py
	[ ! -x "$root/usr/bin/perl" ] || records "perl" perl /hpct/try/sum.pl
	[ ! -x "$root/usr/bin/gcc" ] || records "gcc" sh /hpct/try/compile.sh
	[ ! -x "$root/usr/bin/mpirun" ] || tries "mpirun" "mpirun --oversubscribe -n 2 hpct-record -o m.hpct sh /hpct/try/loop.sh"
	[ ! -x "$root/usr/bin/mpicc" ] || tries "mpirun: calls of two ranks" "mpicc -O2 -o mpi /hpct/try/mpi.c && \
		mpirun --oversubscribe -n 2 hpct-record -o m.hpct ./mpi && hpct-blame m.hpct --late && \
		test \"\$(hpct-slice m.hpct --op mpi --format tsv | grep MPI_Allreduce | cut -f 1 | sort -u | wc -l)\" = 2"
	# The README's, hpct-view on a terminal where script makes one.
	tries "three commands of the README" "mkdir run && cd run && cp /hpct/try/loop.sh solver && chmod +x solver && hpct-record ./solver input.dat && \
		if script -qec true /dev/null >out 2>&1; then { sleep 1; echo q; sleep 1; } | script -qec 'stty cols 100 rows 30; hpct-view' screen >out && grep -q solver screen; \
		else hpct-view --print 100x30; fi && hpct-profile"
	tries "hpct-doctor" "hpct-doctor >/dev/null; [ \$? -le 1 ]"
	rm -rf "$root/hpct"
done
exit $status
