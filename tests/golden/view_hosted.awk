# SPDX-License-Identifier: Apache-2.0
# view_hosted.awk - states a shell that starts a program, each with its memory over time, and the host's busy cores: the
# host's figures are of no process of the tree. Prints the TSV that hpct-import reads.
function span(pid, begin, end, name, parent) {
	printf "cpu:vm/-/%d.0/0\tspans\t%.0f\t%.0f\t\tmonitored\t\t\t\tname=%s,command=%s,parent=%s,exit=0,metric=CPUTIME,period_ns=10000000\n", \
		pid, begin, end, name, name, parent
}
function value(stream, at, metric, number, kind) {
	printf "%s\tvalues\t%.0f\t\t\t\t\t%s\t%.0f\t%s\n", stream, at, metric, number, kind
}
BEGIN {
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tvalue\tattributes"
	span(300, 0, 1000000000, "sh", 1)
	span(200, 100000000, 900000000, "solver", 300)
	for (i = 0; i < 80; i++)
		printf "cpu:vm/-/200.0/0\tsamples\t%.0f\t\tmain;solve\t\t10000000\tCPUTIME\t\t\n", 100000000 + i * 10000000
	for (i = 0; i < 10; i++) {
		value("gauges:vm/-/-.-/-", i * 100000000, "cpu_busy", (i < 1 || i > 8 ? i : i * 2) * 50000000, "kind=counter,unit=ns")
		value("gauges:vm/-/300.0/-", i * 100000000, "resident", 4194304, "kind=gauge,unit=B")
		if (i > 1 && i < 9)
			value("gauges:vm/-/200.0/-", i * 100000000, "resident", i * i * 2097152, "kind=gauge,unit=B")
	}
}
