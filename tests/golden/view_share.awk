# SPDX-License-Identifier: Apache-2.0
# view_share.awk - states two threads that get 30 % of a core: of each 10 ms they work for 3 and wait for a core for 7.
# One goes through three phases of a second, each with a kernel of its own, below main and solve, which pass all of
# their time on; the other, below frames of its runtime, takes jobs of two kinds by turns. Prints the TSV that
# hpct-import reads.
function work(stream, at, path) {
	printf "%s\tsamples\t%.0f\t\t%s\t\t3000000\tCPUTIME\t\n", stream, at, path
	printf "%s\tspans\t%.0f\t%.0f\t%s\trunnable\t\t\t\n", stream, at + 3000000, at + 10000000, path
}
BEGIN {
	main = "cpu:node01/-/100.0/0"; pool = "cpu:node01/-/100.0/1"
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tattributes"
	printf "%s\tspans\t0\t3000000000\t\tmonitored\t\t\tname=share,metric=CPUTIME,period_ns=3000000\n", main
	printf "%s\tspans\t0\t3000000000\t\tmonitored\t\t\tname=pool,metric=CPUTIME,period_ns=3000000\n", pool
	for (i = 0; i < 300; i++) {
		phase = substr("abc", int(i / 100) + 1, 1)
		work(main, i * 10000000, "main;solve;phase_" phase ";kernel_" phase)
		work(pool, i * 10000000, "<thread root>;start_thread;pool::run;pool::dispatch;" (int(i / 75) % 2 ? "decode;inflate" : "resize"))
	}
}
