/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Word statistics in C++: a pool of std::threads takes text jobs from a queue
 * guarded by a mutex and a condition variable, counts words in a map of its
 * own and merges it into a shared std::map. -n: thousands of words.
 */
#include "common.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace
{
constexpr int vocabulary = 3000;
constexpr int words_per_job = 1000;

struct Statistics {
	long count = 0;
	long jobs = 0; /* in which the word occurs */
	size_t first_job = SIZE_MAX;

	void merge(const Statistics &other)
	{
		count += other.count;
		jobs += other.jobs;
		if (other.first_job < first_job)
			first_job = other.first_job;
	}
};

using Table = std::map<std::string, Statistics>;

struct Job {
	size_t number;
	std::string text;
};

class JobQueue
{
      public:
	explicit JobQueue(size_t capacity) : capacity_(capacity)
	{
	}

	void put(std::unique_ptr<Job> job)
	{
		std::unique_lock<std::mutex> hold(mutex_);
		not_full_.wait(hold, [this] { return jobs_.size() < capacity_; });
		jobs_.push_back(std::move(job));
		not_empty_.notify_one();
	}

	/* Null once the queue is closed and empty. */
	std::unique_ptr<Job> take()
	{
		std::unique_lock<std::mutex> hold(mutex_);
		not_empty_.wait(hold, [this] { return closed_ || !jobs_.empty(); });
		if (jobs_.empty())
			return nullptr;
		std::unique_ptr<Job> job = std::move(jobs_.front());
		jobs_.pop_front();
		not_full_.notify_one();
		return job;
	}

	void close()
	{
		std::lock_guard<std::mutex> hold(mutex_);
		closed_ = true;
		not_empty_.notify_all();
	}

      private:
	const size_t capacity_;
	std::mutex mutex_;
	std::condition_variable not_empty_;
	std::condition_variable not_full_;
	std::deque<std::unique_ptr<Job>> jobs_;
	bool closed_ = false;
};

class Summary
{
      public:
	void merge(const Table &table)
	{
		std::lock_guard<std::mutex> hold(mutex_);
		for (const auto &entry : table)
			table_[entry.first].merge(entry.second);
		merges_++;
	}

	uint64_t checksum(long *words) const
	{
		uint64_t sum = 0;

		std::lock_guard<std::mutex> hold(mutex_);
		*words = 0;
		for (const auto &entry : table_) {
			for (char c : entry.first)
				sum = sum * 31 + c;
			sum = mix(sum) + entry.second.count + entry.second.jobs * 7 + entry.second.first_job;
			*words += entry.second.count;
		}
		return sum + merges_;
	}

      private:
	mutable std::mutex mutex_;
	Table table_;
	long merges_ = 0;
};

class Worker
{
      public:
	Worker(JobQueue &queue, Summary &summary) : queue_(queue), summary_(summary)
	{
	}

	void operator()()
	{
		while (std::unique_ptr<Job> job = queue_.take()) {
			count(*job);
			summary_.merge(table_);
			table_.clear();
		}
	}

      private:
	void count(const Job &job)
	{
		const std::string &text = job.text;
		size_t begin = 0;

		while (begin < text.size()) {
			size_t end = text.find(' ', begin);

			if (end == std::string::npos)
				end = text.size();
			if (end > begin) {
				Statistics &statistics = table_[text.substr(begin, end - begin)];

				statistics.count++;
				REQUEST(32);
				statistics.jobs = 1;
				statistics.first_job = job.number;
			}
			begin = end + 1;
		}
	}

	JobQueue &queue_;
	Summary &summary_;
	Table table_;
};

std::vector<std::string> make_vocabulary()
{
	std::vector<std::string> words;
	uint64_t random = 5;

	for (int i = 0; i < vocabulary; i++) {
		std::string word;
		size_t length = 3 + next_random(&random) % 8;

		while (word.size() < length)
			word += static_cast<char>('a' + next_random(&random) % 26);
		words.push_back(word);
	}
	return words;
}

std::unique_ptr<Job> make_job(size_t number, const std::vector<std::string> &words)
{
	auto job = std::make_unique<Job>();
	uint64_t random = mix(number + 1);

	job->number = number;
	for (int i = 0; i < words_per_job; i++) {
		uint64_t r = next_random(&random);

		job->text += words[(r % words.size()) * (r >> 48) >> 16];
		job->text += ' ';
	}
	return job;
}
} // namespace

int main(int argc, char **argv)
{
	struct options options = options_read(argc, argv, 3, 2200);
	const std::vector<std::string> words = make_vocabulary();
	JobQueue queue(32);
	Summary summary;
	std::vector<std::thread> threads;
	long counted;
	uint64_t sum;

	for (int i = 0; i < options.threads; i++)
		threads.emplace_back(Worker(queue, summary));
	for (long i = 0; i < options.size; i++)
		queue.put(make_job(i, words));
	queue.close();
	for (std::thread &thread : threads)
		thread.join();
	sum = summary.checksum(&counted);
	result_print("wordcount", counted, sum);
	return 0;
}
