# SPDX-License-Identifier: Apache-2.0
# One thread refreshes, three ask for what it refreshes; all end in the same busy loop. Figures of the process stand
# between its main thread and the others.
function sample(t, path) { printf "cpu:n/-/7.0/%d\tsamples\t%d\t\t<thread root>;start;%s\t\t\t5000000\tCPUTIME\t\t\n", thread, t, path }
function wait(from, to, path) { printf "cpu:n/-/7.0/%d\tspans\t%d\t%d\t<thread root>;start;%s\tblocked\t\t\t\t\t\n", thread, from, to, path }
BEGIN {
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tbytes\tweight\tmetric\tvalue\tattributes"
	printf "cpu:n/-/7.0/0\tspans\t0\t1000000000\t\tmonitored\t\t\t\t\tname=lock,command=./lock\n"
	printf "cpu:n/-/7.0/0\tspans\t5000000\t1000000000\tmain;pthread_join\tblocked\t\t\t\t\t\n"
	printf "gauges:n/-/7.0/-\tvalues\t0\t\t\t\t\t\tuploads\t1\t\n"
	for (thread = 1; thread <= 4; thread++) {
		printf "cpu:n/-/7.0/%d\tspans\t0\t1000000000\t\tmonitored\t\t\t\t\tname=%s,metric=CPUTIME,period_ns=5000000\n", thread, thread == 1 ? "refresher" : "client " thread
		for (t = 0; t < 1000000000; t += 200000000)
			for (at = t; at < t + 200000000; at += 5000000) {
				if (thread == 1 && at < t + 80000000)
					sample(at, "refresh;reload;burn")
				else if (thread == 1 && at == t + 80000000)
					wait(at, t + 200000000, "refresh;sleep")
				else if (thread > 1 && at == t)
					wait(at, t + 80000000, "client;lookup;pthread_mutex_lock")
				else if (thread > 1 && at >= t + 80000000)
					sample(at, "client;burn")
			}
	}
}
