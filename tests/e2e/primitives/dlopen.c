/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A shared object, instrumented too, is loaded twice and unloaded; what it does is recorded like the rest. */
#include "seen.h"

#include <dlfcn.h>
#include <pthread.h>

pthread_mutex_t in_program = PTHREAD_MUTEX_INITIALIZER;

int main(void)
{
	for (int i = 0; i < 2; i++) {
		void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
		void (*work)(void);

		MUST(plugin);
		NAME(in_program);
		NAME_AT(i ? "again" : "in_plugin", dlsym(plugin, "in_plugin"));
		*(void **)&work = dlsym(plugin, "plugin_work");
		work();
		dlclose(plugin);
	}
	return 0;
}
