#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# causes.sh BIN [pgbench|lammps|make] - who made others wait, in programs that people really run and where each tells the
# truth by itself: postgres logs who holds the row that pgbench's clients fight for, lammps has all atoms on one rank,
# make has one file that takes longest. A line each; exit 1 if one did not hold. What is not installed is passed over.
set -uo pipefail
here=$(cd -- "$(dirname -- "$0")" && pwd)
bin=$(cd -- "${1:?the directory of the programs}" && pwd)
shift
only=$*
for home in /usr/lib/postgresql/*/bin; do [ -x "$home/pgbench" ] && postgres=$home; done
work=$(mktemp -d "${TMPDIR:-/tmp}/hpct-real.XXXXXX") && cd "$work" || exit 1
chmod 755 .
export LC_ALL=C PATH=$bin:/usr/bin:/bin${postgres:+:$postgres} OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMP_NUM_THREADS=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
unset DEBUGINFOD_URLS HPCT_EVENTS
failed=0 server=

finish() {
	[ -z "$server" ] || kill -INT "$(head -n 1 data/postmaster.pid)" 2>/dev/null
	wait
	cd / && rm -rf "$work"
}
trap finish EXIT

fail() {
	echo "FAILED: $*"
	failed=1
}

wanted() { # NAME NEEDS...
	local name=$1 need
	shift
	[ -z "$only" ] || [[ " $only " == *" $name "* ]] || return 1
	for need; do
		command -v "$need" >/dev/null || { echo "$name: $need is not installed, not tried"; return 1; }
	done
}

columns() { # PROGRAM : awk over TSV, whose columns are c["NAME"]
	awk -F '\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }'"$1"
}

# ---- a hot row ----

# Clients that update one row, each with a pause while it has it. Postgres logs each wait of 1 ms with the process that
# holds the lock, and how long it took; a backend is woken by the one that lets go (a signal to it).
hot_row() {
	local as=() i
	if [ "$(id -u)" = 0 ]; then
		chown postgres . && as=(setpriv --reuid postgres --regid postgres --clear-groups)
		"${as[@]}" test -x "$bin/hpct-record" || { echo "pgbench: the user postgres cannot run $bin, not tried"; return; }
	fi
	"${as[@]}" initdb -D data -A trust -U postgres --no-sync >initdb.log 2>&1 || { fail "initdb: $(tail -n 1 initdb.log)"; return; }
	"${as[@]}" sh -c "printf '%s\n' \"unix_socket_directories='$PWD'\" \"listen_addresses=''\" fsync=off autovacuum=off \
		log_lock_waits=on deadlock_timeout=1ms \"log_line_prefix='%p '\" >>data/postgresql.conf"
	"${as[@]}" hpct-record -o pgbench.hpct -- postgres -D data >server.log 2>&1 &
	server=$!
	for ((i = 0; i < 600; i++)); do
		pg_isready -q -h "$PWD" && break
		sleep 0.1
	done
	psql -h "$PWD" -U postgres -qAt postgres -c 'create table hot(id int primary key, n int); insert into hot values(1, 0)' ||
		fail "pgbench: no table"
	cat >hot.sql <<'SQL'
begin;
update hot set n = n + 1 where id = 1;
select pg_sleep(0.005);
commit;
SQL
	pgbench -n -h "$PWD" -U postgres -c 3 -j 1 -t 60 -f hot.sql postgres >bench.log 2>&1 || fail "pgbench: $(tail -n 1 bench.log)"
	kill -INT "$(head -n 1 data/postmaster.pid)"
	wait "$server"
	server=
	# waiter, holder, milliseconds: from the log line on, since the alarm that makes postgres write it ends the first sleep.
	awk '/still waiting for/ { ms = $0; sub(/.* after /, "", ms); sub(/ ms.*/, "", ms); since[$1] = ms }
		/Process(es)? holding the lock: / { holder = $0; sub(/.*holding the lock: /, "", holder); sub(/[.,].*/, "", holder); by[$1] = holder }
		/ acquired / { ms = $0; sub(/.* after /, "", ms); sub(/ ms.*/, "", ms); if (by[$1]) n[$1 "\t" by[$1]] += ms - since[$1]; by[$1] = "" }
		END { for (k in n) print k "\t" n[k] }' server.log | sort >truth
	hpct-info pgbench.hpct --streams --format tsv | columns '{ print $c["stream"], $c["pid"] }' >streams
	cut -f 1 truth | sort -u | while read -r waiter; do
		stream=$(awk -F '\t' -v p="$waiter" '$2 == p { print $1; exit }' streams)
		hpct-blame pgbench.hpct --of waiting --by cause --streams "stream=$stream" --format tsv |
			columns '$c["cause"] == "signal" { print "'"$waiter"'", $c["party"], $c["blame_ns"] / 1e6 }'
	done | awk -F '\t' 'NR == FNR { pid[$1] = $2; next } { print $1 "\t" ($2 in pid ? pid[$2] : $2) "\t" $3 }' streams - | sort >told
	awk -F '\t' 'NR == FNR { truth[$1 "\t" $2] = $3; all += $3; next }
		{ k = $1 "\t" $2; t = truth[k] + 0; right += $3 < t ? $3 : t; wrong += $3 > t ? $3 - t : 0; row[k] = 1 }
		END { printf "pgbench: %d pairs of backends, %.0f ms in the row'\''s lock: %.1f %% at its holder, %.1f %% more at others\n",
			length(row), all, 100 * right / all, 100 * wrong / all
			exit !(all > 100 && right >= 0.95 * all && wrong <= 0.05 * all) }' truth told ||
		{ fail "pgbench: told and truth:" && paste told truth; }
}

# ---- a slow rank ----

# All atoms in one half of the box: the rank that has it computes, and the other one waits.
slow_rank() {
	local side slow other
	for side in "0 10" "10 20"; do
		slow=0 other=1
		[ "$side" = "0 10" ] || slow=1 other=0
		sed -e 's/^create_box.*/region half block '"$side"' 0 20 0 20\nprocessors 2 1 1\n&/' \
			-e 's/^create_atoms.*/create_atoms 1 region half/' -e 's/^run .*/run 40/' "$here/in.melt" >in.half
		mpirun.openmpi --oversubscribe -n 2 hpct-record -o lammps.hpct --overwrite -- lmp -log none -in in.half >lammps.out 2>&1 ||
			{ fail "lammps: $(tail -n 1 lammps.out)"; return; }
		hpct-blame lammps.hpct --late --format tsv >late.tsv
		hpct-blame lammps.hpct --of mpi-wait --format tsv >waits.tsv
		hpct-blame lammps.hpct --critical-path --by rank --format tsv >path.tsv
		columns '{ n[$c["late"]] += $c["blame_ns"] } END { all = n["rank 0"] + n["rank 1"]
			printf "lammps: rank '$slow' has all atoms, and %.1f %% of the waits for another\n", all ? 100 * n["rank '$slow'"] / all : 0
			exit !(n["rank '$slow'"] > n["rank '$other'"]) }' <waits.tsv || { fail "lammps: who is late" && head -n 5 waits.tsv; }
		columns '{ n[$c["key"]] = $c["percent"] } END { printf "lammps: %.1f %% of the critical path is rank '$slow'\n", n["rank '$slow'"]
			exit !(n["rank '$slow'"] > n["rank '$other'"]) }' <path.tsv || { fail "lammps: the critical path" && cat path.tsv; }
	done
}

# ---- the longest chain of compiles ----

compiles() {
	mkdir -p made && cp "$here/work.cc" made/long.cc && cd made || return
	echo 'int main() { return 0; }' >short.cc
	echo 'int other() { return 1; }' >other.cc
	printf '%s\n' 'all: short.o other.o long.o' '	cat $^ >all' '%.o: %.cc' '	g++ -O2 -c -o $@ $<' >Makefile
	hpct-record -o made.hpct -- make -j2 >make.log 2>&1 || fail "make: $(tail -n 1 make.log)"
	longest=$(hpct-info made.hpct --processes --format tsv | columns '$c["command"] ~ /cc1plus.*long\.cc/ { print $c["process"] }' | tail -n 1)
	hpct-blame made.hpct --critical-path --by stream --format tsv | columns '
		NR == 2 { first = $c["key"]; share = $c["percent"] }
		END { printf "make -j2: %s %% of the critical path is the compiler of the longest file\n", share
			exit index(first, "cpu:'"$longest"'/") != 1 }' || fail "make: the path does not lead through long.cc ($longest)"
	cd ..
}

! wanted pgbench pgbench setpriv || hot_row
! wanted lammps lmp mpirun.openmpi || slow_rank
! wanted make make g++ || compiles
exit $failed
