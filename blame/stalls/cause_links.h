/* SPDX-License-Identifier: Apache-2.0 */
/* cause_links.h - steps of a chain (cause_chain.h) through memory, copies, barriers and calls. */
#ifndef BLAME_CAUSE_LINKS_H
#define BLAME_CAUSE_LINKS_H

#include "blame/stalls/cause_chain.h"

#define CAUSE_SHARE_LEAST 0.1 /* of what is to be explained: less leads nowhere */

/* Samples of an instruction that did not issue. */
double cause_stalls_of(const struct kernel_function *function, uint32_t use);
/* The cause elsewhere that explains most of an instruction's stalls; NULL: none. */
const struct cause *cause_main(const struct kernel_function *function, uint32_t use, double *share);
/* Through memory, a copy, a barrier or a call, to a place that waits itself, as long as a part of what is to
 * be explained. *weight: how long. */
bool cause_link_find(const struct kernel *kernel, const struct kernel_function *function, uint32_t at,
	struct cause_step *step, double *weight);

#endif
