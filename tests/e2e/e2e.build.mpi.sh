#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An MPI's compiler without its headers, as openmpi-bin alone brings it, does not fail the build: the plug-in for it is
# left out.
. "$(dirname -- "$0")/expect.sh"
need cmake
for code in 0 1; do
	printf '#!/bin/sh\nexit %d\n' "$code" >"mpicc.$code" && chmod +x "mpicc.$code"
	cmake -S "$HPCT_SOURCE" -B "build.$code" -DHPCT_MPICC_openmpi="$work/mpicc.$code" \
		-DHPCT_MPICC_mpich=HPCT_MPICC_mpich-NOTFOUND >log 2>&1 || fail "cmake: $(tail -n 3 log)"
	cmake --build "build.$code" --target help >"targets.$code"
done
check "with headers it is built" grep -q hpct_ranks_openmpi targets.0
same "without them it is not" 0 "$(grep -c hpct_ranks_openmpi targets.1)"
