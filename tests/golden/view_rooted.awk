# SPDX-License-Identifier: Apache-2.0
# A backend that works little and waits much: it has its first sample after half of its life, so that until then its
# work is at its root. Its waits, below different callers, must be seen in both halves.
BEGIN {
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tbytes\tweight\tmetric\tvalue\tattributes"
	printf "cpu:n/-/7.0/0\tspans\t0\t1000000000\t\tmonitored\t\t\t\t\tname=backend,command=./backend,metric=CPUTIME,period_ns=5000000\n"
	printf "cpu:n/-/7.0/0\tsamples\t0\t\t\t\t\t0\tCPUTIME\t\t\n"
	printf "cpu:n/-/7.0/0\tsamples\t500000000\t\tmain;serve;query;plan\t\t\t5000000\tCPUTIME\t\t\n"
	for (t = 0; t < 1000000000; t += 1000000)
		printf "cpu:n/-/7.0/0\tspans\t%d\t%d\t%s\tblocked\t\t\t\t\t\n", t + 50000, t + 1000000, \
			(t < 200000000 || t >= 500000000 ? "main;serve;read_request;epoll_wait" : "main;serve;query;lock_row;semop")
}
