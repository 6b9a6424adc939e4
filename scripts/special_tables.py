#!/usr/bin/env python3
"""Writes runtime/tests/data/special/*.csv: exact results of the special functions.

    pip install mpmath && scripts/special_tables.py        writes the tables
    scripts/special_tables.py --bessel                     prints the coefficients of bessel.rs

A line is `inputs,expected[,z]`: bits in hexadecimal, 16 digits for f64 and 8 for f32, rounded from
60 digits; a complex number is two of them. `z` marks inputs within 0.1 of a zero of the function,
where the absolute error counts. Inputs are special values, and random numbers from the whole range
with a fixed seed.
"""

import pathlib
import random
import struct
import sys

from mpmath import mp, mpc, mpf
import mpmath as m

mp.dps = 60
OUT = pathlib.Path(__file__).parent.parent / "runtime" / "tests" / "data" / "special"
INF, NAN = float("inf"), float("nan")


def pack(x, bits):
    """Returns the bits of a float."""
    return struct.pack(">f" if bits == 32 else ">d", x).hex()


def to_float(value, bits):
    """Rounds an mpf to nearest, once."""
    if m.isnan(value) or m.isinf(value) or value == 0:
        return float(value)
    digits, least, most = (24, -149, 128) if bits == 32 else (53, -1074, 1024)
    mantissa, exponent = m.frexp(value)
    step = max(exponent - digits, least)
    with mp.workprec(2200):
        whole = int(m.nint(m.ldexp(value, -step)))  # ties to even
        rounded = m.ldexp(mpf(whole), step)
    if abs(rounded) >= m.ldexp(mpf(1), most):
        return INF if rounded > 0 else -INF
    return float(rounded) if rounded else (0.0 if value > 0 else -0.0)


def narrow(x, bits):
    """Rounds to the nearest f32, or returns the f64 unchanged."""
    if bits == 64:
        return x
    try:
        return struct.unpack(">f", struct.pack(">f", x))[0]
    except OverflowError:
        return INF if x > 0 else -INF


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, INF, -INF, NAN]


def draws(rng, bits, ranges, count):
    """Returns special values, then numbers from `ranges`: uniform, or of any magnitude."""
    tiny, huge = (-148, 127) if bits == 32 else (-1073, 1023)
    out = list(SPECIAL)
    while len(out) < count:
        kind = ranges[len(out) % len(ranges)]
        if kind == "any":
            x = m.ldexp(mpf(rng.uniform(1, 2)), rng.randint(tiny, huge)) * rng.choice([1, -1])
            x = float(x)
        elif kind == "small":
            x = 2.0 ** rng.uniform(-40, 0) * rng.choice([1, -1])
        else:
            x = rng.uniform(*kind)
        out.append(narrow(x, bits))
    return out


# Zeros ------------------------------------------------------------------------------------------

def every(step, offset=0):
    """Tests for being close to a zero at offset + k step."""
    return lambda x: abs(x - (m.nint((x - offset) / step) * step + offset)) < mpf("0.1")


def at(*zeros):
    """Tests for being close to one of some zeros."""
    return lambda x: any(abs(x - zero) < mpf("0.1") for zero in zeros)


def bisect(f, a, b):
    """Finds a zero between points where f has different signs."""
    a, b, up = mpf(a), mpf(b), f(mpf(b)) > 0
    for _ in range(200):
        middle = (a + b) / 2
        a, b = (a, middle) if (f(middle) > 0) == up else (middle, b)
    return a


def zeros_of_digamma(x):
    if x > 0:
        return at(bisect(m.digamma, 1.4, 1.5))(x)
    if x == m.floor(x) or x < -1e6:
        return False
    low, edge = m.floor(x), mpf(10) ** -40
    near = [low] if x - low > 0.2 else [low, low - 1]
    near += [low + 1] if low < -1 and low + 1 - x < 0.2 else []
    return at(*(bisect(m.digamma, n + edge, n + 1 - edge) for n in near))(x)


LGAMMA_ZEROS = []


def zeros_of_lgamma(x):
    if not LGAMMA_ZEROS:
        LGAMMA_ZEROS.extend([1, 2])
        for n in range(2, 21):
            edge, middle = mpf(10) ** -40, -n - mpf("0.5") if n > 2 else mpf("-2.6")
            LGAMMA_ZEROS.append(bisect(lgamma, -n - 1 + edge, middle))
            LGAMMA_ZEROS.append(bisect(lgamma, middle, -n - edge))
    return at(*LGAMMA_ZEROS)(x)


NOWHERE = lambda *_: False
ORIGIN = at(0)

# Functions --------------------------------------------------------------------------------------


def real(f):
    """Returns f with NaN in place of results that are not real."""
    def g(*xs):
        value = f(*xs)
        return value.real if not isinstance(value, mpc) or value.imag == 0 else m.nan
    return g


def domain(f, inside):
    """Returns f with NaN outside a domain."""
    return lambda *xs: f(*xs) if inside(*xs) else m.nan


def lgamma(x):
    if x == m.floor(x) and x <= 0:
        return m.inf
    if m.isinf(x):
        return m.inf
    return m.log(abs(m.gamma(x))) if abs(x) < 1e4 else m.loggamma(x).real


def digamma(x):
    if x == m.floor(x) and x < 0:
        return m.nan
    return m.digamma(x) if x > -1e15 else m.digamma(1 - x) - m.pi * m.cot(m.pi * x)


def erfinv(x):
    """Applies Newton's steps to 1 - x: mpmath's own result has too few digits near 1."""
    if abs(x) > 1:
        return m.nan
    if abs(x) == 1:
        return m.inf * x
    if x == 0:
        return x
    z = m.erfinv(x)
    for _ in range(4):
        z += (m.erfc(z) - (1 - x)) * m.sqrt(m.pi) / 2 * m.exp(z * z)
    return z


def erfc(x):
    """Avoids mpmath's overflow where the result is zero or two."""
    return m.erfc(x) if abs(x) < 1e4 else mpf(0 if x > 0 else 2)


def normal_cdf(x):
    return erfc(-x / m.sqrt(2)) / 2


def softplus(x):
    return x if x > 20 else m.log1p(m.exp(x))


def gelu_tanh(x):
    # tanh(u) + 1 = 2 / (1 + exp(-2u))
    return x / (1 + m.exp(-2 * m.sqrt(2 / m.pi) * (x + mpf(0.044715) * x**3)))


def ndtri(p):
    """Applies Newton's steps to the logarithm."""
    if p > 0.5:
        return -ndtri(1 - p)
    x = -m.sqrt(-2 * m.log(p)) if p < 0.1 else mpf(0)
    for _ in range(12):
        cdf = m.erfc(-x / m.sqrt(2)) / 2
        x -= (m.log(cdf) - m.log(p)) * cdf * m.sqrt(2 * m.pi) * m.exp(x * x / 2)
    return x


def log_ndtr(x):
    if x < -1e4:
        return -x * x / 2 - m.log(-x * m.sqrt(2 * m.pi)) - 1 / (x * x)
    if x > 1e4:
        return mpf(0)
    return m.log1p(-m.erfc(x / m.sqrt(2)) / 2) if x > 0 else m.log(m.erfc(-x / m.sqrt(2)) / 2)


def erfcx(x):
    if x < -1e3:
        return m.inf
    if x > 1e4:
        y = 1 / (2 * x * x)
        return (1 - y + 3 * y**2 - 15 * y**3) / (x * m.sqrt(m.pi))
    return m.exp(x * x) * m.erfc(x)


def bessel(order, scaled):
    def f(x):
        if abs(x) > 1e3:
            if not scaled:
                return m.inf * (m.sign(x) if order else 1)
            # The asymptotic series, since mpmath's own result overflows.
            mu, total, term = 4 * order**2, mpf(1), mpf(1)
            for k in range(1, 30):
                term *= -(mu - (2 * k - 1) ** 2) / (k * 8 * abs(x))
                total += term
            return total / m.sqrt(2 * m.pi * abs(x)) * (m.sign(x) if order else 1)
        return m.besseli(order, x) * (m.exp(-abs(x)) if scaled else 1)
    return f


WIDE = ["any", "small", (-1, 1), (-10, 10), (-100, 100), (-800, 800)]
UNIT = ["small", (-1, 1), (0.9, 1), (-1, -0.9), "any"]
POSITIVE = ["any", "small", (0, 1), (0.5, 1.5), (0, 100)]

UNARY = {
    "exp": (m.exp, WIDE, NOWHERE),
    "log": (real(m.log), POSITIVE, at(1)),
    "sqrt": (real(m.sqrt), POSITIVE, ORIGIN),
    "tanh": (m.tanh, WIDE, ORIGIN),
    "sigmoid": (lambda x: 1 / (1 + m.exp(-x)), WIDE, NOWHERE),
    "sin": (m.sin, WIDE, every(m.pi)),
    "cos": (m.cos, WIDE, every(m.pi, m.pi / 2)),
    "tan": (m.tan, WIDE, every(m.pi)),
    "asin": (domain(m.asin, lambda x: abs(x) <= 1), UNIT, ORIGIN),
    "acos": (domain(m.acos, lambda x: abs(x) <= 1), UNIT, at(1)),
    "atan": (m.atan, WIDE, ORIGIN),
    "sinh": (m.sinh, WIDE, ORIGIN),
    "cosh": (m.cosh, WIDE, NOWHERE),
    "asinh": (m.asinh, WIDE, ORIGIN),
    "acosh": (domain(m.acosh, lambda x: x >= 1), [(1, 1.1), (1, 10), "any", (1, 1000), (-1e6, 0)], at(1)),
    "atanh": (domain(m.atanh, lambda x: abs(x) <= 1), UNIT, ORIGIN),
    "expm1": (m.expm1, WIDE, ORIGIN),
    "exp2": (lambda x: mpf(2) ** x, WIDE + [(-1080, 1030)], NOWHERE),
    "log1p": (domain(m.log1p, lambda x: x >= -1), POSITIVE + [(-1, 0)], ORIGIN),
    "log2": (real(lambda x: m.log(x, 2)), POSITIVE, at(1)),
    "log10": (real(m.log10), POSITIVE, at(1)),
    "reciprocal": (lambda x: 1 / x, WIDE, NOWHERE),
    "rsqrt": (real(lambda x: 1 / m.sqrt(x)), POSITIVE, NOWHERE),
    "deg2rad": (lambda x: x * (m.pi / 180), WIDE, ORIGIN),
    "rad2deg": (lambda x: x * (180 / m.pi), WIDE, ORIGIN),
    "erf": (m.erf, WIDE + [(-6, 6)] * 2, ORIGIN),
    "erfc": (erfc, WIDE + [(-6, 30)] * 3, NOWHERE),
    "erfinv": (erfinv, UNIT + ["edge"], ORIGIN),
    "lgamma": (lgamma, ["any", "small", (0, 3), (-6, 0), (-20, 20), (-300, 300), "pole"],
               zeros_of_lgamma),
    "digamma": (digamma, ["any", "small", (0, 3), (1, 2), (-6, 0), (-20, 20), (-300, 300), "pole"],
                zeros_of_digamma),
    "gelu": (lambda x: x * normal_cdf(x), WIDE + [(-39, 10), (-38.6, -36)], ORIGIN),
    "gelu_tanh": (gelu_tanh, WIDE + [(-22, 10)], ORIGIN),
    "silu": (lambda x: x / (1 + m.exp(-x)), WIDE, ORIGIN),
    "softplus": (softplus, WIDE + [(-5, 25)], NOWHERE),
    "logsigmoid": (lambda x: -m.log1p(m.exp(-x)), WIDE, NOWHERE),
    "mish": (lambda x: x * m.tanh(m.log1p(m.exp(x))), WIDE, ORIGIN),
    "selu": (lambda x: mpf("1.0507009873554804934193349852946") * (
        x if x > 0 else mpf("1.6732632423543772848170429916717") * m.expm1(x)), WIDE, ORIGIN),
    "logit": (real(domain(lambda x: m.log(x / (1 - x)) if x < 1 else m.inf, lambda x: 0 <= x <= 1)),
              [(0, 1), (0.4, 0.6), "small", (0.9, 1)], at(0.5)),
    "sinc": (lambda x: m.sincpi(x), ["small", (-3, 3), (-50, 50), (-1e4, 1e4)],
             lambda x: abs(x) > 0.5 and every(1)(x)),
    "erfcx": (erfcx, WIDE + [(-6, 30), (-26, 30)], NOWHERE),
    "ndtr": (normal_cdf, WIDE + [(-39, 10), (-38.6, -36)], NOWHERE),
    "ndtri": (domain(lambda x: ndtri(x) if x < 1 else m.inf, lambda x: 0 < x <= 1), [(0, 1), (0, 0.01), (0.2, 0.8), "tail"], at(0.5)),
    "log_ndtr": (log_ndtr, WIDE + [(-39, 10), (-3, 3)], NOWHERE),
    "entr": (lambda x: -x * m.log(x) if x > 0 else -m.inf, POSITIVE, at(0, 1)),
    "i0": (bessel(0, False), WIDE + [(-10, 10), (7, 9)], NOWHERE),
    "i0e": (bessel(0, True), WIDE + [(-10, 10), (7, 9)], NOWHERE),
    "i1": (bessel(1, False), WIDE + [(-10, 10), (7, 9)], ORIGIN),
    "i1e": (bessel(1, True), WIDE + [(-10, 10), (7, 9)], ORIGIN),
    "tanhshrink": (lambda x: x - m.tanh(x), WIDE + [(-2, 2)], ORIGIN),
}

BINARY = {
    "pow": (real(lambda x, y: x**y), [((0, 3), (-20, 20)), ("any", (-2, 2)), ((-9, 9), "whole")],
            NOWHERE),
    "atan2": (m.atan2, [((-3, 3), (-3, 3)), ("any", "any"), ("small", (-1, 1))],
              lambda y, x: abs(y) < 0.1 and x > 0),
    "hypot": (lambda x, y: m.sqrt(x * x + y * y), [((-3, 3), (-3, 3)), ("any", "any"),
                                                  ("small", (-1, 1))], NOWHERE),
    "logaddexp": (lambda x, y: max(x, y) + m.log1p(m.exp(-abs(x - y))),
                  [((-3, 3), (-3, 3)), ((-1, -0.5), (-1, -0.5)), ("any", "any"),
                   ((-800, 800), (-800, 800))], lambda x, y: -0.2 < m.log(m.exp(x) + m.exp(y)) < 0.2),
    "logaddexp2": (lambda x, y: max(x, y) + m.log(1 + mpf(2) ** -abs(x - y), 2),
                   [((-3, 3), (-3, 3)), ((-1.5, -0.5), (-1.5, -0.5)), ((-800, 800), (-800, 800))],
                   lambda x, y: -0.2 < m.log(mpf(2) ** x + mpf(2) ** y, 2) < 0.2),
    "xlogy": (real(lambda x, y: x * m.log(y)), [((-3, 3), (0, 3)), ("any", (0, 1))],
              lambda x, y: abs(x) < 0.1 or abs(y - 1) < 0.1),
    "xlog1py": (real(lambda x, y: x * m.log1p(y)), [((-3, 3), (-1, 3)), ("any", (-1, 1))],
                lambda x, y: abs(x) < 0.1 or abs(y) < 0.1),
    "zeta": (lambda s, x: m.zeta(s, x), [((1.1, 20), (0.1, 30)), ((1.01, 3), (0.1, 200))], NOWHERE),
    "polygamma": (lambda x, n: m.psi(int(n), x), [((0.1, 30), "order"), ((0.01, 3), "order")],
                  NOWHERE),
}

COMPLEX = {
    "sin": m.sin, "cos": m.cos, "tan": m.tan, "asin": m.asin, "acos": m.acos, "atan": m.atan,
    "sinh": m.sinh, "cosh": m.cosh, "tanh": m.tanh, "asinh": m.asinh, "acosh": m.acosh,
    "atanh": m.atanh, "exp": m.exp, "expm1": m.expm1, "exp2": lambda z: mpf(2) ** z, "log": m.log,
    "log1p": lambda z: m.log(1 + z), "log2": lambda z: m.log(z) / m.log(2),
    "log10": lambda z: m.log(z) / m.log(10), "sqrt": m.sqrt, "reciprocal": lambda z: 1 / z,
    "rsqrt": lambda z: 1 / m.sqrt(z), "sigmoid": lambda z: 1 / (1 + m.exp(-z)),
    "silu": lambda z: z / (1 + m.exp(-z)),
}


def special_draws(rng, bits, kinds, count):
    """Like `draws`, with additional kinds for individual functions."""
    out = draws(rng, bits, [k for k in kinds if k not in ("edge", "pole", "tail")], count)
    for i in range(len(SPECIAL), len(out)):
        kind = kinds[i % len(kinds)]
        if kind == "edge":
            near = 1 - 2.0 ** -rng.randint(10, 24 if bits == 32 else 53)
            out[i] = near * rng.choice([1, -1])
        elif kind == "tail":
            out[i] = 2.0 ** -rng.uniform(2, 126 if bits == 32 else 1022)
            out[i] = narrow(out[i], bits)
        elif kind == "pole":
            out[i] = narrow(-rng.randint(1, 20) + rng.choice([1, -1]) * 2.0 ** -rng.randint(3, 45),
                            bits)
    return out


def finite(*xs):
    return all(x == x and abs(x) != INF for x in xs)


def line(inputs, value, bits, zero):
    cells = [pack(x, bits) for x in inputs]
    cells += [pack(v, bits) if v == v else "nan" for v in value]
    return ",".join(cells + ["z"] * zero)


def unary(name, f, kinds, zero):
    lines = []
    for bits, count in (64, 200), (32, 150):
        rng = random.Random(f"{name}{bits}")
        for x in special_draws(rng, bits, kinds, count):
            if not finite(x) or x == 0.0:
                continue  # the tests check limits themselves
            try:
                exact = mpf(x)
                mp.dps = 60 + (320 if abs(x) > 1e15 or abs(x) < 1e-15 else 0)
                value = to_float(f(exact), bits)
                mp.dps = 60
            except ZeroDivisionError:
                continue
            lines.append(line([x], [value], bits, finite(value) and bool(zero(exact))))
    return lines


def binary(name, f, kinds, zero):
    lines = []
    for bits, count in (64, 150), (32, 110):
        rng = random.Random(f"{name}{bits}")
        for i in range(count):
            pair = []
            for kind in kinds[i % len(kinds)]:
                if kind == "whole":
                    pair.append(float(rng.randint(-9, 9)))
                elif kind == "order":
                    pair.append(float(rng.randint(1, 6)))
                else:
                    pair.append(draws(rng, bits, [kind], len(SPECIAL) + 1)[-1])
            if "any" in kinds[i % len(kinds)] and name in ("hypot", "atan2"):
                pair[1] = narrow(pair[0] * rng.uniform(-4, 4), bits)
            x, y = map(mpf, pair)
            mp.dps = 60 if name in ("zeta", "polygamma") else 400
            value = to_float(f(x, y), bits)
            mp.dps = 60
            lines.append(line(pair, [value], bits, finite(value) and bool(zero(x, y))))
    return lines


def complex_(name, f):
    lines = []
    for bits, count in (64, 60), (32, 40):
        rng = random.Random(f"{name}{bits}")
        for i in range(count):
            kind = [(-1.5, 1.5), "circle", (-6, 6), "small"][i % 4]
            if kind == "circle":
                # Close to the circle the real part of the logarithm vanishes; close to ±1 and ±i most other parts do.
                center = rng.choice([1, -1, 1j, -1j, m.expjpi(rng.uniform(-1, 1))])
                center *= 1 + 2.0 ** -rng.randint(3, 40) * rng.choice([1, -1])
                parts = [narrow(float(x), bits) for x in (m.re(center), m.im(center))]
                parts[rng.randint(0, 1)] += narrow(2.0 ** -rng.randint(3, 40), bits)
                parts = [narrow(x, bits) for x in parts]
            else:
                parts = [draws(rng, bits, [kind], len(SPECIAL) + 1)[-1] for _ in range(2)]
            if 0 in parts:
                continue  # the sign of zero decides on the cuts, and mpmath has no signed zeros
            value = f(mpc(*parts))
            lines.append(line(parts, [to_float(value.real, bits), to_float(value.imag, bits)],
                              bits, False))
    return lines


def chebyshev(f, n=80):
    """Returns the significant coefficients, by interpolation at Chebyshev nodes."""
    angles = [m.pi * (k + mpf("0.5")) / n for k in range(n)]
    values = [f(m.cos(a)) for a in angles]
    found = [sum(v * m.cos(j * a) for v, a in zip(values, angles)) * (2 if j else 1) / n
             for j in range(40)]
    last = max(j for j, c in enumerate(found) if abs(c) > abs(found[0]) * mpf(10) ** -18)
    return found[:last + 1]


def bessel_coefficients():
    for order in 0, 1:
        # For order 1, a factor that makes the function equally large at 8 and at 0.
        level = lambda x: (1 + x / 2) ** 2 / x if order else 1
        near = lambda x: bessel(order, True)(x) * level(x)
        print(f"I{order}_NEAR", *map(repr, map(float, chebyshev(lambda t: near(4 * (t + 1))))))
        far = lambda x: m.besseli(order, x) * m.exp(-x) * m.sqrt(x)
        print(f"I{order}_FAR", *map(repr, map(float, chebyshev(lambda t: far(16 / (t + 1))))))


def main():
    if "--bessel" in sys.argv:
        return bessel_coefficients()
    OUT.mkdir(parents=True, exist_ok=True)
    only = sys.argv[1:]
    for name, row in UNARY.items():
        if not only or name in only:
            (OUT / f"{name}.csv").write_text("\n".join(unary(name, *row)) + "\n")
    for name, row in BINARY.items():
        if not only or name in only:
            (OUT / f"{name}.csv").write_text("\n".join(binary(name, *row)) + "\n")
    for name, f in COMPLEX.items():
        if not only or name in only:
            (OUT / f"complex_{name}.csv").write_text("\n".join(complex_(name, f)) + "\n")


if __name__ == "__main__":
    main()
