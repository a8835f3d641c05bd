/* SPDX-License-Identifier: Apache-2.0 */
/* intel_word.h - families of Intel's GPUs that differ in their instruction words: as decode.h numbers them,
 * and intel_operands.c reads them. */
#ifndef TIMELINE_INTEL_WORD_H
#define TIMELINE_INTEL_WORD_H

#define INTEL_GEN8 8u	  /* Gen8 to Gen11 */
#define INTEL_GEN12 12u	  /* Xe-LP */
#define INTEL_XE_HP 125u  /* Xe-HP, Xe-HPG */
#define INTEL_XE_HPC 127u /* Xe-HPC */

#endif
