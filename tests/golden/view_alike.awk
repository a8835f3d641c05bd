# SPDX-License-Identifier: Apache-2.0
# Ranks 0 to 5 solve for about 80 % and wait, 6 to 8 solve for 40 % and read, 9 writes a log.
BEGIN {
	OFS = "\t"
	print "stream", "track", "begin_ns", "path", "weight", "metric"
	for (rank = 0; rank < 10; rank++) {
		more = rank * 7 % 5 * 8
		stream = sprintf("cpu:n/%d/%d.0/0", rank, rank + 1)
		half = rank < 6 ? 780 + more : rank < 9 ? 380 + more : 1000
		print stream, "samples", 0, rank < 9 ? "main;solve" : "main;log", 1, "CPUTIME"
		if (half < 1000)
			print stream, "samples", half * 1e6, rank < 6 ? "main;MPI_Wait" : "main;read", 1, "CPUTIME"
		print stream, "samples", 1000 * 1e6, "main", 1, "CPUTIME"
	}
}
