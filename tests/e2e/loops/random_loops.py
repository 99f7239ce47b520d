# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops for harness.c from a seed: variables of all widths, all ways to count, wrap-around where C allows it."""
import random

SIZES = (0, 1, 2, 3, 7, 16, 33, 100, 256, 1000)
VARIABLES = {  # bits, signed
    "signed char": (8, True), "unsigned char": (8, False), "short": (16, True), "unsigned short": (16, False),
    "int": (32, True), "unsigned": (32, False), "long": (64, True), "size_t": (64, False),
}
ELEMENTS = {"char": 1, "short": 2, "int": 4, "long": 8, "double": 8}
ROOM = 8000  # bytes for one array; five are read, and five others written, or an optimiser would not read
TRIPS = 2500
TESTS = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "!=": lambda a, b: a != b,
}


def value(variable, number):
    """As the variable holds it, or None where C leaves that open or we do."""
    bits, signed = VARIABLES[variable]
    low = -(1 << bits - 1) if signed else 0
    if signed:
        return number if low <= number < -low else None
    return number % (1 << bits)


class Loop:
    """for (T i = start; i TEST bound; i += step), or do ... while"""

    def __init__(self, rng):
        self.variable = rng.choice(list(VARIABLES))
        self.step = rng.choice((1, 1, 1, 1, -1, -1, 2, -2, 3, -3, 4, 8))
        self.test = rng.choice(("<", "<", "<=", "!=") if self.step > 0 else (">", ">=", "!="))
        here, there = rng.choice((("0", "n"), ("1", "n"), ("0", "n / 2"), ("3", "n + 3"), ("n / 4", "n"),
                                  ("0", "n * 4"), ("0", "n * 3"), ("0", "24"), ("200", "n")))
        self.start, self.bound = (here, there) if self.step > 0 else (there, here)
        self.do_while = rng.random() < 0.3

    def number(self, text, n):
        return value(self.variable, eval(text.replace("/", "//"), {"n": n}))

    def run(self, n):
        """The variable's values, or None if the loop does what it must not."""
        i, bound, values = self.number(self.start, n), self.number(self.bound, n), []
        first = self.do_while
        while i is not None and bound is not None:
            if not first and not TESTS[self.test](i, bound):
                return values
            first = False
            values.append(i)
            if len(values) > TRIPS:
                return None
            i = value(self.variable, i + self.step)
        return None

    def text(self, body, strided):
        start, bound = f"({self.variable})({self.start})", f"({self.variable})({self.bound})"
        change = f"i = ({self.variable})(i + {self.step})"
        if self.do_while:
            return f"\t{self.variable} i = {start};\n{strided}\tdo {{\n{body}\t\t{change};\n\t}} while (i {self.test} {bound});\n"
        return f"{strided}\tfor ({self.variable} i = {start}; i {self.test} {bound}; {change}) {{\n{body}\t}}\n"


class Access:
    def __init__(self, rng, number):
        self.element = rng.choice(list(ELEMENTS))
        self.factor = rng.choice((1, 1, 1, 1, 1, 2, 3, -1, 0))
        self.offset = rng.choice((0, 0, 0, 1, 2, 3, 40, 300, -1))
        self.array = rng.choice((number, 0))
        self.write = rng.random() < 0.5
        self.sometimes = rng.random() < 0.15

    def index(self, variable, i):
        """In C's arithmetic for the variable's type."""
        bits, signed = VARIABLES[variable]
        whole = i * self.factor + self.offset
        if bits < 32 or signed:
            return whole if bits == 64 or -(1 << 31) <= whole < 1 << 31 else None
        return whole % (1 << bits)

    def inside(self, variable, values):
        for i in values:
            index = self.index(variable, i)
            if index is None or not 0 <= index or (index + 1) * ELEMENTS[self.element] > ROOM:
                return False
        return True

    def text(self, number):
        index = " + ".join([f"i * {self.factor}" if self.factor != 1 else "i"] + [f"{self.offset}"] * (self.offset != 0))
        place = f"(({self.element} *)(memory + {(self.array + 5 * self.write) * ROOM}))[{index}]"
        condition = f"if ((i & {1 + number}) == 0)\n\t\t\t" if self.sometimes else ""
        if self.write:
            return f"\t\t{condition}W({place}) = ({self.element})(i & 15);\n"
        return f"\t\t{condition}sum = sum * 3 + (unsigned long)((long)R({place}) & 7);\n" if self.element != "double" \
            else f"\t\t{condition}sum += R({place}) > 1;\n"


def shape(rng, number):
    while True:
        loop = Loop(rng)
        runs = [loop.run(n) for n in SIZES]
        if None in runs or max(map(len, runs)) < 4:
            continue
        accesses = [Access(rng, k) for k in range(rng.choice((1, 1, 2, 2, 3, 4)))]
        if rng.random() < 0.3:  # one array, neighbours
            for k, access in enumerate(accesses):
                access.array, access.offset, access.sometimes = 0, k + max(0, accesses[0].offset), False
                access.factor, access.element = accesses[0].factor, accesses[0].element
        if not all(access.inside(loop.variable, values) for access in accesses for values in runs):
            continue
        break
    lines = [access.text(k) for k, access in enumerate(accesses)]
    while rng.random() < 0.3:  # ends early, before or behind some of them
        lines.insert(rng.randrange(len(lines) + 1), f"\t\tif (sum % 41 == {rng.randrange(41)})\n\t\t\tbreak;\n")
    body = "".join(lines)
    # Vectors of elements with gaps are loaded with the gaps, which the source does not read.
    gaps = any(abs(access.factor * loop.step) > 1 for access in accesses)
    text = loop.text(body, "\tSTRIDED\n" if gaps else "")
    if rng.random() < 0.2:
        text = "\tfor (int j = 0; j < 3; j++, memory += 80000) {\n" + text.replace("\n\t", "\n\t\t") + "\t}\n"
    return f"SHAPE(random_{number}, any)\n{{\n\tunsigned long sum = 0;\n\n{text}\treturn (long)sum;\n}}\n"


def make(seed, count=150):
    rng = random.Random(seed)
    return "\n".join(shape(rng, number) for number in range(count))
