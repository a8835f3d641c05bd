# SPDX-License-Identifier: Apache-2.0
# A recursion of 5,000 levels that was kept whole.
BEGIN {
	OFS = "\t"
	print "stream", "track", "begin_ns", "end_ns", "path", "op", "bytes", "weight", "metric", "value", "attributes"
	path = "main"
	for (i = 0; i < 5000; i++)
		path = path ";down"
	for (i = 0; i < 40; i++)
		print "cpu:node1/-/100.0/0", "samples", i * 1000000, "", path ";bottom", "", "", 1000000, "CPUTIME", "", ""
}
