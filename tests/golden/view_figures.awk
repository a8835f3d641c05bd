# SPDX-License-Identifier: Apache-2.0
# view_figures.awk - states a run of figures over time alone, as of an import or of hpct-record -e NONE.
BEGIN {
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tvalue\tattributes"
	for (i = 0; i < 100; i++) {
		printf "gauges:node01/-/-.-/0\tvalues\t%.0f\t\t\t\t\tgpu_busy\t%d\tkind=gauge,unit=%%\n", i * 1e8, i % 40 < 20 ? 90 : 5
		printf "gauges:node01/-/-.-/-\tvalues\t%.0f\t\t\t\t\tqueue_length\t%d\tkind=gauge,unit=\n", i * 1e8, i % 30
	}
}
