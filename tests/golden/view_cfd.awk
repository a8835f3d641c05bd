# SPDX-License-Identifier: Apache-2.0
# view_cfd.awk - states the trace that the first mock screen shows: a solver of four ranks, each with three threads
# and a GPU with two queues; rank 1 builds its matrix longer, so its kernels start later and rank 0 waits in the
# collective. Prints it as the TSV that hpct-import reads.
#
# Times are in columns of that screen: 2^21 ns, the first one at column 591 of the run. A segment is "kind:columns";
# kinds are contexts of the tables below (a sample each half column), '-' blocked, '.' idle, '~' waiting in a
# synchronization, '?' unmonitored, '!' lost.
function emit(stream, track, b, e, path, op, weight, attributes) {
	printf "%s\t%s\t%.0f\t%s\t%s\t%s\t\t%s\t%s\t\t%s\n", stream, track, b, e, path, op, weight, \
		track == "samples" ? "CPUTIME" : "", attributes
}

function span(stream, b, e, path, op, attributes) {
	emit(stream, "spans", b, sprintf("%.0f", e), path, op, op == "lost" ? 2116 : "", attributes)
}

function samples(stream, path, b, e,    t) {
	for (t = b; t < e; t += COLUMN / 2)
		emit(stream, "samples", t, "", path, "", COLUMN / 2, "")
}

function gpu_span(stream, kind, b, e) {
	if (kind == "spmv")
		span(stream, b, e, "spmv_csr_kernel<double\\, 32>", "kernel", "")
	else if (kind == "dot")
		span(stream, b, e, "dot_reduce_kernel<double>", "kernel", "")
	else if (kind == "in")
		span(stream, b, e, "<copy host to device>", "copy", "kind=h2d")
	else if (kind == "out")
		span(stream, b, e, "<copy device to host>", "copy", "kind=d2h")
	else if (kind == "!")
		span(stream, b, e, "", "lost", "")
}

function cpu_segment(stream, kind, b, e) {
	if (kind == "-")
		span(stream, b, e, "", "blocked", "")
	else if (kind == "cond")
		span(stream, b, e, THREAD ";Pool::work;pthread_cond_wait", "blocked", "")
	else if (kind == "~")
		span(stream, b, e, STEP ";cudaStreamSynchronize", "sync", "")
	else if (kind == "?")
		span(stream, b, e, "", "unmonitored", "")
	else
		samples(stream, PATH[kind], b, e)
}

# One line of the screen: segments from its first column on.
function line(stream, is_gpu, segments,    n, i, part, b, e) {
	n = split(segments, part, " ")
	b = FIRST * COLUMN
	for (i = 1; i <= n; i++) {
		split(part[i], kind, ":")
		e = b + kind[2] * COLUMN
		if (is_gpu)
			gpu_span(stream, kind[1], b, e)
		else
			cpu_segment(stream, kind[1], b, e)
		b = e
	}
}

function thread(rank, t, name, segments,    stream) {
	stream = sprintf("cpu:%s/%d/%d.0/%d", HOST[rank], rank, 70210 + rank, t)
	span(stream, 0, LAST, "", "monitored", sprintf("tid=%d,name=%s", 70210 + 10 * rank + t, name))
	if (kind_of_rest[rank, t] != "?")
		span(stream, 0, FIRST * COLUMN, "", "blocked", "")
	line(stream, 0, segments)
	span(stream, (FIRST + 68) * COLUMN, LAST, "", "blocked", "")
}

function queue(rank, q, name, segments,    stream) {
	stream = sprintf("gpu:%s/%d/%d.0/%d/1/%d", HOST[rank], rank, 70210 + rank, rank, q)
	span(stream, 0, LAST, "", "monitored", sprintf("name=%s,device=H200", name))
	line(stream, 1, segments)
}

BEGIN {
	COLUMN = 2097152
	FIRST = 591
	LAST = 4100000000
	THREAD = "<thread root>"
	STEP = "main;Solver::run;Solver::step<double\\, 32>"
	BUILD = STEP ";build_matrix<Csr<double\\, 32>>;insert_row<double\\, 32>;_M_insert_unique_;operator new;_int_malloc"
	PATH["build"] = BUILD
	PATH["upload"] = STEP ";upload;cudaMemcpyAsync"
	PATH["launch"] = STEP ";launch_step;cudaLaunchKernel"
	PATH["halo"] = STEP ";write_halo;MPI_Isend;memcpy"
	PATH["assemble"] = THREAD ";Pool::work;Assembler::run;Assembler::block;assemble_rows"
	PATH["vtk"] = THREAD ";Writer::loop;Writer::step;Writer::output;write_vtk;fwrite"
	PATH["flush"] = THREAD ";Writer::loop;Writer::step;Writer::output;flush_buffers"
	PATH["pack"] = THREAD ";Writer::loop;Writer::step;Writer::output;pack_fields"
	HOST[0] = HOST[1] = "node07"
	HOST[2] = HOST[3] = "node08"
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tbytes\tweight\tmetric\tvalue\tattributes"

	step0 = "build:10 upload:2 launch:2 ~:10 -:6 halo:4 "
	step1 = "build:16 upload:2 launch:2 ~:10 halo:4 "
	work0 = "assemble:9.4 cond:24.6 "
	work1 = "assemble:12.2 cond:21.8 "
	for (rank = 0; rank < 4; rank++) {
		thread(rank, 0, "cfd", rank == 1 ? step1 step1 : step0 step0)
		thread(rank, 1, "worker 1", rank == 1 ? work1 work1 : work0 work0)
		kind_of_rest[rank, 2] = rank == 1 ? "?" : ""
		thread(rank, 2, "writer", rank == 1 ? "?:38 -:30" : "-:9.9 flush:0.1 -:24 vtk:24 flush:.4 pack:.4 vtk:.4 flush:.4 pack:.4 vtk:.4 flush:.4 pack:.4 vtk:.4 flush:.4 vtk:.3 -:5.7")
		shift = rank == 1 ? 6 : rank
		queue(rank, 7, "compute", ".:" 14 + shift " spmv:8 dot:2 .:24 " \
			(rank == 1 ? "spmv:4 !:6 .:4" : "spmv:8 dot:2 .:" 10 - shift))
		queue(rank, 13, "copies", ".:" 10 + shift " in:4 .:10 out:2 .:18 in:4 .:10 out:2")
	}
	for (t = 0; t < 2; t++) {
		stream = "cpu:node07/-/70001.0/" t
		span(stream, 0, LAST, "", "monitored", "tid=" 70001 + t ",name=mpirun")
		span(stream, 0, LAST, "", "blocked", "")
	}
}
