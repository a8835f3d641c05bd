#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Locks and the like that wait until a time give what they give without a recorder, free or taken, and end the threads
# that they end without one; their waits have the path that waited.
. "$(dirname -- "$0")/expect.sh"
both timed "$HPCT_BIN/../tests/timed"
hpct-slice timed.hpct --op blocked --format tsv | tsv '{ print $c["path"] }' | sort -u >paths
for call in pthread_mutex_timedlock pthread_mutex_clocklock pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock \
	pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock sem_timedwait sem_clockwait mtx_timedlock \
	pthread_cond_timedwait pthread_cond_clockwait cnd_timedwait pthread_timedjoin_np pthread_clockjoin_np; do
	check "$call: its wait is not there: $(grep "${call#pthread_}" paths | head -n 3)" \
		grep -qE ";_*(pthread_)?${call#pthread_}[^;]*$" paths
done
event=CPUTIME@f10000
both often "$HPCT_BIN/../tests/timed"
