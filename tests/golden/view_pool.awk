# SPDX-License-Identifier: Apache-2.0
# view_pool.awk - states a program whose library starts a thread for each of ten cores, which then wait: two threads
# work beside main, the others have one sample each. Times in ms.
function row(thread, track, b, e, path, op, weight, attributes) {
	printf "cpu:n/-/10.0/%d\t%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\n", thread, track, b * 1e6, \
		e == "" ? "" : sprintf("%.0f", e * 1e6), path, op, weight, track == "samples" ? "CPUTIME" : "", attributes
}
BEGIN {
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tattributes"
	for (i = 0; i <= 12; i++) {
		row(i, "spans", i ? 10 : 0, 2000, "", "monitored", "", "name=solver,command=solver,metric=CPUTIME,period_ns=1000000")
		if (i == 0 || i == 5 || i == 9)
			for (t = 10; t < 2000; t++)
				row(i, "samples", t, "", i ? "start_thread;render;" (t % 500 < 300 ? "trace" : "shade") : "main;" (t < 1000 ? "load" : "solve"), "", 1000000)
		else {
			row(i, "samples", 15, "", "start_thread;pool_start", "", 1000000)
			row(i, "spans", 20, 1990, "start_thread;<omp barrier>", "blocked")
		}
	}
}
