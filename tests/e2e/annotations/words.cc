// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every annotation of C++; the comments say which lines they become, see run.py.
#include <atomsan/atomsan.h>
#include <mutex>

struct range {
	int low ATOMSAN_ATOMIC_SET("ends"); //= set limits.ends bank::account.limits.low
	int high
		ATOMSAN_ATOMIC_SET("ends"); //= set ends range.high; set limits.ends bank::account.limits.high
};
namespace bank
{
class account
{
	range limits = {};

      public:
	long balance ATOMSAN_ATOMIC_SET("money") = 0; //= set money bank::account.balance
	account *owner ATOMSAN_OWNED = nullptr;       //= owned bank::account.owner
	account *parent ATOMSAN_NOT_OWNED = nullptr;  //= notowned bank::account.parent
	long hits ATOMSAN_IGNORE = 0;                 //= ignore member bank::account.hits
	ATOMSAN_UNIT void add(long n);                //= unit function _ZN4bank7account3addEl
	ATOMSAN_NOT_UNIT long sum(const account &other) const;
	void copy(account &from ATOMSAN_UNITFOR);
};
template <class A, class B> struct both {
	A a;
	B b;
};
} // namespace bank
ATOMSAN_TYPE_MERGE(bank::account, "books"); //= merge books type bank::account
using pair = bank::both<int, long>;
ATOMSAN_TYPE_IGNORE(pair); //= ignore type "bank::both<int, long>"

ATOMSAN_ATOMIC_SET("pair") long first;         //= set pair variable first
static long second ATOMSAN_ATOMIC_SET("pair"); //= set pair variable words.cc:second
namespace bank
{
ATOMSAN_MERGE("world") account central; //= merge world variable central
ATOMSAN_IGNORE long ignored;            //= ignore variable ignored
pair statistics;
range wide;
} // namespace bank

void bank::account::add(long n)
{
	balance += n;
	hits++;
	limits.low++;
}

long bank::account::sum(const account &other) const //= notunit function _ZNK4bank7account3sumERKS0_
{
	return balance + other.balance + (parent == &other) + (owner == &other);
}

void bank::account::copy(account &from) //= unitfor function _ZN4bank7account4copyERS0_ bank::account
{
	balance = from.balance;
}

int main()
{
	bank::account other;

	bank::central.add(2);
	other.copy(bank::central);
	first = bank::central.sum(other);
	second++;
	bank::ignored++;
	bank::statistics.b++;
	bank::wide.high++;
	return 0;
}
