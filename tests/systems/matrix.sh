#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# matrix.sh ARCHIVE ROOT... : the table of docs/install.md, each cell from a recording: what of a program is measured, by system
# (root file systems as debootstrap makes them; the kernel is this machine's) and by privileges. ARCHIVE is what
# ./build.sh package made. Needs root. REFUSE: a static build of tests/e2e/refuse.c, for the row without perf events; ONLY: rows.
set -uo pipefail
archive=$(realpath -- "$1")
shift
# inside HOW COMMAND : in $root, with the archive's programs; HOW is how the program is started
inside() {
	unshare -m --propagation private bash -c '
		root=$1 how=$2
		shift 2
		[ "$how" = no-proc ] || mount -t proc proc "$root/proc"
		mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
		[ -e "$root/dev/null" ] || mount --rbind /dev "$root/dev"
		[ "$how" != no-shm ] || { mkdir -p "$root/dev/shm" && mount -t tmpfs -o ro none "$root/dev/shm" 2>/dev/null; }
		run=(env -i HOME=/tmp TERM=xterm PATH=/hpct/bin:/usr/bin:/bin sh -c "cd /tmp && $*")
		user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		case $how in
		root | no-shm) exec chroot "$root" "${run[@]}" ;;
		perfmon) exec chroot "$root" "${user[@]}" --inh-caps=+cap_38 --ambient-caps=+cap_38 "${run[@]}" ;;
		no-new-privileges) exec chroot "$root" "${user[@]}" --no-new-privs "${run[@]}" ;;
		namespace) exec "${user[@]}" unshare -Ur --root="$root" "${run[@]}" ;; # not possible within a chroot
		no-perf) exec chroot "$root" "${user[@]}" /hpct/refuse 1 "${run[@]}" ;;
		memory) exec chroot "$root" "${user[@]}" sh -c "ulimit -v 2000000; exec \"\$@\"" - "${run[@]}" ;;
		*) exec chroot --userspec=65534:65534 "$root" "${run[@]}" ;; # setpriv needs /proc
		esac' - "$root" "$@"
}
fact() { awk -F '\t' -v key="$2" '$1 == key { print $2 }' <<<"$1"; }
# cells HOW : CPU time, blocked time, paths of all waits (as hpct-doctor tried it there), rates above the tick, reading it there
cells() {
	local info rate cells=()
	info=$(inside "$1" "hpct-record -o r --strict -- sh /hpct/loop.sh >/dev/null 2>&1 && hpct-view r.hpct --print 80x24 >/dev/null && hpct-profile r.hpct >/dev/null && hpct-info r.hpct --check >/dev/null && echo is_read; hpct-info r.hpct --format tsv" 2>/dev/null)
	[ "$(fact "$info" samples)" -gt 10 ] 2>/dev/null && cells+=(yes) || cells+=(no)
	[ "$(fact "$info" switches_refused)" = 0 ] && cells+=(yes) || cells+=(no)
	[ "$(fact "$(inside "$1" 'hpct-doctor --format tsv' 2>/dev/null)" 'paths of all waits')" = yes ] && cells+=(yes) || cells+=(no)
	rate=$(inside "$1" "hpct-record -o f -e CPUTIME@f5000 -- sh /hpct/loop.sh >/dev/null 2>&1 && hpct-info f.hpct --format tsv" 2>/dev/null)
	[ "$(fact "$rate" rate_got)" -gt 1000 ] 2>/dev/null && cells+=(yes) || cells+=(no)
	grep -qx is_read <<<"$info" && cells+=(yes) || cells+=(no)
	printf ' %s |' "${cells[@]}"
	echo
}
echo "Linux $(uname -r), perf_event_paranoid $(cat /proc/sys/kernel/perf_event_paranoid)"
echo
echo '| system | started as | CPU time | blocked time | paths of all waits | rates above the tick | read there |'
echo '|---|---|---|---|---|---|---|'
for root; do
	name=$(. "$root/etc/os-release" && echo "$NAME $VERSION_ID" | sed 's, GNU/Linux,,')
	glibc=$(chroot "$root" ldd --version 2>/dev/null | sed -n '1s/.* //p')
	rm -rf "$root/hpct"
	mkdir "$root/hpct" && tar -C "$root/hpct" --strip-components=1 -I zstd -xf "$archive" || exit 1
	echo 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done' >"$root/hpct/loop.sh"
	[ -z "${REFUSE-}" ] || cp "$REFUSE" "$root/hpct/refuse"
	while IFS='|' read -r how words; do
		[[ " ${ONLY-$how} " == *" $how "* ]] || continue
		[ "$how" != no-perf ] || [ -x "$root/hpct/refuse" ] || continue
		printf '| %s, glibc %s | %s |%s\n' "$name" "$glibc" "$words" "$(cells "$how")"
	done <<-'END'
		root|root
		user|a user
		perfmon|a user with the capability PERFMON
		namespace|root of a user namespace, as in a rootless container
		no-new-privileges|a user, no new privileges
		no-perf|a user, perf_event_open refused by seccomp, as Docker does
		no-proc|a user, no /proc
		no-shm|root, /dev/shm read-only
		memory|a user, ulimit -v 2 GB
	END
	rm -rf "$root/hpct"
done
