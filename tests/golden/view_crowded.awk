# SPDX-License-Identifier: Apache-2.0
# view_crowded.awk - states a thread that waits for a core most of the time: of each 10 ms it works for 3, by turns in
# two callees, and is runnable for 7. Its work must be seen all the same. Prints the TSV that hpct-import reads.
BEGIN {
	stream = "cpu:node01/-/100.0/0"
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tattributes"
	printf "%s\tspans\t0\t1000000000\t\tmonitored\t\t\tname=crowded,metric=CPUTIME,period_ns=3000000\n", stream
	for (i = 0; i < 100; i++) {
		at = i * 10000000
		printf "%s\tsamples\t%d\t\tmain;run;%s\t\t3000000\tCPUTIME\t\n", stream, at, i % 10 < 5 ? "assemble" : "solve;smooth"
		printf "%s\tspans\t%d\t%d\t\trunnable\t\t\t\n", stream, at + 3000000, at + 10000000
	}
}
