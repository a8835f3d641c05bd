#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rpm.sh DIRECTORY ROOT... : installs the packages that ./build.sh rpm left in DIRECTORY into a system of RPM's, without
# network, records and reads a program there, and removes them again: nothing is left. The system is an empty root file
# system with an RPM database and one package, base: the C library, shell and perl of ROOT (as debootstrap makes it), whose
# provisions rpmbuild found itself. By rpm, and by dnf where it and createrepo_c are installed. Needs root and rpmbuild. A
# line for each; exits 1 if one failed.
set -uo pipefail
packages=$(realpath -- "$1")
shift
status=0
work=$(mktemp -d "${TMPDIR:-/tmp}/hpct-rpm.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
said() { printf '%-12s %-34s %s\n' "$root_name" "$1" "$2"; }
tries() { # LABEL COMMAND...
	local out label=$1
	shift
	if out=$("$@" 2>&1); then
		said "$label" yes
	else
		status=1
		said "$label" "no: $(grep -v '^$' <<<"$out" | tail -n 1)"
	fi
}
refuses() { ! "$@"; }
inside() { # COMMAND : in the system, as a user
	unshare -m --propagation private bash -c '
		mount -t proc proc "$1/proc" && mount -t tmpfs -o mode=1777 tmpfs "$1/tmp" && mkdir -p "$1/sys" && mount --bind /sys "$1/sys" && mount --rbind /dev "$1/dev" &&
			exec chroot --userspec=65534:65534 "$1" /usr/bin/env -i HOME=/tmp TERM=xterm PATH=/usr/bin:/bin sh -c "cd /tmp && $2"' \
		- "$system" "$1"
}
# base_make ROOT : $work/base.rpm of its programs and the libraries that they load
base_make() {
	local file
	rm -rf "$work/base" && mkdir -p "$work/base"/{proc,tmp,dev,etc}
	for file in /bin/sh /bin/dash /usr/bin/env /usr/bin/perl; do
		echo "$file"
		chroot "$1" sh -c "ldd $file 2>/dev/null" | grep -o '/[^ ]*'
	done >"$work/list"
	(cd "$1" && for file in lib/*/lib{m,dl,pthread,rt}.so.?; do echo "/$file"; done) >>"$work/list"
	while read -r file; do
		mkdir -p "$work/base$(dirname "$file")"
		cp -L "$1$(chroot "$1" readlink -f "$file")" "$work/base$file"
	done < <(LC_ALL=C sort -u "$work/list")
	(cd "$work/base" && find . -mindepth 1 \( -type d -printf '%%dir "/%P"\n' -o -printf '"/%P"\n' \)) >"$work/files"
	cat >"$work/base.spec" <<-'SPEC'
		%global __os_install_post %{nil}
		%global debug_package %{nil}
		Name: base
		Version: 1
		Release: 1
		Summary: a C library and a shell
		Provides: rtld(GNU_HASH)
		License: none
		%description
		A C library and a shell.
	SPEC
	printf '%%files -f %s\n' "$work/files" >>"$work/base.spec"
	rpmbuild -bb --quiet --buildroot "$work/base" --define "_topdir $work/top" --define "_rpmdir $work" --define '__spec_install_pre %{nil}' \
		--define '_build_name_fmt base.rpm' --define '__spec_clean_body %{nil}' "$work/base.spec" >"$work/log" 2>&1
}
rpm_in() { rpm --root "$system" --dbpath /var/lib/rpm "$@"; }
dnf_in() {
	HOME=$work dnf -q -y --installroot "$system" --repofrompath "hpct,$work/hpct" --repofrompath "base,$work/repo" --repo hpct --repo base \
		--nogpgcheck --setopt=reposdir=/nowhere --releasever 1 --setopt="cachedir=$work/cache" --setopt="logdir=$work" "$@"
}
# Folders that every system has are not in base.
files() { (cd "$system" && find . -xdev \( ! -type d -o -name '*hpct*' \) ! -path './tmp*' ! -path './proc*' ! -path './var/*' | LC_ALL=C sort); }
works() {
	tries "$1: recorded and read" inside "hpct-record -o r -- sh -c 'i=0; while [ \$i -lt 300000 ]; do i=\$((i+1)); done' && hpct-profile r.hpct && hpct view r.hpct --print 80x24 && hpct-info r.hpct --check"
	tries "$1: perl recorded" inside "hpct-record -o p -- perl -e 'for (1..3000000) { \$x += \$_ }' && hpct-stats p.hpct"
	tries "$1: hpct-doctor" inside 'hpct-doctor; [ $? -le 1 ]'
	tries "$1: its files are as they were" rpm_in -V hpct hpct-agent hpct-dev hpct-doc
}
nothing_left() {
	local left
	left=$(comm -13 "$work/before" <(files) | head -n 3 | xargs)
	tries "$1: nothing is left: ${left:-so it is}" [ -z "$left" ]
}
echo '%_dbpath /var/lib/rpm' >"$work/.rpmmacros" # for dnf: Debian's rpm has it elsewhere
for root; do
	root_name=$(. "$root/etc/os-release" && echo "$ID $VERSION_ID")
	base_make "$root" || { said "a package of its C library" "no: $(tail -n 1 "$work/log")" && status=1 && continue; }
	system=$work/system
	rm -rf "$system" && mkdir -p "$system/var/lib/rpm"
	rpm_in --initdb
	tries "refused without a C library" refuses rpm_in -i "$packages"/*.rpm
	rpm_in -i "$work/base.rpm" || exit 1
	files >"$work/before"
	tries "rpm: installed" rpm_in -i "$packages"/*.rpm
	works rpm
	tries "rpm: removed" rpm_in -e hpct hpct-agent hpct-dev hpct-doc
	nothing_left rpm
	command -v dnf >/dev/null && command -v createrepo_c >/dev/null || continue
	rm -rf "$system" "$work"/{repo,hpct,cache} && mkdir -p "$system" "$work"/{repo,hpct}
	cp "$work/base.rpm" "$work/repo/" && cp "$packages"/*.rpm "$work/hpct/"
	createrepo_c -q "$work/repo" && createrepo_c -q "$work/hpct" || exit 1
	tries "dnf: installed with what it needs" dnf_in install base hpct hpct-dev hpct-doc
	works dnf
	tries "dnf: removed" dnf_in remove hpct hpct-agent hpct-dev hpct-doc
	nothing_left dnf
done
exit $status
