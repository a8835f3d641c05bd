# SPDX-License-Identifier: Apache-2.0
# view_build.awk - states a make -j2 of four files, one of them five times as long: make waits for compilers, each
# waits for its parts; pids go round, so that their order is not that of time. Prints the TSV that hpct-import reads.
# Times are in ms.
function row(stream, track, b, e, path, op, weight, attributes) {
	printf "%s\t%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\n", stream, track, b * 1e6, e == "" ? "" : sprintf("%.0f", e * 1e6), \
		path, op, weight, track == "samples" ? "CPUTIME" : "", attributes
}

function process(pid, b, e, name, command, parent) {
	row("cpu:vm/-/" pid ".0/0", "spans", b, e, "", "monitored", "",
		"name=" name ",command=" command ",parent=" parent ",exit=0,switches=1")
}

function works(pid, path, b, e,    t) {
	for (t = b; t < e; t += 5)
		row("cpu:vm/-/" pid ".0/0", "samples", t, "", path, "", 5000000)
}

function waits(pid, path, b, e) {
	row("cpu:vm/-/" pid ".0/0", "spans", b, e, path, "blocked")
}

function compile(gcc, pid, as, b, ms, file,    m) {
	process(gcc, b, b + ms, "g++", "g++ -O2 -c " file ".cc -o " file ".o", 900)
	works(gcc, "main;do_spec", b, b + 2)
	waits(gcc, "main;do_spec;waitpid", b + 2, b + ms)
	process(pid, b + 2, b + ms - 10, "cc1plus", "/usr/lib/cc1plus -quiet " file ".cc -o /tmp/" pid ".s", gcc)
	m = b + 2 + ms * 0.4
	works(pid, "main;toplev_main;parse_file", b + 2, m)
	works(pid, "main;toplev_main;optimize", m, b + ms - 10)
	process(as, b + ms - 10, b + ms, "as", "as --64 -o " file ".o /tmp/" pid ".s", gcc)
	works(as, "main;assemble", b + ms - 10, b + ms)
}

BEGIN {
	print "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tattributes"
	process(900, 0, 1320, "make", "make -j2", 1)
	works(900, "main;update_goals", 0, 10)
	waits(900, "main;update_goals;wait4", 10, 210)
	waits(900, "main;update_goals;wait4", 211, 309)
	waits(900, "main;update_goals;wait4", 310, 410)
	waits(900, "main;update_goals;wait4", 411, 1315)
	compile(30, 31, 40, 10, 200, "alpha")
	compile(20, 21, 41, 10, 300, "beta")
	compile(980, 981, 990, 210, 200, "gamma")
	compile(10, 11, 12, 311, 1000, "long")
}
