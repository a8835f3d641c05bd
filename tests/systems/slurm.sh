#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm.sh ARCHIVE : what ./build.sh package made, in a job of Slurm (slurm-wlm, munge) on this machine as its only node, with
# daemons and files of its own: two ranks recorded into one run, a signal to the job, a job that is cancelled; then the row of
# docs/install.md. Needs root. A line for each; exits 1 if one failed.
set -uo pipefail
archive=$(realpath -- "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/hpct-slurm.XXXXXX") || exit 1
chmod 755 "$work"
started=() status=0 port=$((20000 + RANDOM % 10000))
finish() {
	[ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null
	[ ! -s "$work/slurmd.pid" ] || kill "$(cat "$work/slurmd.pid")" 2>/dev/null
	wait
	rm -rf "$work"
}
trap finish EXIT
said() { printf '%-40s %s\n' "$1" "$2"; }
tries() { # LABEL COMMAND : in a folder of a user's
	local out
	if out=$(cd "$work/user" && setpriv --reuid=65534 --regid=65534 --clear-groups env -i HOME="$work/user" SLURM_CONF="$work/slurm.conf" \
		PATH="$work/hpct/bin:/usr/bin:/bin" bash -c "$2" 2>&1); then
		said "$1" yes
	else
		status=1
		said "$1" "no: $(tail -n 1 <<<"$out")"
	fi
}
awaits() { # COMMAND... : until it succeeds, for a minute at most
	for _ in $(seq 300); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.2
	done
	cat "$work"/*.log >&2
	return 1
}

mkdir -p "$work"/{hpct,user,state,spool} && tar -C "$work/hpct" --strip-components=1 -I zstd -xf "$archive" || exit 1
chown 65534:65534 "$work/user"
dd if=/dev/urandom of="$work/key" bs=128 count=1 status=none && chmod 400 "$work/key" && chown munge: "$work/key"
mkdir "$work/munge" && chown munge: "$work/munge"
setpriv --reuid=munge --regid=munge --clear-groups munged -F --force --key-file="$work/key" --socket="$work/munge/socket" \
	--pid-file="$work/munge/pid" --seed-file="$work/munge/seed" --log-file="$work/munge/log" >"$work/munged.log" 2>&1 &
started+=($!)
awaits test -S "$work/munge/socket" || exit 1
cat >"$work/slurm.conf" <<END
ClusterName=hpct
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP OverSubscribe=FORCE:4
END
printf '%s\n' CgroupPlugin=cgroup/v1 "CgroupMountpoint=$work/cgroup" CgroupAutomount=no >"$work/cgroup.conf"
export SLURM_CONF=$work/slurm.conf
slurmctld -D >"$work/slurmctld.log" 2>&1 &
started+=($!)
slurmd -D >"$work/slurmd.log" 2>&1 &
started+=($!)
idle() { sinfo -h -o %t | grep -qE 'idle|mix'; }
awaits idle || exit 1
said "Slurm" "$(slurmctld -V | cut -d' ' -f2)"

loop='i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'
echo "$loop" >"$work/user/loop.sh"
cat >"$work/user/signalled.sh" <<'SH'
trap 'echo had it; exit 0' USR1
kill -USR1 $SLURM_TASK_PID
while :; do :; done
SH
cat >"$work/user/ranks" <<'SH'
hpct-info "$1" --streams --format tsv | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
	NR > 1 && $c["rank"] != "" { print $c["rank"] }' | sort -u | xargs
SH
tries "srun: two ranks, one run" "srun -n 2 --overcommit hpct-record -o r.hpct -- sh loop.sh && [ \"\$(sh ranks r.hpct)\" = '0 1' ]"
tries "its profile, by rank" "hpct-profile r.hpct --over rank && hpct-info r.hpct --check"
tries "--ranks 1: one of them" "srun -n 2 --overcommit hpct-record -o one.hpct --ranks 1 -- sh loop.sh && [ \"\$(sh ranks one.hpct)\" = 1 ]"
tries "a signal of Slurm's reaches the program" "sbatch -W -n 1 -o out --wrap 'exec srun hpct-record -o s.hpct -- bash signalled.sh' && grep 'had it' out && hpct-info s.hpct --check"
cat >"$work/user/cancel.sh" <<'SH'
id=$(sbatch --parsable -n 1 -o out2 --wrap 'exec hpct-record -o c.hpct -- bash -c "while :; do :; done"') || exit
samples() { hpct-info c.hpct --format tsv 2>/dev/null | awk -F '\t' '$1 == "samples" { print $2 }'; }
for _ in $(seq 150); do [ "$(samples)" -gt 20 ] 2>/dev/null && break; sleep 0.2; done
scancel "$id"
for _ in $(seq 150); do squeue -h -j "$id" 2>/dev/null | grep -q . || break; sleep 0.2; done
for _ in $(seq 150); do pgrep -u 65534 -x hpct-record >/dev/null || break; sleep 0.2; done
hpct-info c.hpct --check && hpct-profile c.hpct && [ "$(samples)" -gt 20 ]
SH
tries "scancel: what was recorded is whole" "bash cancel.sh"
mkdir "$work/user/cells" && chown 65534:65534 "$work/user/cells"
inside() { (cd "$work/user/cells" && setpriv --reuid=65534 --regid=65534 --clear-groups env -i HOME="$work/user" SLURM_CONF="$work/slurm.conf" \
	PATH="$work/hpct/bin:/usr/bin:/bin" srun -Q -n 1 sh -c "$2"); }
tries "hpct-doctor in a job" "srun -n 1 hpct-doctor; [ \$? -le 1 ]"
. "$(dirname -- "$0")/cells.sh"
place=..
printf '| a user, in a job of Slurm |%s\n' "$(cells slurm)"
exit $status
