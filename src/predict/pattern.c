/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/predict.h"

void pattern_run(struct predict *p)
{
	(void)p;
}
