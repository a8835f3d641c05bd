#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# musl_root.sh DIRECTORY : a root file system without glibc, for try.sh: musl's loader, a shell (busybox, static) and a program
# made with musl. Of Debian's packages musl-tools, which must be installed, and busybox-static, which is only unpacked.
set -euo pipefail
root=$1
mkdir -p "$root"/{bin,lib,etc,proc,dev,tmp,usr}
root=$(realpath -- "$root")
work=$(mktemp -d "${TMPDIR:-/tmp}/hpct-musl.XXXXXX")
trap 'rm -rf "$work"' EXIT
(cd "$work" && apt-get -q download busybox-static && dpkg -x busybox-static_*.deb unpacked) >"$work/log" 2>&1 || {
	cat "$work/log" >&2
	exit 1
}
cp "$work/unpacked/bin/busybox" "$root/bin/"
for name in $("$root/bin/busybox" --list); do
	[ "$name" = busybox ] || ln -sf busybox "$root/bin/$name"
done
[ -e "$root/usr/bin" ] || ln -s ../bin "$root/usr/bin"
cp -L /lib/ld-musl-*.so.1 "$root/lib/"
cat >"$work/spins.c" <<'C'
#include <stdio.h>
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void spin(int n) { for (int i = 0; i < n; i++) sink += i; }
int main(void)
{
	while (clock() < CLOCKS_PER_SEC)
		spin(100000);
	puts("spun");
	return 0;
}
C
musl-gcc -O2 -g -o "$root/bin/spins" "$work/spins.c"
printf 'NAME=musl\nID=musl\nVERSION_ID=%s\n' "$("$root"/lib/ld-musl-*.so.1 2>&1 | sed -n 's/^Version //p')" >"$root/etc/os-release"
