/* SPDX-License-Identifier: Apache-2.0 */
/* fake.h - what the program of e2e.gpu.cuda and its CUPTI say to each other besides CUPTI's own functions. */
#ifndef TESTS_CUDA_FAKE_H
#define TESTS_CUDA_FAKE_H

/* A driver call of that name, from its begin to its return; a launch leaves the record of a kernel. */
typedef void fake_cupti_call(const char *name, const char *kernel);

#endif
