/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loops of all shapes; run.py says what the comments mean. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long seen;
static jmp_buf home;
struct node {
	struct node *next;
	long value;
};
static struct node nodes[3] = {{&nodes[1], 0}, {&nodes[2], 1}, {NULL, 2}};

void step(void)
{
	pthread_mutex_lock(&lock);
	seen++; //@ ... step
	pthread_mutex_unlock(&lock);
}

void hand_over(long n)
{
	pthread_mutex_lock(&lock);
	seen += n; //@ ... hand_over
	pthread_mutex_unlock(&lock);
}

void plain_for(int n)
{
	for (int i = 0; i < n; i++) { // # a
		seen++;               //@ main plain_for a *
		step();
		seen++; //@ main plain_for a *
	}
	seen++; //@ main plain_for
}

void never(int n)
{
	for (int i = 0; i < n; i++) {
		step();
		seen++;
	}
}

void quiet(int n)
{
	for (int i = 0; i < n; i++)
		seen++; //@ main quiet
}

void plain_while(int n)
{
	while (n-- > 0) { // # b
		if (n == 1)
			continue;
		step();
		seen++; //@ main plain_while b *
	}
	seen++; //@ main plain_while
}

void plain_do(int n)
{
	do { // # c
		step();
		seen++; //@ main plain_do c *
	} while (--n);
	seen++; //@ main plain_do
}

int early_return(int n)
{
	for (;;) { // # d
		step();
		if (!--n) {
			seen++; //@ main early_return d
			return 1;
		}
		seen++; //@ main early_return d *
	}
}

void early_break(int n)
{
	for (int i = 0;; i++) { // # e
		step();
		if (i == n) {
			seen++; //@ main early_break e
			step();
			seen++; //@ main early_break e
			break;
		}
	}
	seen++; //@ main early_break
}

void nested(int n)
{
	for (int i = 0; i < n; i++) {         // # f
		seen++;                       //@ main nested f *
		for (int k = 0; k < n; k++) { // # g
			step();
			seen++; //@ main nested f g *
			if (k == 1)
				break;
			if (i == 2) {
				seen++; //@ main nested f g
				goto out;
			}
		}
		seen++; //@ main nested f *
	}
out:
	seen++; //@ main nested
}

int nested_return(int n)
{
	while (n > 0) { // # h
		n--;
		do { // # i
			step();
			seen++; //@ main nested_return h i *
			if (n == 1) {
				seen++; //@ main nested_return h i
				return n;
			}
		} while (n > 10);
	}
	return 0;
}

void gotos(int n)
{
again: // # j
	step();
	seen++; //@ main gotos j *
	if (--n)
		goto again;
	seen++; //@ main gotos
}

void switches(int n)
{
	while (n >= 0) { // # k
		switch (n--) {
		case 3:
		case 2:
			step();
			seen++; //@ main switches k *
			break;
		case 1:
			continue;
		default:
			seen++; //@ main switches k
			goto done;
		}
		seen++; //@ main switches k *
	}
done:
	seen++; //@ main switches
}

void loop_in_a_way_out(int n)
{
	for (;;) { // # l
		step();
		if (n) {
			for (int i = 0; i < 2; i++) { // # m
				step();
				seen++; //@ main loop_in_a_way_out l m *
			}
			seen++; //@ main loop_in_a_way_out l
			break;
		}
	}
	seen++; //@ main loop_in_a_way_out
}

static void jump(int n)
{
	for (int i = 0; i < 3; i++) { // # n
		step();
		seen++; //@ ... jump n *
		if (i == n)
			longjmp(home, 1);
	}
}

void jump_out(int n)
{
	if (setjmp(home)) {
		seen++; //@ main jump_out
		return;
	}
	for (;;) { // # o
		step();
		jump(n);
	}
}

void jump_inside(int n)
{
	volatile int i = 0;

	for (; i < n; i++) { // # p
		seen++;      //@ main jump_inside p *
		if (!setjmp(home))
			jump(1);
		seen++; //@ main jump_inside p *
	}
	seen++; //@ main jump_inside
}

void walk_list(struct node *first)
{
	for (struct node *p = first; p; p = p->next) { // # q walk
		hand_over(p->value);
		seen++; //@ main walk_list q *
	}
}

void walk_array(int n)
{
	for (int i = 0; i < n; i++) { // # r walk
		nodes[i].value++;
		step();
		seen++; //@ main walk_array r *
	}
}

/* What is handed over only to be added up, kept or compared with a limit counts, and leads nowhere. */
void count_calls(int n)
{
	for (int i = 0; i < n; i++) { // # s
		hand_over(i);
		seen++; //@ main count_calls s *
	}
}

struct order {
	long number, padding[3];
};

static struct order order_of(long i, long limit)
{
	struct order order = {0};

	order.number = i < limit ? i : -i;
	return order;
}

void count_orders(int n)
{
	for (int i = 0; i < n; i++) { // # orders
		struct order order = order_of(i, 2);

		hand_over(order.number);
		seen++; //@ main count_orders orders *
	}
}

static long touched[3];

static void touch(long i)
{
	pthread_mutex_lock(&lock);
	touched[i % 3]++;
	pthread_mutex_unlock(&lock);
}

static void touch_next(long i)
{
	long next = i + 1;

	touch(next);
}

void walk_calls(int n)
{
	for (int i = 0; i < n; i++) { // # touches walk
		touch_next(i);
		seen++; //@ main walk_calls touches *
	}
}

static long value_for(long key)
{
	long found = 0;

	pthread_mutex_lock(&lock);
	for (struct node *p = nodes; p; p = p->next)
		if (p->value == key)
			found = p->value;
	pthread_mutex_unlock(&lock);
	return found;
}

void walk_keys(int n)
{
	for (int i = 0; i < n; i++) { // # keys walk
		value_for(i);
		seen++; //@ main walk_keys keys *
	}
}

static void go_to(int below)
{
	struct node *p = nodes;

	pthread_mutex_lock(&lock);
	for (; p && below > 0; below--)
		p = p->next;
	if (p)
		p->value += 0;
	pthread_mutex_unlock(&lock);
}

void walk_steps(int n)
{
	for (int i = 0; i < n; i++) { // # steps walk
		go_to(i);
		seen++; //@ main walk_steps steps *
	}
}

static long spread(long i)
{
	return i * 5 % 3;
}

void walk_result(int n)
{
	for (int i = 0; i < n; i++) { // # results walk
		long at = spread(i);

		step();
		touched[at]++;
		seen++; //@ main walk_result results *
	}
}

static void reach_by(const long *i)
{
	pthread_mutex_lock(&lock);
	touched[*i % 3]++;
	pthread_mutex_unlock(&lock);
}

static void reach(long i)
{
	reach_by(&i);
}

void walk_reach(int n)
{
	for (int i = 0; i < n; i++) { // # reached walk
		reach(i);
		seen++; //@ main walk_reach reached *
	}
}

/* What it does with it nobody knows. */
void walk_unknown(void (*f)(long), int n)
{
	for (int i = 0; i < n; i++) { // # unknown walk
		step();
		f(i);
		seen++; //@ main walk_unknown unknown *
	}
}

struct cursor {
	struct node *list;
	int position;
	long found;
};

static int has_next(struct cursor *c)
{
	int more;

	pthread_mutex_lock(&lock);
	more = c->position < (int)c->list[2].value + 1;
	pthread_mutex_unlock(&lock);
	return more;
}

static void next(struct cursor *c)
{
	pthread_mutex_lock(&lock);
	c->found += c->list[c->position++].value;
	pthread_mutex_unlock(&lock);
}

void walk_cursor(struct node *list)
{
	struct cursor c = {list, 0, 0};

	while (has_next(&c)) { // # x walk
		next(&c);
		seen++; //@ main walk_cursor x *
	}
}

/* Looks at a cursor only to decide, and does not move on from where it was. */
static int get_work(struct cursor *c)
{
	pthread_mutex_lock(&lock);
	c->position = (int)c->list->value;
	c->list->value++;
	pthread_mutex_unlock(&lock);
	return c->position < 3;
}

static void do_work(struct cursor *c)
{
	pthread_mutex_lock(&lock);
	c->found++;
	pthread_mutex_unlock(&lock);
}

void worker(struct node *list)
{
	struct cursor c = {list, 0, 0};

	while (get_work(&c)) { // # y
		do_work(&c);
		seen++; //@ main worker y *
	}
}

static void inlined(int n)
{
	while (n--) { // # t
		step();
		seen++; //@ main inlined_twice inlined t *
	}
}

void inlined_twice(int n)
{
	inlined(n);
	seen++; //@ main inlined_twice
	inlined(n);
	seen++; //@ main inlined_twice
}

void through_pointer(void (*f)(void), int n)
{
	while (n--) { // # u
		f();
		seen++; //@ main through_pointer u *
	}
}

void harmless(int n)
{
	char *text = NULL;

	while (n--) {
		free(text);
		text = malloc(16);
		snprintf(text, 16, "%d", n);
		seen += atoi(text); //@ main harmless
	}
	free(text);
}

static void *thread(void *argument)
{
	for (int i = 0; i < 3; i++) { // # v
		step();
		seen++; //@ thread v *
	}
	seen++; //@ thread
	return argument;
}

static void nothing(void)
{
}

static void third(void)
{
	static int calls;

	if (++calls == 3)
		step();
}

void may_and_does_not(void (*f)(void), int n)
{
	for (int i = 0; i < n; i++) { // # still 1
		f();
		seen++; //@ main may_and_does_not still
	}
	seen++; //@ main may_and_does_not
}

/* Three and two: what comes before the one that synchronises is one with it. */
void sometimes(void (*f)(void), int n)
{
	for (int i = 0; i < n; i++) { // # now_and_then 2
		f();
		seen++; //@ main sometimes now_and_then
	}
	seen++; //@ main sometimes
}

static void die(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

/* Static functions that call nobody but their like, unless to give up, are their callers'. */
static int alike(const struct node *a, const struct node *b)
{
	seen++; //@ main calls_static
	return memcmp(a, b, sizeof *a);
}

static int all_alike(const struct node *a, const struct node *b, const struct node *c)
{
	seen++; //@ main calls_static
	if (a == c)
		die("they are one");
	return alike(a, b) || alike(b, c);
}

void calls_static(void)
{
	seen += all_alike(&nodes[0], &nodes[1], &nodes[2]); //@ main calls_static
}

/* So are those that get memory, or give it back, */
static struct node *made(long value)
{
	struct node *node = calloc(1, sizeof *node);

	if (!node)
		die("out of memory");
	seen++; //@ main makes
	node->value = value;
	return node;
}

static long unmade(struct node *node)
{
	long value = node->value;

	seen++; //@ main makes
	free(node);
	return value;
}

void makes(void)
{
	seen += unmade(made(1)); //@ main makes
}

/* and those that call themselves, or each other. */
static long sum_below(const struct node *node)
{
	seen++; //@ main calls_circles
	return node ? node->value + sum_below(node->next) : 0;
}

static long turn_back(int n);
static long turn(int n)
{
	seen++; //@ main calls_circles
	return n ? turn_back(n - 1) : 0;
}

static long turn_back(int n)
{
	seen++; //@ main calls_circles
	return n ? turn(n - 1) + 1 : 1;
}

void calls_circles(const struct node *first)
{
	seen += sum_below(first) + turn(3); //@ main calls_circles
}

/* But not if one of them synchronises, be it the last, */
static void locked_below(int n)
{
	seen++; //@ ... locked_below
	if (n)
		locked_below(n - 1);
	else
		step();
}

static void round_there(int n);
static void round_here(int n)
{
	seen++; //@ ... round_here
	if (n)
		round_there(n - 1);
}

static void round_there(int n)
{
	seen++; //@ ... round_there
	step();
	if (n)
		round_here(n - 1);
}

void calls_locked(void)
{
	locked_below(2);
	round_here(3);
}

/* nor if they are given what is not their caller's, who may be no unit for it, */
static long given_below(const struct node *node)
{
	seen++; //@ ... given_below
	return node ? node->value + given_below(node->next) : 0;
}

void gives_another(const struct node *first)
{
	seen += first->value + given_below(nodes); //@ main gives_another
}

/* nor where nobody may be a unit around them. */
static void started_below(int n)
{
	seen++; //@ ... started_below
	if (n)
		started_below(n - 1);
}

static void *start(void *argument)
{
	started_below(2);
	return argument;
}

static void renewed(struct node *node)
{
	seen++; //@ main renewed
	free(node->next);
	node->next = NULL;
}

static long value_of(const struct node *node)
{
	return node->value;
}

static void given(struct node *node)
{
	seen++; //@ main given
	node->value = value_of(node->next);
}
static void (*volatile is_given)(struct node *node) = given;

int main(void)
{
	pthread_t one;

	plain_for(3);
	never(0);
	quiet(3);
	plain_while(3);
	plain_do(3);
	early_return(3);
	early_break(3);
	nested(4);
	nested_return(5);
	gotos(3);
	switches(3);
	loop_in_a_way_out(1);
	jump_out(1);
	jump_inside(2);
	walk_list(nodes);
	walk_array(3);
	count_calls(3);
	count_orders(3);
	walk_calls(3);
	walk_keys(3);
	walk_steps(3);
	walk_result(3);
	walk_reach(3);
	walk_unknown(hand_over, 3);
	walk_cursor(nodes);
	worker(nodes);
	inlined_twice(2);
	through_pointer(step, 3);
	harmless(3);
	may_and_does_not(nothing, 5);
	sometimes(third, 5);
	calls_static();
	makes();
	calls_circles(nodes);
	calls_locked();
	gives_another(nodes);
	pthread_create(&one, NULL, start, NULL);
	pthread_join(one, NULL);
	is_given(nodes);
	renewed(&nodes[2]);
	for (int i = 0; i < 2; i++) { // # w
		step();
		seen++; //@ main w *
		pthread_create(&one, NULL, thread, NULL);
		pthread_join(one, NULL);
		seen++; //@ main w *
	}
	seen++; //@ main
	return 0;
}
