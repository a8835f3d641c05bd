#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Of partial stacks only those of samples are counted: a wait's is not one more of so many samples.
. "$(dirname -- "$0")/expect.sh"
[ -x "$HPCT_BIN/../tests/astray" ] || skip "written for x86-64"
code "astray" 0 hpct-record --summary summary -o astray.hpct -- "$HPCT_BIN/../tests/astray"
same "what it says" back "$(cat out)"
hpct-slice astray.hpct --op blocked --format tsv | tsv '$c["path"] ~ /<partial>/ { n++ } END { print n + 0 }' >waits
hpct-slice astray.hpct --format tsv | tsv '
	$c["track"] == "samples" { all++; n += $c["path"] ~ /<partial>/ } END { print all + 0, n + 0 }' >samples
read -r all partial <samples
echo "waits with a partial path $(cat waits), samples $all, of them partial $partial"
check "waits have a partial path" [ "$(cat waits)" -ge 100 ]
same "partial stacks" "$partial" "$(info astray partial_stacks)"
check "the summary says so: $(grep partial summary)" grep -Eq "partial $partial " summary
