#!/usr/bin/env python3
"""Prints the coefficients of the polynomials of runtime/src/cpu/numeric/{double,single}.

    pip install mpmath && scripts/minimax.py [NAME...]

Remez' exchange (E. Ya. Remez, 1934; N. J. Trefethen, Approximation Theory and Approximation Practice, chapter
10), with 50 digits: among all polynomials of a degree, it finds the one with the least maximum of the weighted error. Each
line has a name, the binary logarithm of that error, and the coefficients from the highest down, to be rounded to f64 or f32.
"""

import sys

import mpmath as m
from mpmath import mp, mpf

mp.dps = 50


def minimax(f, a, b, count, weight=lambda _: 1):
    """Returns the best polynomial with `count` coefficients for f between a and b, and its greatest error."""
    a, b = mpf(a), mpf(b)
    steps = 24 * (count + 2)
    grid = [(a + b) / 2 - (b - a) / 2 * m.cos(m.pi * k / steps) for k in range(steps + 1)]
    values, weights = [f(x) for x in grid], [mpf(weight(x)) for x in grid]
    at = [round(steps * k / count) for k in range(count + 1)]
    for _ in range(30):
        rows = [[grid[i] ** j for j in range(count)] + [(-1) ** k / weights[i]]
                for k, i in enumerate(at)]
        *found, level = m.lu_solve(m.matrix(rows), m.matrix([values[i] for i in at]))
        errors = [(m.polyval(found[::-1], x) - v) * w for x, v, w in zip(grid, values, weights)]
        # The greatest error in every interval between changes of sign.
        peaks = []
        for i, e in enumerate(errors):
            if peaks and (errors[peaks[-1]] > 0) == (e > 0):
                if abs(e) > abs(errors[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > count + 1:
            peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
        most = max(abs(e) for e in errors)
        if len(peaks) < count + 1 or peaks == at or most < abs(level) * mpf("1.001"):
            break
        at = peaks
    return found[::-1], most


HALF_LN_2 = m.log(2) / 2 * mpf("1.001")
QUARTER = m.pi / 4 * mpf("1.0001")


def near_one(z):
    """2 artanh(s) / s as a function of s², from the third term on."""
    s = m.sqrt(z)
    return (2 * m.atanh(s) / s - 2 - 2 * z / 3) / z**2


def steep(a):
    """The weight of an error in -ln erfc, as an error in erf."""
    return m.erfc(a) / m.erf(a)


TAIL = 4


def scaled_tail(u):
    """exp(a²) erfc(a) (1 + a / 4), as a function of u = 1 / (1 + a / 4)."""
    if u == 0:
        return 1 / (TAIL * m.sqrt(m.pi))
    a = (1 / u - 1) * TAIL
    if a > 40:
        y, total, term = 1 / (2 * a * a), mpf(1), mpf(1)
        for k in range(1, 25):
            term *= -(2 * k - 1) * y
            total += term
        return total / (a * m.sqrt(m.pi)) / u
    return m.exp(a * a) * m.erfc(a) / u


def over_square(f, limit):
    """Returns a function of the square z: f(√z) / z, with its limit at zero."""
    return lambda z: f(m.sqrt(z)) / z if z else mpf(limit)


def near(weight):
    """Returns a weight that is slightly greater than `weight`, which may be zero at an end."""
    return lambda x: weight(x) + mpf(10) ** -4


def erfinv(x):
    """Refines by Newton's steps, since mpmath's result has too few digits."""
    z = m.erfinv(x)
    for _ in range(3):
        z -= (m.erf(z) - x) * m.sqrt(m.pi) / 2 * m.exp(z * z)
    return z


def far_erfinv(u):
    """Returns the number whose erfc is exp(-1/u²), multiplied by u."""
    log = -1 / u**2
    if log > -1.4:
        return erfinv(-m.expm1(log)) * u
    z = 1 / u
    for _ in range(60):
        step = (m.log(m.erfc(z)) - log) * m.erfc(z) * m.sqrt(m.pi) / 2 * m.exp(z * z)
        z += step
        if abs(step) < mpf(10) ** -40:
            break
    return z * u


def mills(a):
    """exp(a²/2) times the normal distribution function of -a."""
    return m.exp(a * a / 2) * m.erfc(a / m.sqrt(2)) / 2


def over_inverse(f, c, middle):
    """Returns f over u = 1 / (1 + a/c), as a function of u minus `middle`."""
    return lambda v: f(c / (v + mpf(middle)) - c) / (v + mpf(middle))


def lgamma(y):
    """The logarithm of the gamma function, divided by the factors of its zeros."""
    zeros = (y - 1) * (y - 2)
    if abs(zeros) > mpf(10) ** -15:
        return m.loggamma(y).real / zeros
    return m.digamma(y) / (2 * y - 3)


DIGAMMA_ROOT = m.findroot(m.digamma, mpf("1.4616"))


def digamma(y):
    """Digamma, divided by the factor of its zero."""
    less = y - DIGAMMA_ROOT
    return m.digamma(y) / less if abs(less) > mpf(10) ** -15 else m.psi(1, y)


def stirling(w):
    """z times the remainder of Stirling's formula, as a function of 1/z²."""
    if w < mpf(10) ** -12:
        return mpf(1) / 12
    z = 1 / m.sqrt(w)
    return (m.loggamma(z).real - (z - mpf(0.5)) * m.log(z) + z - m.log(2 * m.pi) / 2) * z


def far_digamma(w):
    """z² (ln z - 1/2z - ψ(z)), as a function of 1/z²."""
    if w < mpf(10) ** -12:
        return mpf(1) / 12
    z = 1 / m.sqrt(w)
    return (m.log(z) - mpf(0.5) / z - m.digamma(z)) / w


def near_bessel(order):
    """exp(-x) I(x), divided by x for order 1, as a function of x/4 - 1."""
    def f(v):
        x = 4 * (v + 1)
        if order and x == 0:
            return mpf(0.5)
        return m.besseli(order, x) * m.exp(-x) / (x if order else 1)
    return f


def far_bessel(order):
    """√x exp(-x) I(x), as a function of 16/x - 1."""
    def f(v):
        if v < -1 + mpf(10) ** -3:
            y, total, term = (v + 1) / 16, mpf(1), mpf(1)
            for k in range(1, 25):
                term *= ((2 * k - 1) ** 2 - 4 * order) * y / (8 * k)
                total += term
            return total / m.sqrt(2 * m.pi)
        x = 16 / (v + 1)
        return m.besseli(order, x) * m.exp(-x) * m.sqrt(x)
    return f


def by_square(w):
    """Returns the number whose error function is √(1 - exp(-w)), by Newton's steps."""
    if w < mpf(0.7):
        return erfinv(m.sqrt(-m.expm1(-w)))
    rest = m.exp(-w) / (1 + m.sqrt(-m.expm1(-w)))
    z = m.sqrt(max(w - m.log(m.sqrt(w) + 1), mpf(0.1)))
    for _ in range(60):
        tail = m.erfc(z)
        step = m.log(tail / rest) * tail * m.sqrt(m.pi) / 2 * m.exp(z * z)
        z += step
        if abs(step) < mpf(10) ** -30:
            break
    return z


def beyond_origin(w):
    """The excess of erfinv(x) / x over its value at zero, divided by w = -ln(1 - x²)."""
    if w < mpf(10) ** -12:
        return m.sqrt(m.pi) / 2 * m.pi / 12
    return (by_square(w) / m.sqrt(-m.expm1(-w)) - m.sqrt(m.pi) / 2) / w


def relative(f, *rest):
    """Returns a fit that minimizes the relative error."""
    return (f, *rest, lambda x: 1 / f(x))


# name: the function, the ends of the interval, the number of coefficients, the weight of an error.
FITS = {
    # (exp(r) - 1 - r) / r²
    "exp": (lambda r: (m.expm1(r) - r) / r**2 if abs(r) > 1e-12 else mpf(1) / 2 + r / 6,
            -HALF_LN_2, HALF_LN_2, 10, near(lambda r: r**2)),
    # (2^r - 1) / r
    "exp2": (lambda r: m.expm1(r * m.log(2)) / r if r else m.log(2), -0.5001, 0.5001, 12),
    # (sinh(r) / r - 1) / r² and (cosh(r) - 1) / r², as functions of the square, and so on
    "sinh": (over_square(lambda x: m.sinh(x) / x - 1, mpf(1) / 6), 0, HALF_LN_2**2, 5, near(abs)),
    "cosh": (over_square(lambda x: m.cosh(x) - 1, 0.5), 0, HALF_LN_2**2, 5, near(abs)),
    "sin": (over_square(lambda x: m.sin(x) / x - 1, -mpf(1) / 6), 0, (2 * QUARTER) ** 2, 8, near(abs)),
    "tan": (over_square(lambda x: m.tan(x) / x - 1, mpf(1) / 3), 0, QUARTER**2, 14, near(abs)),
    "atan": (over_square(lambda x: m.atan(x) / x - 1, -mpf(1) / 3), 0, 1, 20, near(abs)),
    "asin": (over_square(lambda x: m.asin(x) / x - 1, mpf(1) / 6), 0, 0.25, 13, near(abs)),
    "artanh": (lambda z: near_one(z) if z > 1e-6 else mpf(2) / 5 + 2 * z / 7, 0, 0.02945, 7,
               near(lambda z: z**2)),
    "tanh": (over_square(lambda x: 1 - m.tanh(x) / x, mpf(1) / 3), 0, 1.5, 18),
    "erf": (lambda z: m.erf(m.sqrt(z)) / m.sqrt(z) - 1 if z else 2 / m.sqrt(m.pi) - 1, 0, 1, 12),
    "exp2 of f32": (lambda r: m.expm1(r * m.log(2)) / r if r else m.log(2), -0.5001, 0.5001, 6),
    "atan of f32": (over_square(lambda x: m.atan(x) / x - 1, -mpf(1) / 3), 0, 1, 9, near(abs)),
    "asin of f32": (over_square(lambda x: m.asin(x) / x - 1, mpf(1) / 6), 0, 0.25, 5, near(abs)),
    "tanh of f32": (over_square(lambda x: 1 - m.tanh(x) / x, mpf(1) / 3), 0, 1.5, 10),
    # -ln erfc
    "erf_outer": (lambda a: -m.log(m.erfc(a)), 1, 6, 17, steep),
    # A function of u minus the middle, whose powers are small.
    "erfcx": (lambda v: scaled_tail(v + mpf(0.5)), -0.5, 0.5, 24),
    "erfinv": (lambda z: erfinv(m.sqrt(z)) / m.sqrt(z) if z else m.sqrt(m.pi) / 2, 0, 0.5625, 8),
    # A function of 1 / √-ln(1 - x) minus the middle, and divided by it.
    "erfinv_outer": (lambda v: far_erfinv(v + mpf("0.47")), 1 / mpf(27.4) - mpf("0.47"), mpf("0.43"), 16),
    "erfinv of f32": (lambda z: erfinv(m.sqrt(z)) / m.sqrt(z) if z else m.sqrt(m.pi) / 2, 0, 0.5625, 9),
    "erfinv_outer of f32": (lambda v: far_erfinv(v + mpf("0.5")), mpf("-0.405"), mpf("0.4"), 13),
    # The coefficients of these two are rounded one by one from the lowest up, and the others are fitted again.
    "ndtr of f32": relative(over_inverse(mills, 4, 0.45751953125), 0.2133 - 0.45751953125, 1 - 0.45751953125, 10),
    "erfc of f32": relative(over_inverse(lambda a: m.exp(a * a) * m.erfc(a), 2, 0.416748046875),
                            0.1632 - 0.416748046875, 1 - 0.416748046875, 11),
    "log1p of a power": relative(lambda e: m.log1p(e) / e if e else mpf(1), 0, 1, 11),
    # A function of w = -ln(1 - x²), and of its root.
    "near erfinv": (lambda v: beyond_origin(v + mpf(2.75)), -2.75, 2.75, 22,
                    lambda v: (v + mpf(2.7501)) / (m.sqrt(m.pi) / 2 + (v + mpf(2.75)) * beyond_origin(v + mpf(2.75)))),
    "far erfinv": relative(lambda v: by_square((v + mpf(3.1875)) ** 2), -0.845, 0.8126, 19),
    "farthest erfinv": relative(lambda v: by_square((v + 5) ** 2), -1, 1.05, 17),
    "lgamma": relative(lambda v: lgamma(v + mpf(1.625)), -0.625, 0.625, 23),
    "stirling": (stirling, 0, 1 / 64, 7),
    "digamma": relative(lambda v: digamma(v + mpf(1.5)), -0.5, 0.5, 22),
    "far_digamma": (far_digamma, 0, 1 / 64, 7),
    "lgamma of f32": relative(lambda v: lgamma(v + 2), -1, 1, 14),
    "stirling of f32": (stirling, 0, mpf(1) / 9, 5),
    "digamma of f32": relative(lambda v: digamma(v + mpf(1.5)), -0.5, 0.5, 11),
    "far_digamma of f32": (far_digamma, 0, 1 / 16, 4),
    "i0 of f32": relative(near_bessel(0), -1, 1, 18),
    "far_i0 of f32": relative(far_bessel(0), -1, 1, 6),
    "i1 of f32": relative(near_bessel(1), -1, 1, 18),
    "far_i1 of f32": relative(far_bessel(1), -1, 1, 6),
}


def main():
    for name in sys.argv[1:] or FITS:
        found, most = minimax(*FITS[name])
        print(f"{name}: {float(m.log(most, 2)):.1f}")
        print("".join(f"    {float(c)!r},\n" for c in found), end="")


if __name__ == "__main__":
    main()
