/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which variables do threads contend for? Most that several threads access are
 * handed over from one to the next, and every two accesses that conflict have an
 * order that cannot be changed: then nothing can come between two of them that
 * was not there. Such variables need no further look, by themselves. But who hands one over in the
 * middle of its work, and goes on with another that is contended for, can be
 * disturbed on both: those that a unit accesses beside a contended one are
 * known, too.
 */
#ifndef ATOMSAN_PREDICT_CONTEND_H
#define ATOMSAN_PREDICT_CONTEND_H

#include "predict/order.h"

struct contend {
	bool *variables;
	bool *beside;   /* not contended for, but some unit accesses one that is, too */
	uint32_t count; /* that are contended for */
};

void contend_find(struct contend *c, const struct order *order);
void contend_release(struct contend *c);

#endif
