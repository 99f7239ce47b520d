/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sets by their keys: open addressing with linear probing, deletion without
 * tombstones, as in base/map.h. Sets have their key themselves, so that an entry is
 * no more than a number and some bits of the key's hash, which spare nearly all
 * looks at sets that are not meant.
 */
#include "model/inside.h"

struct instance {
	uint32_t set; /* 0: free */
	uint32_t hash;
};

/* The lower half says where an entry would like to be. */
static uint64_t home(const struct instances *instances, uint32_t hash)
{
	return hash & instances->mask;
}

static uint64_t find(const struct model *model, uint64_t key)
{
	const struct instances *instances = &model->instances;
	uint32_t hash = (uint32_t)map_hash(key);
	uint64_t at = home(instances, hash);

	for (;; at = (at + 1) & instances->mask) {
		const struct instance *slot = &instances->slots[at];

		if (!slot->set || (slot->hash == hash && model->sets[slot->set].key == key))
			return at;
	}
}

uint32_t instance_get(const struct model *model, uint64_t key)
{
	return model->instances.slots ? model->instances.slots[find(model, key)].set : 0;
}

static void grow(struct instances *instances)
{
	struct instance *old = instances->slots;
	uint64_t size = old ? instances->mask + 1 : 0, room = old ? size * 2 : 16;

	/* A home is as long as a hash. */
	BUG_ON(room - 1 > UINT32_MAX);
	instances->slots = mem_zalloc(room, sizeof(*instances->slots));
	instances->mask = room - 1;
	for (uint64_t i = 0; i < size; i++) {
		uint64_t at = home(instances, old[i].hash);

		if (!old[i].set)
			continue;
		while (instances->slots[at].set)
			at = (at + 1) & instances->mask;
		instances->slots[at] = old[i];
	}
	free(old);
}

void instance_add(struct model *model, uint32_t set)
{
	struct instances *instances = &model->instances;
	uint64_t key = model->sets[set].key;

	/* Three quarters full at most. */
	if (!instances->slots || (instances->count + 1) * 4 > (instances->mask + 1) * 3)
		grow(instances);
	struct instance *slot = &instances->slots[find(model, key)];

	instances->count += !slot->set;
	*slot = (struct instance){.set = set, .hash = (uint32_t)map_hash(key)};
}

void instance_remove(struct model *model, uint32_t set)
{
	struct instances *instances = &model->instances;
	uint64_t at = find(model, model->sets[set].key), hole = at;

	if (instances->slots[at].set != set)
		return;
	/* What comes behind and would be looked for through the hole moves into it. */
	for (;;) {
		at = (at + 1) & instances->mask;
		if (!instances->slots[at].set)
			break;
		if (((at - home(instances, instances->slots[at].hash)) & instances->mask) >=
		    ((at - hole) & instances->mask)) {
			instances->slots[hole] = instances->slots[at];
			hole = at;
		}
	}
	instances->slots[hole].set = 0;
	instances->count--;
}

void instances_release(struct model *model)
{
	free(model->instances.slots);
	model->instances = (struct instances){0};
}
