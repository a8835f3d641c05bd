#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rpm.sh TREE VERSION OUT : an installed tree (bin/, lib/, share/, include/) as RPM packages in the directory OUT: hpct
# (readers), hpct-agent (what records), hpct-dev (for building programs), hpct-doc. Every file of the tree is in one of
# them. VERSION is VERSION-RELEASE. They need glibc 2.28 and no other package if the tree is that of ./build.sh package.
# The same tree and SOURCE_DATE_EPOCH give the same bytes. Also heeds RPM_ARCH (this machine's), RPM_PACKAGER, RPM_PAYLOAD
# (w7.xzdio). Needs rpmbuild.
set -euo pipefail
here=$(cd -- "$(dirname -- "$0")/../.." && pwd)
tree=$(realpath -- "$1") version=${2%-*} release=${2##*-} out=$3
architecture=${RPM_ARCH:-$(uname -m)}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || echo 0)}
stage=$(mktemp -d "${TMPDIR:-/tmp}/hpct-rpm.XXXXXX")
trap 'rm -rf "$stage"' EXIT
umask 022
. "$here/docs/packaging/packages.sh"
names='hpct hpct-agent hpct-dev hpct-doc'

describe() { # PACKAGE : the fields that differ
	summary_of "$1"
	local glibc='libc.so.6(GLIBC_2.28)(64bit)'
	case $1 in
	hpct-agent) fields="Requires: $glibc"$'\n''Suggests: hpct' ;;
	hpct) fields="Requires: $glibc"$'\n'"Requires: hpct-agent = $version-$release"$'\n''Suggests: hpct-doc'$'\n''Provides: libhpct.so.0()(64bit)' ;;
	hpct-dev) fields='Suggests: hpct-agent' ;;
	hpct-doc) fields=$'BuildArch: noarch\nSuggests: hpct' ;;
	esac
}

fields_put() { # PACKAGE : of a subpackage; the first one's stand at the top
	describe "$1"
	[ "$1" = hpct ] || printf '\n%%package -n %s\nSummary: %s\n' "$1" "$summary"
	printf 'AutoReqProv: no\n%s\n' "$fields"
	printf '\n%%description%s\n%s\n' "$([ "$1" = hpct ] || echo " -n $1")" "$text"
	printf '\n%%files%s -f %s\n%%defattr(-,root,root,-)\n' "$([ "$1" = hpct ] || echo " -n $1")" "$stage/$1.files"
}

# What rpm does by itself to a tree (strip, compile, compress, find what is needed) is done already, or not wanted: one
# package fits every release.
spec_put() {
	summary_of hpct
	cat <<END
%global __os_install_post %{nil}
%global debug_package %{nil}
%global _build_id_links none
%global _buildhost hpct
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global _binary_payload ${RPM_PAYLOAD:-w7.xzdio}
Name: hpct
Version: $version
Release: $release
Summary: $summary
License: Apache-2.0
URL: https://hpct.invalid/
Packager: ${RPM_PACKAGER:-hpct <hpct@hpct.invalid>}
END
	local package
	for package in $names; do
		[ ! -s "$stage/$package.files" ] || fields_put "$package"
	done
}

root=$stage/root
while read -r file; do
	package_of "$file" || { echo "rpm.sh: $file is in no package" >&2 && exit 1; }
	case $file in
	lib/libhpct*) name=lib64/${file##*/} ;;
	lib/pkgconfig/*) name=share/pkgconfig/${file##*/} ;;
	LICENSE) name=share/doc/hpct/LICENSE ;;
	esac
	[ -n "$package" ] || continue
	mkdir -p "$root/usr/$(dirname "$name")"
	cp -dp "$tree/$file" "$root/usr/$name"
	case $name in
	share/man/*) gzip -9n "$root/usr/$name" && name=$name.gz ;;
	esac
	printf '"/usr/%s"\n' "$name" >>"$stage/$package.files"
done < <(cd "$tree" && find . ! -type d -printf '%P\n' | LC_ALL=C sort)
pages_put "$here" "$root/usr/share/doc/hpct"
for package in hpct hpct-agent; do # what is linked into their programs
	mkdir -p "$root/usr/share/licenses/$package"
	cp "$here/LICENSE" "$root/usr/share/licenses/$package/"
	cp "$tree"/share/doc/hpct/licenses/* "$root/usr/share/licenses/$package/" 2>/dev/null || true
	printf '%%license "/usr/share/licenses/%s"\n' "$package" >>"$stage/$package.files"
done
(cd "$root" && find usr/share/doc/hpct -name '*.md' -printf '"/%p"\n') >>"$stage/hpct-doc.files"
for package in $names; do
	LC_ALL=C sort -u -o "$stage/$package.files" "$stage/$package.files"
done
# Folders of hpct's own belong to the first package that has something in them, or they would be left behind.
declare -A owner
for package in hpct-agent hpct hpct-dev hpct-doc; do
	while read -r folder; do
		while [[ $folder == */hpct || $folder == */hpct/* ]]; do
			[ -n "${owner[$folder]-}" ] || printf '%%dir "%s"\n' "$folder" >>"$stage/$package.files"
			owner[$folder]=$package folder=${folder%/*}
		done
	done < <(sed -n 's,^"\(.*\)/[^/]*"$,\1,p' "$stage/$package.files" | sort -u)
done
find "$root" -type f -exec chmod go=rX,u=rwX {} +
find "$root/usr/lib" -name '*.so*' -exec chmod 755 {} + 2>/dev/null || true
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
spec_put >"$stage/hpct.spec"
rpmbuild -bb --quiet --target "$architecture" --buildroot "$root" --define "_topdir $stage/top" --define "_rpmdir $out" \
	--define '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' --define "__spec_install_pre %{nil}" \
	--define '__spec_clean_body %{nil}' "$stage/hpct.spec" >"$stage/log" 2>&1 || {
	cat "$stage/log" >&2
	exit 1
}
