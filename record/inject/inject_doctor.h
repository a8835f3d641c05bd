/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_doctor.h - whether an agent can be loaded into a running process: a row of hpct-doctor -p.
 */
#ifndef RECORD_INJECT_DOCTOR_H
#define RECORD_INJECT_DOCTOR_H

#include <stdint.h>

#include "record/doctor/doctor.h"

/* The process that the check looks at. */
void inject_doctor_choose(uint32_t pid);
/* Ends with a NULL capability. */
extern const struct doctor_check inject_doctor[];

#endif
