# SPDX-License-Identifier: Apache-2.0
# view_device.awk - states a program that keeps a GPU busy for half of each second, and figures of two devices ten times
# a second: of device 1, which the program uses, the share of busy time swings within each column; device 0 is idle.
function value(stream, at, metric, number, unit) {
	printf "%s\tvalues\t%.0f\t\t\t\t\t%s\t%.0f\tkind=gauge,unit=%s\n", stream, at, metric, number, unit
}
BEGIN {
	main = "cpu:node01/-/100.0/0"; queue = "gpu:node01/-/100.0/1/1/7"
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tvalue\tattributes"
	printf "%s\tspans\t0\t4000000000\t\tmonitored\t\t\t\tname=trainer,metric=CPUTIME,period_ns=10000000\n", main
	printf "%s\tspans\t0\t4000000000\t\tmonitored\t\t\t\tdevice=Test GPU\n", queue
	for (i = 0; i < 400; i++)
		printf "%s\tsamples\t%.0f\t\tmain;%s\t\t10000000\tCPUTIME\t\t\n", main, i * 10000000, i % 100 < 50 ? "wait" : "load"
	for (i = 0; i < 4; i++)
		printf "%s\tspans\t%.0f\t%.0f\tmain;step;train\tkernel\t\t\t\t\n", queue, i * 1e9, i * 1e9 + 5e8
	for (i = 0; i < 400; i++) {
		at = i * 10000000
		value("gauges:node01/-/-.-/0", at, "gpu_busy", 0, "%")
		value("gauges:node01/-/-.-/1", at, "gpu_busy", i % 100 < 50 ? 60 + i * 7 % 40 : i * 3 % 10, "%")
		value("gauges:node01/-/-.-/1", at, "gpu_power", 70000 + (i % 100 < 50 ? 300000 + i * 37 % 100 * 1000 : 0), "mW")
	}
}
