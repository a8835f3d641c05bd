#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The backend that blocks others at a hot row: postgres itself says who holds it (pg_blocking_pids), and its backends wake
# each other by signals. One session keeps the row in each round until postgres says that another waits for it.
. "$(dirname -- "$0")/expect.sh"
for home in /usr/lib/postgresql/*/bin; do [ -x "$home/postgres" ] && postgres=$home; done
[ -n "${postgres-}" ] || skip "postgres is not installed"
PATH=$PATH:$postgres
as=()
if [ "$(id -u)" = 0 ]; then # postgres refuses to run as root
	need setpriv
	id postgres >/dev/null 2>&1 || skip "there is no user postgres"
	chown postgres . && chmod 755 .
	as=(setpriv --reuid postgres --regid postgres --clear-groups)
	"${as[@]}" test -x "$HPCT_BIN/hpct-record" || skip "the user postgres cannot run what was built here"
fi
"${as[@]}" initdb -D data -A trust -U postgres --no-sync >initdb.log 2>&1 || skip "initdb: $(tail -n 1 initdb.log)"
"${as[@]}" sh -c "printf '%s\n' \"unix_socket_directories='$PWD'\" \"listen_addresses=''\" fsync=off autovacuum=off >>data/postgresql.conf"
"${as[@]}" hpct-record -o postgres.hpct -- "$postgres/postgres" -D data >server.log 2>&1 &
server=$!
stop() {
	[ ! -s data/postmaster.pid ] || kill -INT "$(head -n 1 data/postmaster.pid)"
	wait "$server"
}
await pg_isready -q -h "$PWD"
run=(psql -h "$PWD" -U postgres -qAt postgres)
"${run[@]}" -c 'create table hot(id int primary key, n int); insert into hot values(1, 0)' || fail "no table"

coproc holder { "${run[@]}"; }
# shellcheck disable=SC2154 # of the coprocess
ask() { # QUERY : its one line
	echo "$1" >&"${holder[1]}"
	read -r -u "${holder[0]}" line
	echo "$line"
}
pid=$(ask 'select pg_backend_pid();')
is_blocked() { [ "$("${run[@]}" -c "select pg_blocking_pids(pid) from pg_stat_activity where wait_event_type = 'Lock'")" = "{$pid}" ]; }
rounds=6
for ((round = 0; round < rounds; round++)); do
	ask 'begin; update hot set n = n + 1; select 1;' >line
	"${run[@]}" -c 'select pg_backend_pid(); update hot set n = n + 10' >blocked.$round &
	session=$!
	await is_blocked
	sleep 0.1 # a wait that is worth its record; nothing depends on how long it is
	echo 'commit;' >&"${holder[1]}"
	wait "$session" || fail "round $round"
done
exec {holder[1]}>&-
stop

hpct-info postgres.hpct --streams --format tsv | tsv '{ print $c["pid"], $c["stream"] }' >streams
stream_of() { awk -v p="$1" '$1 == p { print $2; exit }' streams; }
blocker=$(stream_of "$pid")
for ((round = 0; round < rounds; round++)); do
	waiter=$(stream_of "$(cat blocked.$round)")
	same "round $round: backend $waiter waited for" "$blocker" \
		"$(hpct-blame postgres.hpct --of waiting --by cause --streams "stream=$waiter" --format tsv | tsv '$c["cause"] == "signal" { print $c["party"]; exit }')"
	check "round $round: in the row's lock" grep -q 'XactLockTableWait' <(hpct-slice postgres.hpct --streams "stream=$waiter" --op wait --format tsv | grep 'cause=signal')
done
