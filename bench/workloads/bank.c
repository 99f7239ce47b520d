/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A bank with branches, each with its own lock, accounts and journal. Tellers
 * transfer money within and between branches, taking two locks in the order of
 * branch numbers, and an auditor's round takes them all and must always find
 * the same total. -n: transfers in all.
 */
#include "common.h"

enum { BRANCHES = 16, ACCOUNTS = 512, JOURNAL = 1024, AUDIT_EVERY = 20000 };

struct posting {
	uint32_t account;
	uint32_t other; /* branch << 16 | account */
	int64_t amount;
	uint64_t reference;
};

struct account {
	int64_t balance;
	uint32_t credits;
	uint32_t debits;
	int64_t turnover;
	uint64_t references; /* sum over all postings, so their order does not matter */
};

struct journal {
	struct posting postings[JOURNAL]; /* the latest, a ring */
	long count;
	int64_t sum;
};

struct branch {
	pthread_mutex_t lock;
	struct account accounts[ACCOUNTS];
	struct journal journal;
} __attribute__((aligned(64)));

struct bank {
	int64_t total; /* never changes */
	struct branch branches[BRANCHES];
};

struct teller {
	struct bank *bank;
	int number;
	long transfers;
	long audits;
};

struct transfer {
	uint32_t from_branch, from_account;
	uint32_t to_branch, to_account;
	int64_t amount;
	uint64_t reference;
};

static void journal_add(struct journal *journal, uint32_t account, uint32_t other, int64_t amount,
			uint64_t reference)
{
	struct posting *posting = &journal->postings[journal->count++ % JOURNAL];

	posting->account = account;
	posting->other = other;
	posting->amount = amount;
	posting->reference = reference;
	journal->sum += amount;
}

static void branch_post(struct branch *branch, uint32_t number, uint32_t other, int64_t amount,
			uint64_t reference)
{
	struct account *account = &branch->accounts[number];

	account->balance += amount;
	if (amount < 0) {
		account->debits++;
		account->turnover -= amount;
	} else {
		account->credits++;
		account->turnover += amount;
	}
	account->references += reference;
	journal_add(&branch->journal, number, other, amount, reference);
}

static void bank_transfer(struct bank *bank, const struct transfer *t)
{
	struct branch *from = &bank->branches[t->from_branch];
	struct branch *to = &bank->branches[t->to_branch];
	struct branch *first = from < to ? from : to;
	struct branch *second = from < to ? to : from;

	pthread_mutex_lock(&first->lock);
	if (second != first)
		pthread_mutex_lock(&second->lock);
	branch_post(from, t->from_account, t->to_branch << 16 | t->to_account, -t->amount, t->reference);
	branch_post(to, t->to_account, t->from_branch << 16 | t->from_account, t->amount, t->reference);
	if (second != first)
		pthread_mutex_unlock(&second->lock);
	pthread_mutex_unlock(&first->lock);
}

static void bank_audit(struct bank *bank)
{
	int64_t total = 0, journals = 0;

	for (int b = 0; b < BRANCHES; b++)
		pthread_mutex_lock(&bank->branches[b].lock);
	for (int b = 0; b < BRANCHES; b++) {
		const struct branch *branch = &bank->branches[b];

		for (int a = 0; a < ACCOUNTS; a++)
			total += branch->accounts[a].balance;
		journals += branch->journal.sum;
	}
	for (int b = BRANCHES - 1; b >= 0; b--)
		pthread_mutex_unlock(&bank->branches[b].lock);
	if (total != bank->total || journals)
		die("money was lost or made");
}

/* What a statement for the customer shows: the postings of one account that
 * the journal still holds must not add up to more than its turnover. */
static void branch_statement(struct branch *branch, uint32_t number)
{
	const struct journal *journal = &branch->journal;
	int64_t turnover = 0;

	pthread_mutex_lock(&branch->lock);
	for (long i = 0; i < JOURNAL && i < journal->count; i++) {
		const struct posting *posting = &journal->postings[i];

		if (posting->account == number)
			turnover += posting->amount < 0 ? -posting->amount : posting->amount;
	}
	if (turnover > branch->accounts[number].turnover)
		die("a statement shows more than was posted");
	pthread_mutex_unlock(&branch->lock);
}

static void *work(void *argument)
{
	struct teller *teller = argument;
	uint64_t random = mix(teller->number + 21);

	for (long i = 0; i < teller->transfers; i++) {
		uint64_t r = next_random(&random);
		struct transfer t = {
			.from_branch = r % BRANCHES,
			.from_account = (r >> 8) % ACCOUNTS,
			.to_branch = (r >> 20) % BRANCHES,
			.to_account = (r >> 28) % ACCOUNTS,
			.amount = (r >> 44) % 1000,
			.reference = mix(r),
		};

		bank_transfer(teller->bank, &t);
		REQUEST(384);
		if (i % 64 == 0)
			branch_statement(&teller->bank->branches[t.from_branch], t.from_account);
		if (i % AUDIT_EVERY == 0) {
			bank_audit(teller->bank);
			teller->audits++;
		}
	}
	return NULL;
}

static struct bank *bank_new(void)
{
	struct bank *bank = aligned_alloc(64, sizeof(*bank));
	uint64_t random = 3;

	if (!bank)
		die("out of memory");
	memset(bank, 0, sizeof(*bank));
	for (int b = 0; b < BRANCHES; b++) {
		pthread_mutex_init(&bank->branches[b].lock, NULL);
		for (int a = 0; a < ACCOUNTS; a++) {
			bank->branches[b].accounts[a].balance = next_random(&random) % 100000;
			bank->total += bank->branches[b].accounts[a].balance;
		}
	}
	return bank;
}

int main(int argc, char **argv)
{
	struct options options = options_read(argc, argv, 4, 6000000);
	struct teller tellers[MAX_THREADS] = {0};
	struct bank *bank = bank_new();
	long postings = 0;
	uint64_t sum = 0;

	for (int i = 0; i < options.threads; i++) {
		tellers[i].bank = bank;
		tellers[i].number = i;
		tellers[i].transfers = options.size / options.threads;
	}
	threads_run(options.threads, work, tellers, sizeof(*tellers));

	bank_audit(bank);
	for (int b = 0; b < BRANCHES; b++) {
		for (int a = 0; a < ACCOUNTS; a++) {
			const struct account *account = &bank->branches[b].accounts[a];

			sum = sum * 31 + account->balance + account->references;
			sum += mix(account->credits ^ (uint64_t)account->debits << 32) + account->turnover;
		}
		postings += bank->branches[b].journal.count;
		pthread_mutex_destroy(&bank->branches[b].lock);
	}
	for (int i = 0; i < options.threads; i++)
		sum += mix(tellers[i].audits);
	result_print("bank", postings, sum);
	free(bank);
	return 0;
}
