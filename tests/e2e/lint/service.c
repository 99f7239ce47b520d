/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What check knows of waits and of threads that are made, lint knows as well.
 * build: FOLDER/../check/service_bell.c
 * expect nothing
 */
#include "../check/service.c"
