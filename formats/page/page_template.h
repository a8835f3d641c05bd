/* SPDX-License-Identifier: Apache-2.0 */
/* page_template.h - the bytes of page.html, with "@DATA@" where the data belong; the build makes them C. */
#ifndef FORMATS_PAGE_TEMPLATE_H
#define FORMATS_PAGE_TEMPLATE_H

#include <stddef.h>

extern const unsigned char page_template[];
extern const size_t page_template_size;

#endif
