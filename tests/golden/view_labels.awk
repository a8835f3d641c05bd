# SPDX-License-Identifier: Apache-2.0
# view_labels.awk - states a thread of two seconds, and of its host one of the usual figures and others, told apart by
# labels. Prints the TSV that hpct-import reads.
function value(at, metric, number, unit) {
	printf "gauges:node01/-/-.-/-\tvalues\t%.0f\t\t\t\t\t%s\t%.0f\tkind=gauge,unit=%s\n", at, metric, number, unit
}
BEGIN {
	main = "cpu:node01/-/100.0/0"
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tvalue\tattributes"
	printf "%s\tspans\t0\t2000000000\t\tmonitored\t\t\t\tname=main,metric=CPUTIME,period_ns=10000000\n", main
	for (i = 0; i < 200; i++)
		printf "%s\tsamples\t%.0f\t\tmain;work\t\t10000000\tCPUTIME\t\t\n", main, i * 10000000
	for (i = 0; i < 20; i++) {
		value(i * 100000000, "memory_used", (i % 10 + 1) * 10485760, "B")
		value(i * 100000000, "load{cpu=0}", i % 8, "")
		value(i * 100000000, "load{cpu=1}", 7 - i % 8, "")
		value(i * 100000000, "heat{core=0}", 40 + i, "")
	}
}
