#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# archive.sh ARCHIVE... : what is held of the archives of ./build.sh package, without running them, so also of other
# machines': no program or plug-in asks for a symbol newer than glibc 2.28, needs another library than those of glibc (those
# of a -static archive none at all), is set to be found under a path of the machine that built it, or has debug symbols; no
# file belongs to anyone or is closed to readers; 15 MB at most. Says what is not so; exits 1 then. ./build.sh package runs it.
set -uo pipefail
work=$(mktemp -d "${TMPDIR:-/tmp}/hpct-archive.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
status=0
bad() { status=1 && printf '%s: %s\n' "${archive##*/}" "$*" >&2; }
newer() { # of symbol versions on stdin, those above 2.28
	grep -oE 'GLIBC_[0-9.]+' | sort -uV | awk -F '[_.]' '$2 > 2 || $3 > 28' | xargs
}
# program_held FILE : what it needs and asks for. Plug-ins bring what they are for: PAPI, MPI, libunwind.
program_held() {
	local name=${1#"$work"/} needed glibc='libc\.so\.6|lib(m|dl|pthread|rt)\.so\.[0-9]|ld-linux[^ ]*' own=
	case $name in
	*/hpct-agent-papi.so) own='|libpapi\.so[^ ]*' ;;
	*/hpct-agent-libunwind.so) own='|libunwind[^ ]*' ;;
	*/hpct-ranks-*.so) own='|libmpi[^ ]*|libmpich[^ ]*' ;;
	esac
	needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
	if [[ $archive == *-static.tar.zst && $name == */bin/* ]]; then
		[ -z "$needed" ] && ! grep -q INTERP <(readelf -lW "$1") || bad "$name is not static: it needs ${needed:-a loader}"
	fi
	needed=$(grep -vxE "$glibc$own" <<<"$needed" | xargs)
	[ -z "$needed" ] || bad "$name needs $needed"
	needed=$(readelf -VW "$1" | grep -E 'Name: GLIBC_' | newer)
	[ -z "$needed" ] || bad "$name asks for $needed"
	! grep -q '\.debug_' <(readelf -SW "$1") || bad "$name has debug symbols"
	needed=$(readelf -d "$1" | grep -E 'R(UN)?PATH' | grep -v '\[\$ORIGIN/' | xargs)
	[ -z "$needed" ] || bad "$name: $needed"
}
for archive; do
	rm -rf "${work:?}"/* && tar -C "$work" -I zstd -xf "$archive" || exit 1
	count=0
	while read -r file; do
		readelf -h "$file" >/dev/null 2>&1 && [[ $file != *.o ]] || continue
		program_held "$file"
		count=$((count + 1))
	done < <(find "$work" -type f ! -name '*.a')
	[ "$count" -gt 15 ] || bad "has $count programs and plug-ins"
	[ "$(stat -c %s "$archive")" -le 15000000 ] || bad "is larger than 15 MB"
	[ -z "$(find "$work" -mindepth 1 ! -type l ! -perm -444 -print -quit)" ] || bad "has files that not all may read"
	! grep -qv ' 0/0 ' <(tar --numeric-owner -tvf "$archive") || bad "has files that belong to somebody"
	place=$(cd "$(dirname -- "$0")/../.." && pwd)
	file=$(grep -rlaF "$place/" "$work" | head -n 1)
	[ -z "$file" ] || bad "${file#"$work"/} names $place"
done
exit $status
