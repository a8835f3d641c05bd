# SPDX-License-Identifier: Apache-2.0
# samples.awk - rows of tests/gpu/*.samples as hpct-import --from gpu-samples reads them: launches one after the other
# with 20 us between, samples at 4 ms. -v kernel=PATTERN: only of kernels whose name has it.
BEGIN {
	FS = OFS = "\t"
	print "kernel", "address", "reason", "weight", "not_issued", "time_ns", "end_ns", "attributes"
	at = 1000000
}
kernel != "" && index($2, kernel) == 0 { next }
$1 == "launch" {
	print $2, "", "", "", "", sprintf("%.0f", at), sprintf("%.0f", at + $3), $4
	at += $3 + 20000
}
$1 == "sample" {
	is_idle = sub(/\/not_issued$/, "", $4)
	sub(/^[A-Z]*\//, "", $4) # the vendor's own word
	print $2, "0x" $3, $4, $5, is_idle, 4000000, "", ""
}
