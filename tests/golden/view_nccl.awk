# SPDX-License-Identifier: Apache-2.0
# view_nccl.awk - states two ranks in an all-reduce of NCCL, told by its plug-in: rank 1 comes 300 us later.
function row(stream, begin, end, path, op, bytes, attributes) {
	printf "%s\tspans\t%d\t%d\t%s\t%s\t%s\t%s\n", stream, begin, end, path, op, bytes, attributes
}
BEGIN {
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tbytes\tattributes"
	for (rank = 0; rank < 2; rank++) {
		queue = "gpu:n/" rank "/1" rank ".0/0/1/1"
		row("cpu:n/" rank "/1" rank ".0/0", 0, 2000000, "", "monitored", "", "name=main")
		row(queue, 0, 2000000, "", "monitored", "", "name=queue")
		row(queue, 1000000 + 300000 * rank, 1400000, "main;train;ncclAllReduce;<gpu kernel>;ncclDevKernel_AllReduce_Sum_f32_RING_LL", "kernel", 4194304, \
			"call=AllReduce,comm=nccl:98066c5c7eb7905a,seq=41,rank=" rank ",ranks=2,count=1048576,type=Float32")
	}
}
