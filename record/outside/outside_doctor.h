/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside_doctor.h - whether a process can be measured from outside, and what of it will be seen: rows of
 * hpct-doctor -p.
 */
#ifndef RECORD_OUTSIDE_DOCTOR_H
#define RECORD_OUTSIDE_DOCTOR_H

#include <stdint.h>

#include "record/doctor/doctor.h"

/* The process that the checks look at. */
void outside_doctor_choose(uint32_t pid);
/* Ends with a NULL capability. */
extern const struct doctor_check outside_doctor[];

#endif
