/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Strings that nobody else can reach, and their twins that somebody can. A short
 * string has a pointer to itself, so who has its text has the string. compiled.py
 * looks for the lines in the trace: "seen" must be there, "private" must not.
 */
#include <cstdio>
#include <map>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <utility>

#define NOINLINE __attribute__((noinline))

static std::mutex lock;
static std::string shared_text = "something that is too long for the string itself";
static std::string *published;
static const char *published_text;
static char *written_text;
static size_t sum;
static std::map<std::string, int> counts;

/* ---- one's own ---- */

NOINLINE static size_t own_short(int n)
{
	std::string text;

	text += 'a';                                 /* private */
	text.append("bcd", 3);                       /* private */
	text.push_back(static_cast<char>('a' + n));  /* private */
	return text.find('d') + text.compare("abc"); /* private */
}

NOINLINE static size_t own_long(int n)
{
	std::string text;

	for (int i = 0; i < 100 + n; i++)
		text += static_cast<char>('a' + i % 26); /* private */
	return text.rfind('z');                          /* private */
}

/* The text, too, wherever it lies. */
NOINLINE static size_t own_text(size_t n)
{
	std::string text(n, 'x');
	const char *letters = text.data();
	size_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += static_cast<size_t>(letters[i]) * i; /* private */
	return all;
}

/* A key that is made, compared, and given away: what it was becomes the other's. */
NOINLINE static void own_given(const std::string &from)
{
	std::string part = from.substr(2, 9);

	if (part.compare(from) != 0) /* seen: own_given */
		shared_text = std::move(part);
}

/* ---- handed on ---- */

static void *start(void *p)
{
	*static_cast<std::string *>(p) += 's'; /* seen: start */
	return nullptr;
}

NOINLINE static void to_a_thread()
{
	std::string text;
	pthread_t thread;

	text += 'a'; /* seen: to_a_thread */
	pthread_create(&thread, nullptr, start, &text);
	pthread_join(thread, nullptr);
	text += 'b'; /* seen: to_a_thread */
}

NOINLINE static void captured()
{
	std::string text;
	std::thread thread([&text] {
		text += 'c'; /* seen: captured */
	});

	thread.join();
	text += 'd'; /* seen: captured */
}

NOINLINE static void in_a_global()
{
	std::string text;

	published = &text;
	text += 'a'; /* seen: in_a_global */
	published = nullptr;
}

NOINLINE static void keep(std::string &text)
{
	published = &text;
}

NOINLINE static void by_reference()
{
	std::string text;

	keep(text);
	text += 'a'; /* seen: by_reference */
	published = nullptr;
}

NOINLINE static std::string returned(char c)
{
	std::string text;

	text += c; /* seen: returned */
	return text;
}

struct pair {
	std::string first, second;
};

NOINLINE static void in_a_struct()
{
	static pair *kept;
	pair both;

	kept = &both;
	both.second += 'a'; /* seen: in_a_struct */
	__asm__ volatile("" : : "r"(kept) : "memory");
}

/* ---- the text is handed on, and with it the string that it lies in ---- */

NOINLINE static void text_in_a_global()
{
	std::string text;

	text += 'a'; /* seen: text_in_a_global */
	published_text = text.c_str();
	text += 'b'; /* seen: text_in_a_global */
	published_text = nullptr;
}

/* Nobody keeps the string's address. */
NOINLINE static void keep_text(const std::string &text)
{
	published_text = text.c_str();
}

NOINLINE static void text_by_reference()
{
	std::string text;

	keep_text(text);
	text += 'a'; /* seen: text_by_reference */
	published_text = nullptr;
}

NOINLINE static void place_in_a_global()
{
	std::string text(5, 'x');

	written_text = &text[2];
	text += 'a'; /* seen: place_in_a_global */
	written_text = nullptr;
}

/* A function of strings gives the string back. */
NOINLINE static void given_back()
{
	std::string text;

	published = &text.append("x", 1); /* seen: given_back */
	text += 'a';                      /* seen: given_back */
	published = nullptr;
}

/* Of these the string is one's own, and the text was another's or becomes another's. */
NOINLINE static size_t text_from_another()
{
	std::string text(std::move(shared_text));
	const char *letters = text.data();
	size_t all = 0;

	for (int i = 0; i < 20; i++)
		all += static_cast<size_t>(letters[i * 2 % 13]); /* seen: text_from_another */
	shared_text = std::move(text);
	return all;
}

NOINLINE static void text_to_another(size_t n)
{
	std::string text(n, 'x');
	char *letters = &text[0];

	for (size_t i = 0; i < 10; i++)
		letters[i * 3 % n] = 'y'; /* seen: text_to_another */
	shared_text.swap(text);
}

/* Compares, and catches exceptions while it makes nodes; none of that is a call of the program's. */
NOINLINE static void counted(const char *text)
{
	counts[text]++; /* seen: counted */
}

int main()
{
	std::lock_guard<std::mutex> hold(lock);

	sum += own_short(3) + own_long(5) + own_text(9) + own_text(90);
	to_a_thread();
	captured();
	in_a_global();
	by_reference();
	sum += returned('q').size();
	in_a_struct();
	text_in_a_global();
	text_by_reference();
	place_in_a_global();
	given_back();
	sum += text_from_another();
	text_to_another(60);
	for (int i = 0; i < 10; i++)
		counted(i % 3 ? "one" : i % 2 ? "another" : "yet another of them");
	own_given("0123456789abcdef");
	std::printf("%zu\n", sum + shared_text.size());
	return 0;
}
