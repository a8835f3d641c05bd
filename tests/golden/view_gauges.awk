# SPDX-License-Identifier: Apache-2.0
# view_gauges.awk - states a process of two seconds with figures over time, ten a second: its memory rises by 10 MiB a
# pass in the first second and then holds, its CPU time grows by all of a pass, then by a fifth; the host's counter of
# busy cores begins anew in the middle. The thread fills first, then waits. Prints the TSV that hpct-import reads.
function value(stream, at, metric, number, kind) {
	printf "%s\tvalues\t%.0f\t\t\t\t\t%s\t%.0f\t%s\n", stream, at, metric, number, kind
}
BEGIN {
	main = "cpu:node01/-/100.0/0"; process = "gauges:node01/-/100.0/-"; host = "gauges:node01/-/-.-/-"
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tvalue\tattributes"
	printf "%s\tspans\t0\t2000000000\t\tmonitored\t\t\t\tname=filler,metric=CPUTIME,period_ns=10000000\n", main
	for (i = 0; i < 100; i++)
		printf "%s\tsamples\t%.0f\t\tmain;fill\t\t10000000\tCPUTIME\t\t\n", main, i * 10000000
	printf "%s\tspans\t1000000000\t2000000000\tmain;wait;nanosleep\tblocked\t\t\t\t\n", main
	for (i = 0; i < 20; i++) {
		at = i * 100000000
		cpu += i <= 10 ? (i > 0) * 100000000 : 20000000
		value(process, at, "cpu_user", cpu, "kind=counter,unit=ns")
		value(process, at, "resident", (i < 10 ? i + 1 : 10) * 10485760, "kind=gauge,unit=B")
		busy = i == 12 ? 30000000 : busy + 150000000
		value(host, at, "cpu_busy", busy, "kind=counter,unit=ns")
	}
}
