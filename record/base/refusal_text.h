/* SPDX-License-Identifier: Apache-2.0 */
/* refusal_text.h - explains to users why something was not measured as requested. The texts are static. */
#ifndef RECORD_REFUSAL_TEXT_H
#define RECORD_REFUSAL_TEXT_H

#include <stdint.h>

/* The errno of perf_event_open or mmap; 0: not known, of the collector's rings. */
const char *refusal_text_perf(int error);
/* Why no better sampler was used: enum event_sampler_reason, or -errno. */
const char *refusal_text_sampler(int reason);
/* Why a thread is not sampled: enum event_unsampled. */
const char *refusal_text_unsampled(uint32_t reason);
/* event_counter.error */
const char *refusal_text_counter(int error);

#endif
