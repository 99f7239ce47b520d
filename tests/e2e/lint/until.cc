/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The same with the C++ library's condition variables.
 * expect nothing
 */
#include "../check/until.cc"
