/* SPDX-License-Identifier: Apache-2.0 */
/* sass_word.h - numbers in NVIDIA's instruction words since Volta that more than one reader needs; the words'
 * layout is in sass_operands.c. */
#ifndef TIMELINE_SASS_WORD_H
#define TIMELINE_SASS_WORD_H

/* Registers that read as 0. */
#define RZ 255u
#define UNIFORM_ZERO 63u

/* Generations that changed the encoding: sm_70, sm_90. */
#define SASS_VOLTA 70u
#define SASS_HOPPER 90u

/* What B and C are: in C_ forms B's place holds C, and C's place B. */
enum {
	FORM_REGISTER = 1,
	FORM_C_IMMEDIATE,
	FORM_C_CONSTANT,
	FORM_IMMEDIATE,
	FORM_CONSTANT,
	FORM_UNIFORM,
	FORM_C_UNIFORM
};

#endif
