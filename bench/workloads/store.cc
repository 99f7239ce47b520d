/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A stock-keeping service in C++: shelves with a std::shared_mutex and a hash
 * table of articles each, orders that touch several shelves one after another,
 * and price queries that only read. Every change adds something, so the order
 * of changes does not show in the result. -n: orders in all.
 */
#include "common.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace
{
constexpr uint32_t shelf_count = 32;
constexpr uint32_t article_count = 20000;

struct Money {
	int64_t cents = 0;

	Money &operator+=(Money other)
	{
		cents += other.cents;
		return *this;
	}
};

struct Article {
	uint32_t id = 0;
	Money price;
	int64_t in_stock = 0;
	int64_t sold = 0;
	Money revenue;
};

struct Line {
	uint32_t article;
	int32_t pieces; /* negative: a delivery */
};

struct Order {
	uint64_t number = 0;
	std::vector<Line> lines;
};

class Shelf
{
      public:
	void add(const Article &article)
	{
		std::unique_lock<std::shared_mutex> hold(mutex_);
		articles_.emplace(article.id, article);
	}

	Money price(uint32_t id) const
	{
		std::shared_lock<std::shared_mutex> hold(mutex_);
		auto found = articles_.find(id);

		if (found == articles_.end())
			die("an article is not on its shelf");
		return found->second.price;
	}

	Money move(const Line &line)
	{
		std::unique_lock<std::shared_mutex> hold(mutex_);
		Article &article = articles_.at(line.article);
		Money value;

		article.in_stock -= line.pieces;
		movements_++;
		if (line.pieces > 0) {
			value.cents = article.price.cents * line.pieces;
			article.sold += line.pieces;
			article.revenue += value;
		}
		return value;
	}

	uint64_t checksum() const
	{
		uint64_t sum = 0;

		std::shared_lock<std::shared_mutex> hold(mutex_);
		for (const auto &entry : articles_) {
			const Article &a = entry.second;

			sum += mix(a.id + mix(a.in_stock) + mix(a.sold + 1) + mix(a.revenue.cents + 2));
		}
		return sum + movements_;
	}

      private:
	mutable std::shared_mutex mutex_;
	std::unordered_map<uint32_t, Article> articles_;
	long movements_ = 0;
};

class Store
{
      public:
	Store()
	{
		uint64_t random = 8;

		for (auto &shelf : shelves_)
			shelf = std::make_unique<Shelf>();
		for (uint32_t id = 0; id < article_count; id++) {
			Article article;

			article.id = id;
			article.price.cents = 1 + next_random(&random) % 10000;
			article.in_stock = 1000;
			shelf_of(id).add(article);
		}
	}

	Money price(uint32_t article) const
	{
		return shelves_[article % shelf_count]->price(article);
	}

	/* Shelves are locked one at a time: an order is a list of independent movements. */
	Money book(const Order &order)
	{
		Money total;

		for (const Line &line : order.lines)
			total += shelf_of(line.article).move(line);
		return total;
	}

	uint64_t checksum() const
	{
		uint64_t sum = 0;

		for (const auto &shelf : shelves_)
			sum = sum * 31 + shelf->checksum();
		return sum;
	}

      private:
	Shelf &shelf_of(uint32_t article)
	{
		return *shelves_[article % shelf_count];
	}

	std::array<std::unique_ptr<Shelf>, shelf_count> shelves_;
};

struct Clerk {
	Store *store;
	int number;
	long orders;
	Money taken;
	Money quoted;

	void run()
	{
		uint64_t random = mix(number + 13);

		for (long i = 0; i < orders; i++) {
			Order order = next_order(&random, i);

			for (const Line &line : order.lines)
				quoted += store->price(line.article);
			taken += store->book(order);
			REQUEST(40);
		}
	}

      private:
	Order next_order(uint64_t *random, long i) const
	{
		Order order;
		uint64_t r = next_random(random);
		size_t lines = 1 + r % 6;

		order.number = static_cast<uint64_t>(number) << 32 | static_cast<uint64_t>(i);
		order.lines.reserve(lines);
		while (order.lines.size() < lines) {
			uint64_t v = next_random(random);

			order.lines.push_back({static_cast<uint32_t>((v >> 32) % article_count),
					       static_cast<int32_t>(v % 9) - 3});
		}
		std::sort(order.lines.begin(), order.lines.end(),
			  [](const Line &a, const Line &b) { return a.article < b.article; });
		return order;
	}
};
} // namespace

int main(int argc, char **argv)
{
	struct options options = options_read(argc, argv, 4, 800000);
	Store store;
	std::vector<Clerk> clerks;
	std::vector<std::thread> threads;
	uint64_t sum;

	for (int i = 0; i < options.threads; i++)
		clerks.push_back(Clerk{&store, i, options.size / options.threads, {}, {}});
	for (Clerk &clerk : clerks)
		threads.emplace_back([&clerk] { clerk.run(); });
	for (std::thread &thread : threads)
		thread.join();
	sum = store.checksum();
	for (const Clerk &clerk : clerks)
		sum += mix(clerk.taken.cents) + mix(clerk.quoted.cents);
	result_print("store", options.size / options.threads * options.threads, sum);
	return 0;
}
