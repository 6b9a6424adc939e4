#!/usr/bin/env python3
"""Writes tests/data/edges.csv: values and derivatives of elementwise operators at the ends of each dtype's range.

    pip install mpmath sympy && scripts/edge_tables.py [OPERATOR]...

A line is `operator,dtype,inputs,results`. Inputs and results are decimal numbers, separated by spaces. Inputs are exact in the dtype. Results are rounded to f64, or
to ten digits for narrower dtypes, from at least 25 correct digits: the value, then for order 1 the derivative with respect to each operand, then for order 2 the upper
triangle of the matrix of second derivatives. At an infinity or a removable singularity of the formula, a result is the limit; `?` marks a
result without a limit (a kink, a pole with both signs, an oscillation).

sympy computes the derivatives, and mpmath evaluates them with a precision that is doubled until two results agree.
"""

import math
import pathlib
import sys

import mpmath as m
import sympy as s
from mpmath import mp, mpf

OUT = pathlib.Path(__file__).parent.parent / "tests" / "data" / "edges.csv"
x, y = s.symbols("x y", real=True)

# The rounding of each dtype: bits of the mantissa, least and greatest exponent.
FORMATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}

half = s.Rational(1, 2)
Phi = s.erfc(-x / s.sqrt(2)) / 2
sigmoid = lambda t: 1 / (1 + s.exp(-t))
softplus = s.log(1 + s.exp(x))


def number(text):
    """Returns the exact value of a double constant in the code."""
    return s.Rational(*float(text).as_integer_ratio())


SELU_SCALE, SELU_ALPHA = number(1.0507009873554805), number(1.6732632423543772)
SQRT_2_PI = number(0.7978845608028654)

# A formula; for functions with kinks, pieces of (condition on numbers, formula).
UNARY = {
    "abs": [(lambda v: v > 0, x), (lambda v: v < 0, -x)],
    "acos": s.acos(x),
    "acosh": s.acosh(x),
    "asin": s.asin(x),
    "asinh": s.asinh(x),
    "atan": s.atan(x),
    "atanh": s.atanh(x),
    "celu": [(lambda v: v > 0, x), (lambda v: v <= 0, s.exp(x) - 1)],
    "cos": s.cos(x),
    "cosh": s.cosh(x),
    "deg2rad": x * s.pi / 180,
    "digamma": s.digamma(x),
    "elu": [(lambda v: v > 0, x), (lambda v: v <= 0, s.exp(x) - 1)],
    "entr": -x * s.log(x),
    "erf": s.erf(x),
    "erfc": s.erfc(x),
    "erfcx": s.exp(x * x) * s.erfc(x),
    "exp": s.exp(x),
    "exp2": s.exp(x * s.log(2)),
    "expm1": s.exp(x) - 1,
    "gelu": x * Phi,
    "gelu_tanh": x / 2 * (1 + s.tanh(SQRT_2_PI * (x + number(0.044715) * x**3))),
    "hardsigmoid": [(lambda v: v < -3, s.Integer(0)), (lambda v: -3 < v < 3, x / 6 + half), (lambda v: v > 3, s.Integer(1))],
    "hardswish": [(lambda v: v < -3, s.Integer(0)), (lambda v: -3 < v < 3, x * (x / 6 + half)), (lambda v: v > 3, x)],
    "hardtanh": [(lambda v: abs(v) < 1, x), (lambda v: v > 1, s.Integer(1)), (lambda v: v < -1, s.Integer(-1))],
    "i0": s.besseli(0, x),
    "i0e": [(lambda v: v > 0, s.besseli(0, x) * s.exp(-x)), (lambda v: v < 0, s.besseli(0, x) * s.exp(x))],
    "i1": s.besseli(1, x),
    "i1e": [(lambda v: v > 0, s.besseli(1, x) * s.exp(-x)), (lambda v: v < 0, s.besseli(1, x) * s.exp(x))],
    "leaky_relu": [(lambda v: v > 0, x), (lambda v: v < 0, x * number(0.01))],
    "lgamma": s.loggamma(x),
    "log": s.log(x),
    "log10": s.log(x) / s.log(10),
    "log1p": s.log(1 + x),
    "log2": s.log(x) / s.log(2),
    "log_ndtr": s.log(Phi),
    "logit": s.log(x / (1 - x)),
    "logsigmoid": -s.log(1 + s.exp(-x)),
    "mish": x * s.tanh(softplus),
    "ndtr": Phi,
    "neg": -x,
    "rad2deg": x * 180 / s.pi,
    "reciprocal": 1 / x,
    "relu": [(lambda v: v > 0, x), (lambda v: v < 0, s.Integer(0))],
    "relu6": [(lambda v: v < 0, s.Integer(0)), (lambda v: 0 < v < 6, x), (lambda v: v > 6, s.Integer(6))],
    "rsqrt": 1 / s.sqrt(x),
    "selu": [(lambda v: v > 0, SELU_SCALE * x), (lambda v: v < 0, SELU_SCALE * SELU_ALPHA * (s.exp(x) - 1))],
    "sgn": [(lambda v: v > 0, s.Integer(1)), (lambda v: v < 0, s.Integer(-1))],
    "sigmoid": sigmoid(x),
    "silu": x * sigmoid(x),
    "sin": s.sin(x),
    "sinc": s.sin(s.pi * x) / (s.pi * x),
    "sinh": s.sinh(x),
    "softplus": [(lambda v: v <= 20, softplus), (lambda v: v > 20, x)],
    "softshrink": [(lambda v: abs(v) < 0.5, s.Integer(0)), (lambda v: v > 0.5, x - half), (lambda v: v < -0.5, x + half)],
    "softsign": [(lambda v: v >= 0, x / (1 + x)), (lambda v: v < 0, x / (1 - x))],
    "sqrt": s.sqrt(x),
    "square": x * x,
    "tan": s.tan(x),
    "tanh": s.tanh(x),
    "tanhshrink": x - s.tanh(x),
}

BINARY = {
    "add": x + y,
    "sub": x - y,
    "mul": x * y,
    "div": x / y,
    "pow": x**y,
    "atan2": s.atan2(x, y),
    "hypot": s.sqrt(x * x + y * y),
    "logaddexp": s.log(s.exp(x) + s.exp(y)),
    "logaddexp2": s.log(2**x + 2**y) / s.log(2),
    "xlogy": x * s.log(y),
    "xlog1py": x * s.log(1 + y),
    "ldexp": x * 2**y,
    "squared_error": (x - y) ** 2,
    "gated": x * sigmoid(y),
    "soft_margin": s.log(1 + s.exp(-x * y)),
    "divergence": y * (s.log(y) - x),
    "log_divergence": s.exp(y) * (y - x),
}

# Functions that mpmath evaluates slowly: fewer digits, and no numbers whose exponential is beyond every dtype.
SLOW = {"digamma", "lgamma", "i0", "i0e", "i1", "i1e"}
# Functions without a limit at an infinity, or whose limit mpmath cannot evaluate; `sinc` of infinity is NaN as in PyTorch.
NO_LIMIT = {"sin", "cos", "tan", "sinc"} | SLOW


def rounded(value, dtype):
    """Rounds a number to a float of a dtype."""
    digits, least, most = FORMATS[dtype]
    if math.isinf(value) or value == 0:
        return value
    mantissa, exponent = math.frexp(value)
    step = max(exponent - digits, least - digits + 1)
    whole = round(math.ldexp(mantissa, min(exponent - step, digits)))
    result = math.ldexp(float(whole), step)
    top = math.ldexp(2 - math.ldexp(1, 1 - digits), most)
    return math.copysign(min(abs(result), top), value)


def points(dtype):
    """Returns numbers from the ends and the middle of a dtype's range, of both signs."""
    digits, least, most = FORMATS[dtype]
    top = math.ldexp(2 - math.ldexp(1, 1 - digits), most)
    magnitudes = [0.0, math.ldexp(1, least - digits + 1), math.ldexp(1, least), math.ldexp(3, least // 2), math.ldexp(1, -digits)]
    magnitudes += [1e-30, 1e-12, 1e-6, 1e-3, 0.1, 0.3, 0.45, 0.75, 1 - math.ldexp(1, -digits), 1.0, 1 + math.ldexp(1, 1 - digits)]
    magnitudes += [1.5, 2.0, 2.5, 3.5, 5.0, 8.0, 13.0, 19.0, 21.0, 40.0, 80.0, 100.0, 300.0, 600.0, 700.0, 1e4, 1e6]
    magnitudes += [top ** (1 / 3), math.sqrt(top) * 1.5, top**0.75, top / 4, top, math.inf]
    found = set()
    for magnitude in magnitudes:
        own = rounded(magnitude, dtype)
        if magnitude and not own:
            continue
        found |= {own, -own} if own else {0.0}
    return sorted(found)


def pairs(dtype):
    """Returns pairs of numbers from the ends and the middle of a dtype's range."""
    digits, least, most = FORMATS[dtype]
    top = math.ldexp(2 - math.ldexp(1, 1 - digits), most)
    few = [0.0, math.ldexp(1, least), 1e-3, 0.75, 2.5, 20.0, math.sqrt(top) * 1.5, top / 4]
    signed = {rounded(v, dtype) for v in few} | {-rounded(v, dtype) for v in few if v}
    return [(a, b) for a in sorted(signed) for b in sorted(signed)]


# The first exceeds the bits that `1 + exp(x)` cancels, for the exponential of a number of any dtype.
PRECISIONS = (1600, 3200, 6400, 12800)


def evaluate(function, at, most=PRECISIONS[-1]):
    """Evaluates a function at exact numbers: an mpf of 25 digits, or `None` if it has no real value."""
    before = None
    for precision in [p for p in PRECISIONS if p <= most]:
        with mp.workprec(precision):
            try:
                value = function(*[mpf(v) for v in at])
            except (ZeroDivisionError, ValueError, OverflowError, m.libmp.NoConvergence, TypeError, NotImplementedError):
                return None
            if isinstance(value, m.mpc) or (hasattr(value, "imag") and value.imag != 0):
                return None
            value = +mpf(value.real if hasattr(value, "real") else value)
            if m.isnan(value):
                return None
            if m.isinf(value):
                return value
            close = before is not None and abs(value - before) <= abs(value) * m.ldexp(1, -80)
            # A zero may be due to cancellation, so only the greatest precision decides.
            if close and value:
                return value
            if precision == most:
                return mpf(0) if abs(value) < m.ldexp(1, -1200) else None
            before = value
    return None


def text(value):
    """Formats a number so that it parses to the nearest double."""
    if value is None:
        return "?"
    if abs(value) >= m.ldexp(1, 1024):
        return "inf" if value > 0 else "-inf"
    return repr(float(value) or 0.0)


def shortened(words, dtype):
    """Formats a line's results with the digits that the dtype needs."""
    short = lambda word: word if dtype == "f64" or len(word) < 12 else "%.10g" % float(word)
    return " ".join(map(short, words))


def limit(near, nearer):
    """Returns the limit of a function as text, from its values at two numbers, the second of which is closer."""
    if near is None or nearer is None or near * nearer < 0:
        return "?"
    if abs(nearer - near) <= abs(near) * m.mpf(10) ** -18:
        return text(nearer)
    ratio = abs(nearer) / abs(near) if near else 0
    if ratio < 0.5:
        return "0.0"
    grows = ratio > 1.1 and abs(nearer) > 30
    return ("inf" if nearer > 0 else "-inf") if grows else "?"


HUGE = [mpf(10) ** 25, mpf(10) ** 28 * 7 / 3]
TINY = [mpf(10) ** -700, mpf(10) ** -703 * 7 / 3]


def result(function, at, limits, most):
    """Returns the table's result at a point; `limits` permits limits at zeros and infinities."""
    if not any(math.isinf(v) for v in at):
        value = evaluate(function, at, most)
        if value is not None:
            return text(value)
    if not limits:
        return "?"
    found = set()
    for sign in (1, -1):
        near = [[{0: tiny * sign, math.inf: huge, -math.inf: -huge}.get(v, mpf(v)) for v in at] for tiny, huge in zip(TINY, HUGE)]
        found.add(limit(*[evaluate(function, own, most) for own in near]))
    return found.pop() if len(found) == 1 else "?"


def lambdify(arguments, formula):
    modules = [{"besseli": m.besseli, "polygamma": lambda n, t: m.psi(n, t), "digamma": lambda t: m.psi(0, t)}, "mpmath"]
    return s.lambdify(arguments, formula, modules=modules)


def piece(formula, v):
    if not isinstance(formula, list):
        return formula
    return next((own for holds, own in formula if holds(v)), None)


def unary(lines, name, formula):
    made = {}
    for dtype in FORMATS:
        for v in points(dtype):
            own = piece(formula, v)
            if own is None:
                continue
            if own not in made:
                made[own] = [lambdify([x], own.diff(x, k) if k else own) for k in range(3)]
            if math.isinf(v) and name in NO_LIMIT:
                continue
            limits = not isinstance(formula, list) or v != 0
            if name in SLOW and abs(v) > 750:
                continue
            most = 3200 if name in SLOW else PRECISIONS[-1]
            results = [result(f, [v], limits, most) for f in made[own]]
            if name == "softsign" and v == 0:
                # The second derivative jumps.
                results[2] = "?"
            if results[0] != "?":
                lines.append(f"{name},{dtype},{v!r},{shortened(results, dtype)}")


def binary(lines, name, formula):
    orders = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
    made = [lambdify([x, y], formula.diff(x, a, y, b) if a or b else formula) for a, b in orders]
    for dtype in FORMATS:
        for a, b in pairs(dtype):
            results = [result(f, [a, b], False, PRECISIONS[-1]) for f in made]
            if results[0] != "?":
                lines.append(f"{name},{dtype},{a!r} {b!r},{shortened(results, dtype)}")


def main():
    wanted = sys.argv[1:]
    lines = []
    for name, formula in UNARY.items():
        if not wanted or name in wanted:
            unary(lines, name, formula)
            print(name, len(lines), file=sys.stderr, flush=True)
    for name, formula in BINARY.items():
        if not wanted or name in wanted:
            binary(lines, name, formula)
            print(name, len(lines), file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    if wanted:
        sys.stdout.write(text)
    else:
        OUT.write_text(text)


main()
