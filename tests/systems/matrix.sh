#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# matrix.sh ARCHIVE ROOT... : the table of docs/install.md, each cell from a recording: what of a program is measured, by system
# (root file systems as debootstrap makes them; the kernel is this machine's) and by privileges. ARCHIVE is what
# ./build.sh package made. Needs root. REFUSE: a static build of tests/e2e/refuse.c, for the rows with calls refused;
# CONTAINER_USER: a user with lines in /etc/subuid, for the rows with podman (runc) and bwrap; ONLY: rows.
set -uo pipefail
archive=$(realpath -- "$1") place=/hpct
shift
. "$(dirname -- "$0")/cells.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/hpct-matrix.XXXXXX") || exit 1
chmod 755 "$work"
trap 'rm -rf --one-file-system "$work"' EXIT

# inside HOW COMMAND : in $root, with the archive's programs; HOW is how the program is started
inside() {
	case $1 in
	podman* | bwrap)
		container "$@"
		return
		;;
	esac
	unshare -m --propagation private bash -c '
		root=$1 how=$2 home=/tmp
		shift 2
		[ "$how" = no-proc ] || mount -t proc proc "$root/proc"
		mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
		mkdir -p "$root/sys" && mount --bind /sys "$root/sys"
		[ -e "$root/dev/null" ] || mount --rbind /dev "$root/dev"
		[ "$how" != no-shm ] || { mkdir -p "$root/dev/shm" && mount -t tmpfs -o ro none "$root/dev/shm" 2>/dev/null; }
		[ "$how" != no-home ] || home=/hpct/nobody
		run=(env -i HOME=$home TERM=xterm PATH=/hpct/bin:/usr/bin:/bin sh -c "cd /tmp && $*")
		user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		case $how in
		root | no-shm) exec chroot "$root" "${run[@]}" ;;
		perfmon) exec chroot "$root" "${user[@]}" --inh-caps=+cap_38 --ambient-caps=+cap_38 "${run[@]}" ;;
		no-new-privileges) exec chroot "$root" "${user[@]}" --no-new-privs "${run[@]}" ;;
		namespace) exec "${user[@]}" unshare -Ur --root="$root" "${run[@]}" ;; # not possible within a chroot
		no-perf) exec chroot "$root" "${user[@]}" /hpct/refuse 1 "${run[@]}" ;;
		no-ptrace) exec chroot "$root" "${user[@]}" /hpct/refuse 1=101 /hpct/refuse 1=310 "${run[@]}" ;;
		memory) exec chroot "$root" "${user[@]}" sh -c "ulimit -v 2000000; exec \"\$@\"" - "${run[@]}" ;;
		*) exec chroot --userspec=65534:65534 "$root" "${run[@]}" ;; # setpriv needs /proc
		esac' - "$root" "$@"
}
# container HOW COMMAND : as $CONTAINER_USER; podman wants a root of its user's, which is a copy
container() {
	local how=$1 options=() as_user
	shift
	as_user=(setpriv --reuid="$(id -u "$CONTAINER_USER")" --regid="$(id -g "$CONTAINER_USER")" --clear-groups env -i
		HOME="$work/home" XDG_RUNTIME_DIR="$work/home" PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=xterm)
	if [ "$how" = bwrap ]; then
		"${as_user[@]}" bwrap --ro-bind "$root" / --proc /proc --dev /dev --tmpfs /tmp --unshare-all --setenv HOME /tmp \
			--setenv PATH /hpct/bin:/usr/bin:/bin sh -c "cd /tmp && $*"
		return
	fi
	if [ ! -e "$work/$root_id" ]; then
		rm -rf --one-file-system "${work:?}"/{root.*,home}
		mkdir -p "$work/home" "$work/$root_id" && cp -a "$root"/{bin,sbin,lib,lib64,usr,etc,hpct} "$work/$root_id/" 2>/dev/null
		mkdir -p "$work/$root_id"/{proc,sys,dev,tmp,run,var}
		chown -R "$CONTAINER_USER": "$work/home" "$work/$root_id"
	fi
	case $how in
	podman-perfmon) options=(--security-opt seccomp=unconfined) ;;
	esac
	(cd / && "${as_user[@]}" podman --runtime runc --cgroup-manager cgroupfs --storage-driver vfs run --rm --network none \
		"${options[@]}" --tmpfs /tmp --env HOME=/tmp --env PATH=/hpct/bin:/usr/bin:/bin --rootfs "$work/$root_id" \
		sh -c "cd /tmp && $*")
}
has() { # HOW : whether this row can be made here
	case $1 in
	no-perf | no-ptrace) [ -x "$root/hpct/refuse" ] ;;
	podman*) [ -n "${CONTAINER_USER-}" ] && command -v podman >/dev/null ;;
	bwrap) [ -n "${CONTAINER_USER-}" ] && command -v bwrap >/dev/null ;;
	esac
}
echo "Linux $(uname -r), perf_event_paranoid $(cat /proc/sys/kernel/perf_event_paranoid)"
echo
cells_head | sed 's/^| started/| system | started/; s/^|---/|---|---/'
for root; do
	name=$(. "$root/etc/os-release" && echo "$NAME $VERSION_ID" | sed 's, GNU/Linux,,')
	glibc=$(chroot "$root" ldd --version 2>/dev/null | sed -n '1s/.* //p')
	root_id=root.${root##*/}
	rm -rf "$root/hpct"
	mkdir "$root/hpct" && tar -C "$root/hpct" --strip-components=1 -I zstd -xf "$archive" || exit 1
	echo 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done' >"$root/hpct/loop.sh"
	[ -z "${REFUSE-}" ] || cp "$REFUSE" "$root/hpct/refuse"
	while IFS='|' read -r how words; do
		[[ " ${ONLY-$how} " == *" $how "* ]] && has "$how" || continue
		printf '| %s, glibc %s | %s |%s\n' "$name" "$glibc" "$words" "$(cells "$how" </dev/null)"
	done <<-'ROWS'
		root|root
		user|a user
		perfmon|a user with the capability PERFMON
		namespace|root of a user namespace
		podman|root of a rootless container (podman), its seccomp profile
		podman-perfmon|the same, `--security-opt seccomp=unconfined`
		bwrap|a user in a sandbox (bubblewrap)
		no-new-privileges|a user, no new privileges
		no-perf|a user, `perf_event_open` refused by seccomp, as Docker does
		no-ptrace|a user, `ptrace` and `process_vm_readv` refused by seccomp
		no-proc|a user, no `/proc`
		no-shm|root, `/dev/shm` read-only
		no-home|a user, HOME missing or read-only
		memory|a user, `ulimit -v` 2 GB
	ROWS
	rm -rf "$root/hpct"
done
