/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// clang-format off
/* Members in C++, by every way to reach them. Expectations: see run.py. */
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#define NOINLINE __attribute__((noinline))

namespace shop {
struct Base {
	long stock;
	virtual ~Base() {}
	virtual NOINLINE void set(long n)
	{
		stock = n; //= write shop::Base stock receiver this
	}
};
struct Other {
	int other;
};
struct Derived : Base, Other {
	int mine;
	std::pair<int, long> both;
	NOINLINE void set(long n) override
	{
		mine = (int)n;      //= write shop::Derived mine receiver this
		stock = n;          //= write shop::Base stock receiver this
		other = (int)n;     //= write shop::Other other receiver this
		both.second = n;    //= write shop::Derived both.second receiver this
	}
};
namespace {
struct Hidden {
	int value;
};
} // namespace
template <class T> struct Box {
	struct Lid {
		bool open;
	};
	T content;
	Lid lid;
	NOINLINE void put(T t)
	{
		content = t;      //= write shop::Box<{int|double}> content receiver this
		lid.open = true;  //= write shop::Box<{int|double}> lid.open receiver this
	}
};
} // namespace shop

NOINLINE void references(shop::Derived &d, shop::Base *b, const shop::Hidden &h, int i)
{
	d.mine = i;         //= write shop::Derived mine receiver d
	d.other = i;        //= write shop::Other other receiver d
	b->stock = h.value; //= read shop::(anonymous~namespace)::Hidden value parameter h; write shop::Base stock parameter b
	b->set(i);          //= read shop::Base (vptr) parameter b; read - - member shop::Base.(vptr)
}

NOINLINE void nested(shop::Box<int>::Lid *lid, std::vector<shop::Hidden> &all, std::pair<int, int> *pair)
{
	lid->open = false;   //= write shop::Box<int>::Lid open receiver lid
	all[0].value = 1;    //= write shop::(anonymous~namespace)::Hidden value call -
	pair->second = 3;    //= write std::pair<int,~int> second parameter pair
}

NOINLINE void captured(shop::Box<int> &box, int n)
{
	auto by_reference = [&box](int i) NOINLINE {
		box.content = i; //= read captured::(lambda) box receiver this; write shop::Box<int> content member captured::(lambda).box
	};
	by_reference(n);
}

std::string text;

int main()
{
	shop::Derived d;
	shop::Box<int> box;
	shop::Box<double> other;
	shop::Hidden h{1};
	std::vector<shop::Hidden> all(1);
	std::pair<int, int> pair;

	d.set(1);
	d.Base::set(2);
	box.put(1);
	other.put(1);
	references(d, &d, h, 1);
	nested(&box.lid, all, &pair);
	captured(box, 1);
	text += "x";
	return 0;
}
