#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The agents export their wrappers and nothing else, the one for running processes what hpct-record calls there; they need
# no glibc newer than 2.28, and bring no library along.
. "$(dirname -- "$0")/expect.sh"
need nm readelf objdump
# holds AGENT [MORE...] : its exports are those of agent.map, and more
holds() {
	local agent=$HPCT_BIN/../lib/hpct/$1 more runtime
	shift
	more=$*
	nm -D --defined-only "$agent" | awk '{ print $3 }' | sort >exported
	sed -e '/global:/,/local:/!d' -e '/:/d' "$HPCT_SOURCE/record/agent/agent.map" | tr -d ' \t\n' | tr ';' '\n' | cat - <(printf '%s\n' $more) | sed '/^$/d' | sort >wanted
	# What GPU runtimes look for is there where their headers were.
	for runtime in "zeGet[A-Z]" "cl[A-Z]"; do
		grep -q "^$runtime" exported || sed -i "/^$runtime/d" wanted
	done
	same_file "exported symbols" wanted exported
	modest "$agent"
}
# modest AGENT : it asks little of the system
modest() {
	local agent=$1 newer
	newer=$(nm -D --undefined-only --with-symbol-versions "$agent" | awk '$1 != "w"' | grep -oE 'GLIBC_[0-9.]+' |
		sort -uV | awk -F '[_.]' '$2 > 2 || $3 > 28')
	same "versions newer than GLIBC_2.28" "" "$newer"
	# A weak reference to a newer version still fails at load: the version itself must not be asked for.
	newer=$(readelf -V "$agent" | grep -oE 'Name: GLIBC_[0-9.]+' | sort -u | awk -F '[_.]' '$2 > 2 || $3 > 28')
	same "versions asked for, newer than GLIBC_2.28" "" "$newer"
	same "libraries needed" "libc.so.6" "$(readelf -d "$agent" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')"
	check "thread-local storage is initial-exec" test -n "$(readelf -d "$agent" | grep STATIC_TLS)"
	check "no lazy or dynamic TLS call" test -z "$(nm -D --undefined-only "$agent" | grep __tls_get_addr)"
}
# The names of MPI, each of which the agent has a wrapper for, and nothing that needs anything.
nm -D --defined-only "$HPCT_BIN/../lib/hpct/hpct-agent-mpi.so" | awk '{ print $3 }' | sort >names
nm -D --defined-only "$HPCT_BIN/../lib/hpct/hpct-agent.so" | sed -n 's/.* hpct_\([Mm][Pp][Ii]_\)/\1/p' | sort >wrappers
same_file "names of MPI" wrappers names
check "a hundred names of MPI" test "$(wc -l <names)" -gt 100
same "libraries that MPI's names need" "" "$(readelf -d "$HPCT_BIN/../lib/hpct/hpct-agent-mpi.so" | grep NEEDED)"
check "MPI's names are jumps, so that the agent sees the caller" test -z \
	"$(objdump -d "$HPCT_BIN/../lib/hpct/hpct-agent-mpi.so" | grep -w call)"
holds hpct-agent-memleak.so malloc calloc realloc reallocarray free posix_memalign aligned_alloc memalign valloc pvalloc
holds hpct-agent.so
# The one for running processes wraps nothing.
inject=$HPCT_BIN/../lib/hpct/hpct-agent-inject.so
same "exports of the agent for running processes" "hpct_inject hpct_inject_answer" \
	"$(nm -D --defined-only "$inject" | awk '{ print $3 }' | sort | tr '\n' ' ' | sed 's/ $//')"
modest "$inject"
# What hpct.h calls, the agent has, and no more of that kind; Fortran's module calls the same.
grep -oE 'hpct_agent_[a-z_]+' exported | sort -u >ours
grep -oE 'hpct_agent_[a-z_]+' "$HPCT_SOURCE/record/program/hpct.h" | sort -u >header
same_file "functions of hpct.h" header ours
grep -oE "(plain|named|found)\('[a-z_]+'" "$HPCT_SOURCE/record/program/hpct.f90" | sed "s/.*'\(.*\)'/hpct_agent_\1/" | sort -u >fortran
same_file "functions of hpct.f90" fortran ours
# The agent begins before the C library has its tables: before glibc 2.34 the number of processors is read by them.
same "sources that ask for the number of processors by sysconf" "" \
	"$(grep -rlE '(_SC_NPROCESSORS|get_nprocs|isspace|isdigit)[A-Z_]*\(?' "$HPCT_SOURCE/record/agent" --include='*.[ch]')"
for plugin in "$HPCT_BIN"/../lib/hpct/*.so; do
	newer=$(readelf -V "$plugin" | grep -oE 'Name: GLIBC_[0-9.]+' | sort -u | awk -F '[_.]' '$2 > 2 || $3 > 28')
	same "${plugin##*/}: versions asked for, newer than GLIBC_2.28" "" "$newer"
done
