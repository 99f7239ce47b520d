/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// clang-format off
/* Members in C, by every way to reach them. Expectations: see run.py. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION __attribute__((noinline)) void

struct limits {
	long lo, hi;
};
struct point {
	int x, y;
};
typedef struct {
	int first, second;
} untagged;
union number {
	int64_t i;
	double d;
	char *text;
};
struct node {
	int key;
	struct node *next;
	struct limits lim;
	char name[16];
	struct point items[4];
	union number value;
	union {
		int small;
		double large;
	};
	struct {
		int inner;
	} nested;
	unsigned low : 3, middle : 6;
	int high : 10;
	_Atomic int count;
	struct point *points;
	int (*call)(int);
	long tail[];
};
struct only {
	struct {
		int lonely;
	} box;
};

struct node *head;
struct limits range;
struct point grid[4];
int plain, numbers[8];
untagged anybody;
static struct {
	int hits;
} statistics;

FUNCTION globals(int i)
{
	range.lo = i;             //= write limits lo global range
	range.hi = i;             //= write limits hi global range
	grid[i].y = 1;            //= write point y global grid
	plain = i;                //= write - - global plain
	numbers[i] = i;           //= write - - global numbers
	anybody.second = i;       //= write untagged second global anybody
	statistics.hits += i + 1; //= update (anonymous~struct) hits global statistics
	head->key = i;            //= read - - global head; write node key loaded head
	head->next->key = i;      //= read - - global head; read node next loaded head; write node key member node.next
}

FUNCTION parameters(struct node *n, struct point *p, int i)
{
	n->key = i;            //= write node key receiver n
	p->y = i;              //= write point y parameter p
	p[i].x = 3;            //= write point x parameter p
	n->lim.hi = i;         //= write node lim.hi receiver n
	n->name[i] = 1;        //= write node name[] receiver n
	n->items[i].y = i;     //= write node items[].y receiver n
	n->items[2].x = i;     //= write node items[].x receiver n
	n->nested.inner = i;   //= write node nested.inner receiver n
	n->points[i].x = 4;    //= read node points receiver n; write point x member node.points
	n->tail[i] = 5;        //= write node tail[] receiver n
	n->next->lim.lo = i;   //= read node next receiver n; write node lim.lo member node.next
	n->key = n->call(i);   //= read node call receiver n; write node key receiver n
}

FUNCTION unions(struct node *n, union number *u, int i)
{
	n->value.d = i;     //= write node value.d receiver n
	n->value.i = i;     //= write node value.i receiver n
	n->value.text = ""; //= write node value.text receiver n
	n->small = i;       //= write node small receiver n
	n->large = i;       //= write node large receiver n
	u->d = i;           //= write number d parameter u
	u->i = i;           //= write number i parameter u
}

FUNCTION set_low(struct node *n, int i)
{
	n->low = (unsigned)i; //= update node low receiver n bitfield
}

FUNCTION set_middle(struct node *n, int i)
{
	n->middle = (unsigned)i; //= update node middle receiver n bitfield
}

FUNCTION set_high(struct node *n, int i)
{
	n->high = i; //= update node high receiver n bitfield
}

FUNCTION get_bits(struct node *n)
{
	plain = (int)n->middle; //= write - - global plain; read node middle receiver n bitfield
}

__attribute__((noinline)) struct point *fresh(void)
{
	return malloc(64);
}

FUNCTION others(void *anything, struct only *only, void *pair, int i)
{
	struct node *n = anything;

	n->key = i;                               //= write node key loaded n
	((struct limits *)pair)->hi = i;          //= write limits hi parameter pair
	only->box.lonely = i;                     //= write only box.lonely receiver only
	n->count++;                               //= atomic-rmw node count loaded n
	fresh()->y = i;                           //= write point y call fresh
	memset(&n->lim, 0, sizeof n->lim);        //= write node lim loaded n
	n->next->lim = n->lim;                    //= read node next loaded n; read node lim loaded n; write node lim member node.next
}

/* Of the whole struct only the struct can be told. */
FUNCTION copies(struct limits *l, struct limits *m)
{
	*l = *m;                                  //= read limits - parameter m; write limits - receiver l
	range = *l;                               //= read limits - receiver l; write limits - global range
	memset(l, 0, sizeof *l);                  //= write limits - receiver l
	memcpy(l, m, sizeof l->lo);               //= read limits lo parameter m; write limits lo receiver l
}

static int twice(int i)
{
	return 2 * i;
}

int main(void)
{
	struct node *n = calloc(2, sizeof *n + 8 * sizeof(long));
	struct point points[4] = {{0, 0}};
	struct only only;
	union number number;

	n->next = n;
	n->points = points;
	n->call = twice;
	head = n;
	globals(1);
	parameters(n, points, 1);
	unions(n, &number, 1);
	set_low(n, 1);
	set_middle(n, 1);
	set_high(n, 1);
	get_bits(n);
	others(n, &only, &range, 1);
	copies(&n->lim, &head->lim);
	return 0;
}
