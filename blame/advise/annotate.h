/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate.h - the instructions of kernels with their samples, the reasons of their stalls, and the
 * instructions that they wait for: of hpct-advise --annotate and of the view.
 *
 *   percent  stall           at  instruction: defines <- uses
 *     faults.cu:180
 *     12.40  GMEM 91%       1f0  FADD R5 <- R5 R8 B0           waits for 1b0 LDG 83%
 *
 * `percent` is of the kernel's samples, the other shares are of the instruction's.
 */
#ifndef BLAME_ANNOTATE_H
#define BLAME_ANNOTATE_H

#include <stdio.h>

#include "blame/stalls/kernels.h"
#include "timeline/report/report.h"

/* As text: instructions that nothing was sampled at are left out where many follow each other. `width`:
 * characters of a line. */
int annotate_text(FILE *out, const struct kernels *kernels, unsigned width, struct error *error);

/* A row for each instruction of the sampled functions. The caller closes the report. */
extern const struct report_column annotate_columns[];
extern const unsigned annotate_column_count;
void annotate_rows(struct report *report, const struct kernels *kernels);

#endif
