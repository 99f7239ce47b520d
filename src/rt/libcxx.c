/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Trees and lists of the C++ library, whose nodes are linked in functions of
 * libstdc++.so: std::map, std::set and their kin, std::list. What these read and
 * write is found out here, right before they are called (NOTE in watched.inc).
 *
 * Of a tree the header is told of, which belongs to the container: the pointers
 * to its root, its first and its last node. Every search begins at the root, so who
 * links or unlinks a node is told as one who writes the root's pointer, and who
 * goes from node to node as one who reads it. So searches and insertions are in
 * conflict, as they are in a vector and in a hash table, whichever way the tree
 * happens to be balanced.
 *
 * Layouts are those of libstdc++'s ABI, which do not change.
 */
#include "rt/libc.h"

enum {
	RED = 0,
	DEEPEST = 128, /* no tree is that deep */
};

struct tree_node {
	int color;
	struct tree_node *parent, *left, *right; /* of a header: the root, the first, the last */
};

struct list_node {
	struct list_node *next, *prev;
};

#define READS(place) reads(&(place), sizeof(place), site)
#define WRITES(place) writes(&(place), sizeof(place), site)

/* ---- trees ---- */

NOTE(_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_,
     (int left, const struct tree_node *node, const struct tree_node *parent, struct tree_node *header))
{
	const struct atomsan_site *site = rt_take_site();

	(void)node;
	if (!watch_or_record())
		return;
	WRITES(header->parent);
	if (parent == header || (left && parent == header->left))
		WRITES(header->left);
	if (parent == header || (!left && parent == header->right))
		WRITES(header->right);
}

NOTE(_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_,
     (const struct tree_node *node, struct tree_node *header))
{
	const struct atomsan_site *site = rt_take_site();

	if (!watch_or_record())
		return;
	WRITES(header->parent);
	if (node == header->left)
		WRITES(header->left);
	if (node == header->right)
		WRITES(header->right);
}

/* A header is red, and its root is black: each is the other's parent. */
static bool is_header(const struct tree_node *node)
{
	return node->color == RED && node->parent && node->parent->parent == node;
}

/* One step, from a node that has none beyond it in its own part of the tree: then the way leads upwards. */
static void step_up(const struct tree_node *node, const struct atomsan_site *site)
{
	if (!watch_or_record())
		return;
	/* A tree that others change meanwhile, which they must not, may be anything. */
	for (int i = 0; i < DEEPEST && node && !is_header(node); i++)
		node = node->parent;
	if (node)
		READS(node->parent);
}

static void step_onwards(const struct tree_node *node)
{
	const struct atomsan_site *site = rt_take_site();

	if (!node->right)
		step_up(node, site);
}

static void step_back(const struct tree_node *node)
{
	const struct atomsan_site *site = rt_take_site();

	/* Behind the last. */
	if (is_header(node))
		READS(node->right);
	else if (!node->left)
		step_up(node, site);
}

NOTE(_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base, (const struct tree_node *node))
{
	step_onwards(node);
}

NOTE(_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base, (const struct tree_node *node))
{
	step_onwards(node);
}

NOTE(_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base, (const struct tree_node *node))
{
	step_back(node);
}

NOTE(_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base, (const struct tree_node *node))
{
	step_back(node);
}

/* ---- lists ---- */

NOTE(_ZNSt8__detail15_List_node_base7_M_hookEPS0_, (struct list_node * node, struct list_node *before))
{
	const struct atomsan_site *site = rt_take_site();

	if (!watch_or_record())
		return;
	WRITES(*node);
	READS(before->prev);
	WRITES(before->prev->next);
	WRITES(before->prev);
}

NOTE(_ZNSt8__detail15_List_node_base9_M_unhookEv, (struct list_node * node))
{
	const struct atomsan_site *site = rt_take_site();

	if (!watch_or_record())
		return;
	READS(*node);
	WRITES(node->prev->next);
	WRITES(node->next->prev);
}

NOTE(_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_,
     (struct list_node * before, struct list_node *first, struct list_node *end))
{
	const struct atomsan_site *site = rt_take_site();

	if (!watch_or_record() || before == end)
		return;
	WRITES(end->prev->next);
	WRITES(first->prev->next);
	WRITES(before->prev->next);
	WRITES(before->prev);
	WRITES(end->prev);
	WRITES(first->prev);
}

NOTE(_ZNSt8__detail15_List_node_base10_M_reverseEv, (struct list_node * header))
{
	const struct atomsan_site *site = rt_take_site();
	struct list_node *node = header;

	if (!watch_or_record())
		return;
	do {
		WRITES(*node);
		node = node->next;
	} while (node != header);
}

NOTE(_ZNSt8__detail15_List_node_base4swapERS0_S1_, (struct list_node * one, struct list_node *other))
{
	const struct atomsan_site *site = rt_take_site();
	struct list_node *both[] = {one, other};

	if (!watch_or_record())
		return;
	for (int i = 0; i < 2; i++) {
		WRITES(*both[i]);
		if (both[i]->next != both[i]) {
			WRITES(both[i]->next->prev);
			WRITES(both[i]->prev->next);
		}
	}
}
