/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof.c - the format pprof, where protobuf-c was there to build it.
 */
#include "formats/pprof/pprof_export.h"
#include "formats/pprof/pprof_import.h"

const struct format format_pprof = {.name = "pprof",
	.about = "go tool pprof",
	.put = pprof_export,
	.lacks = FORMAT_LACKS_VALUES | FORMAT_LACKS_REGIONS,
	.take = pprof_import,
	.is = pprof_is,
	.refused = "min",
	.takes_state_metrics = true,
	.is_binary = true};
