/* SPDX-License-Identifier: Apache-2.0 */
/* amd_arithmetic.h - what AMD's instructions compute (gpu_arithmetic.h), of all processors that
 * amd_operands.c reads. */
#ifndef TIMELINE_AMD_ARITHMETIC_H
#define TIMELINE_AMD_ARITHMETIC_H

#include <stddef.h>

#include "timeline/code/gpu_arithmetic.h"
#include "timeline/code/gpu_instruction.h"

/* Of one whole instruction. Never fails. */
void amd_arithmetic(const uint8_t *bytes, size_t size, struct gpu_arithmetic *arithmetic);

#endif
