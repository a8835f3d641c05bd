# SPDX-License-Identifier: Apache-2.0
# view_locks.awk - states a server of four threads without names: one refreshes a cache for 80 of each 140 ms and
# holds its lock, the others look things up and wait for it, and meet at a barrier in the end. Prints the TSV that hpct-import reads. Times are in ms.
function row(thread, track, b, e, path, op, weight, attributes) {
	printf "cpu:vm/-/7.0/%d\t%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\n", thread, track, b * 1e6, \
		e == "" ? "" : sprintf("%.0f", e * 1e6), path, op, weight, track == "samples" ? "CPUTIME" : "", attributes
}

function works(thread, path, b, e,    t) {
	for (t = b; t < e; t += 5)
		row(thread, "samples", t, "", path, "", 5000000)
}

BEGIN {
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tattributes"
	for (i = 0; i < 5; i++)
		row(i, "spans", 0, 1400, "", "monitored", "", "name=server,tid=" 70 + i ",switches=1,command=server --port 80")
	works(0, "main;accept_all", 0, 5)
	row(0, "spans", 5, 1400, "main;accept_all;poll", "blocked")
	for (round = 0; round < 1400; round += 140) {
		works(1, "std::thread::run;refresher;refresh_cache", round, round + 80)
		row(1, "spans", round + 80, round + 140, "std::thread::run;refresher;nanosleep", "blocked")
		for (i = 2; i < 5; i++) {
			row(i, "spans", round + i * 4 + 1, round + 78 + i, "std::thread::run;client;lookup;pthread_mutex_lock", "blocked")
			row(i, "spans", round + i * 4, round + 79 + i, "std::thread::run;client;lookup;pthread_mutex_lock", "lock", "", \
				"call=pthread_mutex_lock,lock=0x10,holder=71")
			works(i, "std::thread::run;client;answer", round + 80 + i, round + 140 + i * 4)
		}
	}
	for (i = 2; i < 5; i++)
		row(i, "spans", 1366 + i * 4, 1390, "std::thread::run;client;meet;pthread_barrier_wait", "barrier", "", \
			"call=pthread_barrier_wait,comm=0x20")
}
