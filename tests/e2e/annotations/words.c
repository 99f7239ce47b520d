/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every annotation of C; the comments say which lines they become, see run.py. */
#include <atomsan/atomsan.h>
#include <pthread.h>
#include <stdlib.h>

struct range {
	int low ATOMSAN_ATOMIC_SET("ends"); //= set ends range.low
	//= set limits.ends account.limits.low
	//= set steps[].ends account.steps[].low
	int high ATOMSAN_ATOMIC_SET("ends"); //= set ends range.high
					     //= set limits.ends account.limits.high
					     //= set steps[].ends account.steps[].high
};
struct account {
	struct range limits;
	struct range steps[2];
	long balance ATOMSAN_ATOMIC_SET("money and more"); //= set "money and more" account.balance
	char *name ATOMSAN_OWNED;                          //= owned account.name
	struct account *parent ATOMSAN_NOT_OWNED;          //= notowned account.parent
	long hits ATOMSAN_IGNORE;                          //= ignore member account.hits
};
struct ATOMSAN_MERGE("books") page { //= merge books type page
	int line;
};
struct ATOMSAN_IGNORE statistics { //= ignore type statistics
	long calls;
};
typedef struct {
	int line;
} sheet;
ATOMSAN_TYPE_MERGE(sheet, "books"); //= merge books type sheet
struct probe {
	long count;
};
ATOMSAN_TYPE_IGNORE(struct probe); //= ignore type probe

ATOMSAN_ATOMIC_SET("pair") long first;         //= set pair variable first
static long second ATOMSAN_ATOMIC_SET("pair"); //= set pair variable words.c:second
ATOMSAN_MERGE("world") struct account all[2];  //= merge world variable all
ATOMSAN_IGNORE long ignored;                   //= ignore variable ignored
struct statistics statistics;
struct probe probe;
struct page page;
sheet paper;

ATOMSAN_UNIT void move(struct account *from, struct account *to) //= unit function move
{
	from->balance--;
	to->balance++;
	from->hits++;
	from->limits.low++;
	from->steps[1].high++;
}

ATOMSAN_NOT_UNIT void helper(struct account *a) //= notunit function helper
{
	a->name = NULL;
	a->parent = a;
}

void audit(int n, struct account *some ATOMSAN_UNITFOR) //= unitfor function audit account
{
	some[n].balance++;
}

ATOMSAN_WAIT void pause_here(void) //= wait function pause_here
{
	first++;
	second++;
}

ATOMSAN_IGNORE void debug(void) //= ignore function debug
{
	first++;
}

int main(void)
{
	move(&all[0], &all[1]);
	helper(&all[0]);
	audit(1, all);
	pause_here();
	debug();
	ignored++;
	statistics.calls++;
	probe.count++;
	page.line++;
	paper.line++;
	return 0;
}
