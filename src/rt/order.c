/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/order.h"

struct order_keys order_table[1 << ORDER_BITS], order_crowd[1 << ORDER_BITS];
uint64_t order_freed;

void order_forget(void)
{
	for (unsigned i = 0; i < sizeof order_table / sizeof *order_table; i++)
		order_table[i] = order_crowd[i] = (struct order_keys){0};
	order_freed = 0;
}
