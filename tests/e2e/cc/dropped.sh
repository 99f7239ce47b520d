# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Functions that the optimiser drops, because nobody comes to their calls: what the tables say of the program's own structs
# was first said of them.
. "$(dirname "$0")/lib.sh"
need awk

awk 'BEGIN {
	print "#include <pthread.h>\nstatic int never(void) { return 0; }\nstatic pthread_mutex_t lock;"
	for (i = 0; i < 200; i++) {
		printf "struct type_%d { long number_%d; };\nstatic struct type_%d variable_%d;\n", i, i, i, i
		printf "static void dropped_%d(struct type_%d *t)\n{\n\tpthread_mutex_lock(&lock);\n\tt->number_%d++;\n\tpthread_mutex_unlock(&lock);\n}\n", i, i, i
	}
	print "static void *work(void *p)\n{"
	for (i = 0; i < 200; i++)
		printf "\tif (never())\n\t\tdropped_%d(&variable_%d);\n\t__atomic_signal_fence(__ATOMIC_SEQ_CST);\n\tvariable_%d.number_%d++;\n", i, i, i, i
	print "\treturn p;\n}\nint main(void)\n{\n\tpthread_t t;\n\n\tpthread_create(&t, NULL, work, NULL);\n\tpthread_join(t, NULL);\n\tif (never())\n\t\twork(NULL);\n\treturn 0;\n}"
}' >dropped.c
for level in 0 1 2 3; do
	"$ACC" -O$level -g dropped.c -o dropped -pthread || fail "not compiled at -O$level"
	"$ATOMSAN" record -o trace -- ./dropped || fail "exit status $? at -O$level"
	"$ATOMSAN" dump trace >events
	same "members with a name at -O$level" 200 "$(grep -c ' type_[0-9]*\.number_[0-9]*  in work ' events)"
done
