#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deb.sh DIRECTORY ROOT... : installs the packages that ./build.sh deb left in DIRECTORY into root file systems (as
# debootstrap makes them), without network, records and reads a program there, and removes them again: nothing is left.
# Needs root. A line for each; exits 1 if one failed.
set -uo pipefail
packages=$(realpath -- "$1")
shift
status=0
said() { printf '%-12s %-28s %s\n' "$root_name" "$1" "$2"; }
inside() {
	unshare -m bash -c 'root=$1 && shift && mount -t proc proc "$root/proc" && mount -t tmpfs tmpfs "$root/tmp" && mount --bind /sys "$root/sys" &&
		{ [ -e "$root/dev/null" ] || mount --rbind /dev "$root/dev"; } && mkdir "$root/tmp/debs" &&
		mount --bind "$1" "$root/tmp/debs" && shift &&
		exec chroot "$root" /usr/bin/env -i HOME=/tmp TERM=xterm DEBIAN_FRONTEND=noninteractive LC_ALL=C \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c "cd /tmp && $*"' - "$root" "$packages" "$@"
}
tries() { # LABEL COMMAND
	local out
	if out=$(inside "$2" 2>&1); then
		said "$1" yes
	else
		status=1
		said "$1" "no: $(tail -n 1 <<<"$out")"
	fi
}
files() { (cd "$root" && find . -xdev ! -path './tmp*' ! -path './proc*' ! -path './var/log/*' ! -path './var/lib/dpkg/*' ! -path './var/cache/*' | LC_ALL=C sort); }
for root; do
	root_name=$(. "$root/etc/os-release" && echo "$ID $VERSION_ID")
	files >"/tmp/deb.$$.before"
	tries "installed" "dpkg -i debs/*.deb && dpkg --audit && [ -z \"\$(dpkg --audit)\" ]"
	tries "recorded and read" "hpct-record -o r -- sh -c 'i=0; while [ \$i -lt 300000 ]; do i=\$((i+1)); done' && hpct-profile r.hpct && hpct view r.hpct --print 80x24 && hpct-info r.hpct --check"
	tries "hpct-doctor" "hpct-doctor; [ \$? -le 1 ]"
	tries "its files are as they were" "[ -z \"\$(dpkg -V hpct hpct-agent hpct-dev | grep -v '  /usr/share/\(doc\|man\)/')\" ]"
	tries "removed" "dpkg -P hpct hpct-agent hpct-dev hpct-doc"
	files >"/tmp/deb.$$.after"
	left=$(comm -13 "/tmp/deb.$$.before" "/tmp/deb.$$.after" | head -n 3 | xargs)
	[ -z "$left" ] && said "nothing is left" yes || { said "nothing is left" "no: $left" && status=1; }
	rm -f "/tmp/deb.$$.before" "/tmp/deb.$$.after"
done
exit $status
