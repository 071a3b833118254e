/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists: a pointer to the elements, and their number. */
#pragma once

/* Let each point to every element in turn; list and n must not change meanwhile. */
#define for_each(each, list, n)								\
	for (__typeof__(*(list)) *each = (list), *each##_end = each ? each + (n) : each;	\
	     each < each##_end; each++)
