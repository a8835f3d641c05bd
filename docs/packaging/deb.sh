#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deb.sh TREE VERSION OUT : an installed tree (bin/, lib/, share/, include/) as four Debian packages in the directory OUT:
# hpct (readers), hpct-agent (what records), hpct-dev (for building programs), hpct-doc. Every file of the tree is in one
# of them. They need glibc 2.28 and no other package if the tree is that of ./build.sh package. The same tree and
# SOURCE_DATE_EPOCH give the same bytes. Also heeds DEB_HOST_ARCH (this machine's), DEB_MAINTAINER, DEB_COMPRESSION (xz).
set -euo pipefail
here=$(cd -- "$(dirname -- "$0")/../.." && pwd)
tree=$(realpath -- "$1") version=$2 out=$3
architecture=${DEB_HOST_ARCH:-$(dpkg --print-architecture)}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || echo 0)}
maintainer=${DEB_MAINTAINER:-hpct <hpct@hpct.invalid>}
stage=$(mktemp -d "${TMPDIR:-/tmp}/hpct-deb.XXXXXX")
trap 'rm -rf "$stage"' EXIT
umask 022

. "$here/docs/packaging/packages.sh"

describe() { # PACKAGE : the fields that differ
	summary_of "$1"
	case $1 in
	hpct-agent) depends='libc6 (>= 2.28)' suggests='hpct, hpct-dev, libdebuginfod1' ;;
	hpct) depends="libc6 (>= 2.28), hpct-agent (= $version)" suggests='hpct-doc, python3, sqlite3' ;;
	hpct-dev) depends= suggests='hpct, hpct-agent, hpct-doc' ;;
	hpct-doc) depends= suggests='hpct' ;;
	esac
}

copyright_put() { # FILE : hpct's own, then those of the libraries that the tree's programs hold
	local notice
	cat >"$1" <<'END'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: hpct

Files: *
Copyright: the hpct authors
License: Apache-2.0
 On Debian systems the whole text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
END
	for notice in "$tree"/share/doc/hpct/licenses/*; do
		[ -e "$notice" ] || continue
		printf '\nFiles: usr/bin/*\nComment: what of %s is linked into the programs has these terms:\n' "$(basename "$notice")"
		sed 's/\t/        /g; s/^[[:space:]]*$/./; s/^/ /' "$notice"
	done >>"$1"
}

# What lintian is told: programs that run with any glibc from 2.28 on carry their libraries, as the copyright file says.
overrides_put() { # PACKAGE FILE
	cat >"$2" <<END
# linked statically, so that one package fits every release
$1: embedded-library *
# plug-ins: what they call is in the program that opens them
$1: library-not-linked-against-libc *
$1: shared-library-lacks-prerequisites *
# made by a script of hpct's, for no archive
$1: initial-upload-closes-no-bugs *
# a header, the same for all architectures
$1: pkg-config-unavailable-for-cross-compilation *
END
	[ "$1" = hpct ] || return 0
	cat >>"$2" <<'END'
# for those who have Python; the programs need none
hpct: python-package-missing-depends-on-python
# SQLite loads it by its path
hpct: sharedobject-in-library-directory-missing-soname [usr/lib/libhpct_sql.so]
# the library is of the programs' version and goes with them
hpct: package-name-doesnt-match-sonames libhpct0
END
}

# The library that others may link: what needs it depends on this very package, and the loader's cache learns of it.
library_put() { # VERSION CONTROL-DIRECTORY
	echo "libhpct 0 hpct (= $1)" >"$2/shlibs"
	echo 'activate-noawait ldconfig' >"$2/triggers"
}

finish() { # PACKAGE
	local root=$stage/$1 architectures=$architecture depends suggests summary text size
	[ -d "$root" ] || return 0
	[ "$1" != hpct-doc ] || architectures=all
	describe "$1"
	mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$1"
	copyright_put "$root/usr/share/doc/$1/copyright"
	[ ! -e "$root/usr/lib/libhpct.so.0" ] || library_put "$version" "$root/DEBIAN"
	mkdir -p "$root/usr/share/lintian/overrides"
	overrides_put "$1" "$root/usr/share/lintian/overrides/$1"
	printf 'hpct (%s) unstable; urgency=medium\n\n  * Release %s; what is new is in hpct-doc, CHANGELOG.md.\n\n -- %s  %s\n' "$version" \
		"${version%-*}" "$maintainer" "$(LC_ALL=C date -uRd "@$SOURCE_DATE_EPOCH")" |
		gzip -9n >"$root/usr/share/doc/$1/changelog.Debian.gz"
	find "$root/usr/share/man" -name '*.1' -exec gzip -9n {} + 2>/dev/null || true
	find "$root" -type f -exec chmod go=rX,u=rwX {} +
	find "$root/usr/lib" -name '*.so*' -exec chmod 644 {} + 2>/dev/null || true
	size=$(du -k -s --apparent-size "$root/usr" | cut -f1)
	{
		printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$1" "$version" "$architectures" "$maintainer"
		printf 'Installed-Size: %s\n' "$size"
		[ -z "$depends" ] || printf 'Depends: %s\n' "$depends"
		[ -z "$suggests" ] || printf 'Suggests: %s\n' "$suggests"
		case $1 in hpct-doc) echo 'Section: doc' ;; *) echo 'Section: devel' ;; esac
		printf 'Priority: optional\nDescription: %s\n%s\n' "$summary" "$(sed 's/^/ /' <<<"$text")"
	} >"$root/DEBIAN/control"
	(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
	find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	dpkg-deb --root-owner-group "-Z${DEB_COMPRESSION:-xz}" --build "$root" "$out/$1_${version}_$architectures.deb" >/dev/null
}

mkdir -p "$out"
while read -r file; do
	package_of "$file" || { echo "deb.sh: $file is in no package" >&2 && exit 1; }
	case $file in
	share/zsh/site-functions/*) name=share/zsh/vendor-completions/${file##*/} ;;
	LICENSE) continue ;; # Debian has it
	esac
	[ -n "$package" ] || continue
	mkdir -p "$stage/$package/usr/$(dirname "$name")"
	cp -dp "$tree/$file" "$stage/$package/usr/$name"
done < <(cd "$tree" && find . ! -type d -printf '%P\n' | LC_ALL=C sort)
pages_put "$here" "$stage/hpct-doc/usr/share/doc/hpct"
for package in hpct hpct-agent hpct-dev hpct-doc; do
	finish "$package"
done
