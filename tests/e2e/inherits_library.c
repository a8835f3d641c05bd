/* SPDX-License-Identifier: Apache-2.0 */
/* inherits_library.c - see inherits.c. */
void inherits_hold(void);

__attribute__((constructor)) static void load(void)
{
	inherits_hold();
}
