/* SPDX-License-Identifier: Apache-2.0 */
/* amd_word.h - families of AMD's processors that differ in their instruction words: as decode.h numbers them,
 * and amd_operands.c reads them. */
#ifndef TIMELINE_AMD_WORD_H
#define TIMELINE_AMD_WORD_H

#define AMD_GCN 9u    /* GCN 5, CDNA 1: gfx900 to gfx909 */
#define AMD_RDNA 10u  /* 1 and 2 */
#define AMD_CDNA2 90u /* gfx90a: one file of vector and accumulation registers */
#define AMD_CDNA3 94u /* gfx940 to gfx942 */

#endif
