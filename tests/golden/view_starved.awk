# SPDX-License-Identifier: Apache-2.0
# A training loop whose GPU starves: of four workers that decode for it, each a process, one is slow (slow_decode in
# pt_worker 2), and the queue rests for 85 % of the time.
function row(stream, track, begin, end, path, op, weight, metric, attributes) {
	print stream, track, begin, end, path, op, "", weight, metric, "", attributes
}
function samples(stream, from, to, path, every,   at) {
	for (at = from; at < to; at += every)
		row(stream, "samples", at * 1000000 + 1, "", path, "", every * 1000000, "CPUTIME", "")
}
BEGIN {
	OFS = "\t"
	print "stream", "track", "begin_ns", "end_ns", "path", "op", "bytes", "weight", "metric", "value", "attributes"
	main = "cpu:n/-/10.0/0"; queue = "gpu:n/-/10.0/0/1/7"; steps = 20; whole = steps * 100 * 1000000
	row(main, "spans", 0, whole, "", "monitored", "", "", "name=python3,command=python3 loader.py,metric=CPUTIME,period_ns=1000000")
	row(queue, "spans", 0, whole, "", "monitored", "", "", "name=queue 7")
	for (w = 0; w < 4; w++) {
		worker[w] = "cpu:n/-/" 20 + w ".0/0"
		row(worker[w], "spans", 0, whole, "", "monitored", "", "",
			"name=pt_worker " w ",command=python3 loader.py,metric=CPUTIME,period_ns=1000000,parent=10")
	}
	for (k = 0; k < steps; k++) {
		t = k * 100
		row(main, "spans", t * 1000000, (t + 80) * 1000000, "main;train;next_batch;read", "blocked", "", "", "")
		samples(main, t + 82, t + 86, "main;train;forward;launch", 4)
		row(main, "spans", (t + 86) * 1000000, (t + 100) * 1000000, "main;train;item;cudaStreamSynchronize", "sync", "", "", "")
		row(queue, "spans", (t + 84) * 1000000, (t + 99) * 1000000, "main;train;forward;<gpu kernel>;conv2d", "kernel", "", "", "")
		for (w = 0; w < 4; w++) {
			samples(worker[w], t, t + (w == 2 ? 100 : 10), "worker_loop;fetch;" (w == 2 ? "slow_decode" : "decode"), 2)
			if (w != 2)
				row(worker[w], "spans", (t + 10) * 1000000, (t + 100) * 1000000, "worker_loop;put;write", "blocked", "", "", "")
		}
	}
}
