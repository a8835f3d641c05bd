# SPDX-License-Identifier: Apache-2.0
# view_training.awk - states a training program of six seconds for the pictures in docs/gauges.md: five steps, each of
# which loads a batch (CPU), copies it and trains (GPU); figures of its process ten times a second, the GPU's counters
# each 10 ms. The third step is throttled by heat: it draws less power and takes longer.
function value(stream, at, metric, number, more) {
	printf "%s\tvalues\t%.0f\t\t\t\t\t%s\t%.0f\t%s\n", stream, at, metric, number, more
}
function span(begin, end, path, op, more) {
	printf "%s\tspans\t%.0f\t%.0f\t%s\t%s\t\t\t\t%s\n", queue, begin * 1e9, end * 1e9, path, op, more
}
function step(at,    i) { # which step, and how far into it
	for (i = 1; i <= 5 && at >= begins[i + 1]; i++)
		;
	into = at - begins[i]
	return i
}
BEGIN {
	main = "cpu:node01/-/100.0/0"; process = "gauges:node01/-/100.0/-"
	device = "gauges:node01/-/-.-/0"; queue = "gpu:node01/-/100.0/0/1/7"
	begins[1] = 0; begins[2] = 1.1; begins[3] = 2.2; begins[4] = 3.8; begins[5] = 4.9; begins[6] = 6
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tvalue\tattributes"
	printf "%s\tspans\t0\t6000000000\t\tmonitored\t\t\t\tname=train.py,metric=CPUTIME,period_ns=10000000\n", main
	printf "%s\tspans\t0\t6000000000\t\tmonitored\t\t\t\tdevice=Test GPU\n", queue
	for (i = 1; i <= 5; i++) {
		t = begins[i]
		span(t + 0.30, t + 0.38, "main;train_step;copy_batch", "copy", "kind=H2D")
		span(t + 0.38, t + 0.60 + (i == 3) * 0.2, "main;train_step;forward;gemm", "kernel", "")
		span(t + 0.60 + (i == 3) * 0.2, begins[i + 1] - 0.05, "main;train_step;backward;gemm", "kernel", "")
	}
	for (i = 0; i < 600; i++) {
		s = step(i / 100)
		printf "%s\tsamples\t%.0f\t\tmain;%s\t\t10000000\tCPUTIME\t\t\n", main, i * 1e7,
			into < 0.3 ? "load_batch;decode_jpeg" : "train_step;synchronize"
		copies = into >= 0.3 && into < 0.38; trains = into >= 0.38 && into < begins[s + 1] - begins[s] - 0.05
		slow = s == 3 ? 0.62 : 1
		value(device, i * 1e7, "sm_active", trains * (900 + i * 7 % 90) * slow, "kind=gauge,unit=permille")
		value(device, i * 1e7, "sm_tensor", trains * (into < 0.6 ? 620 : 480 + i * 37 % 160) * slow, "kind=gauge,unit=permille")
		value(device, i * 1e7, "dram_read", dram, "kind=counter,unit=B")
		dram += (copies * 0.2 + trains * (1.4 + i * 13 % 10 / 10)) * slow * 1e10
		value(device, i * 1e7, "pcie_received", pcie, "kind=counter,unit=B")
		pcie += copies * 4.2e8
		if (i % 10)
			continue
		value(device, i * 1e7, "gpu_power", 90000 + (into >= 0.3) * (s == 3 ? 280000 : 520000 + i * 7 % 60 * 1000), "kind=gauge,unit=mW")
		value(process, i * 1e7, "cpu_user", cpu, "kind=counter,unit=ns")
		cpu += into < 0.3 ? 1e8 : 1.2e7
		value(process, i * 1e7, "resident", (2 + i / 400 + (into < 0.35) * 0.4) * 1073741824, "kind=gauge,unit=B")
	}
}
