"""Library of WGSL functions that the language lacks or does not specify exactly.

In the source, F I U B stand for the vector types of floats, signed and unsigned integers of their
width, and bools; W for that of 32-bit words; D L X for float64 and its integers; S for one float.
"""

from __future__ import annotations

import re

from runmat_jit.core.frozen import frozen


@frozen
class LibraryFunction:
    """WGSL source of a function, and the names of the library functions that it calls."""

    text: str
    needs: tuple[str, ...] = ()


_KEEP = "fn NAME(x: F) -> F { return bitcast<F>(bitcast<U>(x) | U(ZERO)); }"
_NAN = "fn NAME(x: F) -> B { return (bitcast<U>(x) & U(MAGNITUDE)) > U(INFINITY); }"
_NOT_FINITE = "fn NAME(x: F) -> B { return (bitcast<U>(x) & U(INFINITY)) == U(INFINITY); }"
_COPYSIGN = """fn NAME(x: F, sign: F) -> F {
  return bitcast<F>((bitcast<U>(x) & U(MAGNITUDE)) | (bitcast<U>(sign) & U(SIGN)));
}"""
_MIN = "fn NAME(a: F, b: F) -> F { return select(b, a, (keep(a) < b) | nan(a)); }"
_MAX = "fn NAME(a: F, b: F) -> F { return select(b, a, (keep(a) > b) | nan(a)); }"

# For adapters that take subnormal numbers for zeros, or round wrongly: by the bits alone.
_NEG = "fn NAME(x: F) -> F { return bitcast<F>(bitcast<U>(x) ^ U(SIGN)); }"
_ABS = "fn NAME(x: F) -> F { return bitcast<F>(bitcast<U>(x) & U(MAGNITUDE)); }"
_ORDER = """fn NAME(x: F) -> I {
  let b = bitcast<U>(x);
  return bitcast<I>(select(b, U(SIGN) - b, b >= U(SIGN)));
}"""
_MIN_BITS = """fn NAME(a: F, b: F) -> F {
  return select(b, a, ((order(a) < order(b)) & !nan(b)) | nan(a));
}"""
_MAX_BITS = """fn NAME(a: F, b: F) -> F {
  return select(b, a, ((order(a) > order(b)) & !nan(b)) | nan(a));
}"""
_TRUNC_FLOAT = """fn NAME(x: F) -> F {
  let b = bitcast<U>(x);
  let e = bitcast<I>((b & U(INFINITY)) >> V(FRACTION)) - I(HIGHEST);
  let places = V(clamp(e, I(NOUGHT), I(PLACES)));
  let kept = select(b & (U(SIGN | INFINITY) | ~(U(BELOW) >> places)), b & U(SIGN), e < I(NOUGHT));
  return bitcast<F>(select(kept, b, e >= I(PLACES)));
}"""
_FLOOR = """fn NAME(x: F) -> F {
  let b = bitcast<U>(x);
  let t = trunc_float(x);
  return select(t, t - F(1.0), (bitcast<U>(t) != b) & ((b & U(SIGN)) != U(NONE)));
}"""
_CEIL = """fn NAME(x: F) -> F {
  let b = bitcast<U>(x);
  let t = trunc_float(x);
  return select(t, t + F(1.0), (bitcast<U>(t) != b) & ((b & U(SIGN)) == U(NONE)));
}"""
_RINT = """fn NAME(x: F) -> F {
  let size = bitcast<F>(bitcast<U>(x) & U(MAGNITUDE));
  let near = keep(keep(size + F(UNIT)) - F(UNIT));
  let whole = bitcast<F>(bitcast<U>(near) | (bitcast<U>(x) & U(SIGN)));
  return select(x, whole, size < F(UNIT));
}"""
_EXTEND = """fn NAME(x: F) -> D {
  let b = bitcast<U>(x);
  let small = D(b & U(0x7fffffu)) * D(0x1p-149lf);
  let result = bitcast<D>(bitcast<X>(small) | (X(b & U(SIGN)) << V(32u)));
  return select(D(x), result, (b & U(INFINITY)) == U(NONE));
}"""
_TRUNCATE = """fn NAME(x: D) -> F {
  let b = bitcast<X>(x);
  let small = U(bitcast<X>(abs(x) * D(0x1p149lf) + D(0x1p52lf)));
  let result = bitcast<F>(small | (U(b >> V(32u)) & U(SIGN)));
  return select(F(x), result, (b & X(0x7ffffffffffffffflu)) < X(0x3810000000000000lu));
}"""

# The part of 2**n beyond the range of normal powers comes first: there is one rounding.
_SCALE2 = """fn NAME(x: F, n: F) -> F {
  let m = W(clamp(n, F(-LIMIT), F(LIMIT)));
  let last = clamp(m, W(LOWEST), W(HIGHEST));
  let first = m - last;
  let y = keep(x * bitcast<F>(I(first + W(HIGHEST)) << V(FRACTION)));
  return keep(y * bitcast<F>(I(last + W(HIGHEST)) << V(FRACTION)));
}"""

# The product is exact in float64, the sum is rounded to odd, and then once to float32. What is
# rounded to float32 is kept: drivers take float64 back where it is wanted next.
_FMA_F32 = """fn NAME(a: F, b: F, c: F) -> F {
  let z = X(u64(zero));
  let p = bitcast<D>(bitcast<X>(D(a) * D(b)) | z);
  let q = D(c);
  let s = bitcast<D>(bitcast<X>(p + q) | z);
  let t = bitcast<D>(bitcast<X>(s - p) | z);
  let u = bitcast<D>(bitcast<X>(s - t) | z);
  let v = bitcast<D>(bitcast<X>(p - u) | z);
  let w = bitcast<D>(bitcast<X>(q - t) | z);
  let e = bitcast<D>(bitcast<X>(v + w) | z);
  let bits = bitcast<L>(s);
  let up = (e > D(0.0lf)) == (s > D(0.0lf));
  let odd = bits + select(L(-1li), L(1li), up);
  let inexact = ((bitcast<X>(e) << V(1u)) != X(0lu)) & ((bits & L(1li)) == L(0li));
  return keep(F(bitcast<D>(select(bits, odd, inexact & (abs(s) < D(0x1p1000lf))))));
}"""

# Boldo and Melquiond (2008): the two low parts are added with rounding to odd. Large factors are
# scaled, so that nothing overflows; exact unless the product, or its error, is subnormal.
_FMA_F64 = """fn NAME(x: F, y: F, z: F) -> F {
  let down = F(0x1p-520lf);
  let large_x = abs(x) > F(0x1p500lf);
  let large_y = abs(y) > F(0x1p500lf);
  let a = keep(select(x, x * down, large_x));
  let b = keep(select(y, y * down, large_y));
  let c0 = keep(select(z, z * down, large_x));
  let c = keep(select(c0, c0 * down, large_y));
  let p = keep(a * b);
  let ga = keep(a * F(134217729.0lf));
  let gb = keep(b * F(134217729.0lf));
  let ah = keep(ga - keep(ga - a));
  let bh = keep(gb - keep(gb - b));
  let al = keep(a - ah);
  let bl = keep(b - bh);
  let e = keep(keep(keep(keep(ah * bh) - p) + keep(ah * bl)) + keep(al * bh));
  let low = keep(e + keep(al * bl));
  let t = keep(c + low);
  let tb = keep(t - c);
  let tl = keep(keep(c - keep(t - tb)) + keep(low - tb));
  let v = keep(p + t);
  let vb = keep(v - p);
  let vl = keep(keep(p - keep(v - vb)) + keep(t - vb));
  let s = keep(tl + vl);
  let sb = keep(s - tl);
  let error = keep(keep(tl - keep(s - sb)) + keep(vl - sb));
  let bits = bitcast<I>(s);
  let up = (error > F(0.0lf)) == (s > F(0.0lf));
  let odd = bits + select(I(-1li), I(1li), up);
  let inexact = ((bitcast<U>(error) << V(1u)) != U(0lu)) & ((bits & I(1li)) == I(0li));
  let sum = keep(v + bitcast<F>(select(bits, odd, inexact)));
  let finite = (bitcast<U>(low) & U(INFINITY)) != U(INFINITY);
  let usual = finite & ((bitcast<U>(v) & U(INFINITY)) != U(INFINITY));
  let r0 = select(keep(p + c), sum, usual & ((bitcast<U>(sum) << V(1u)) != U(0lu)));
  let r1 = keep(select(r0, r0 * F(0x1p520lf), large_x));
  let r2 = keep(select(r1, r1 * F(0x1p520lf), large_y));
  return select(r2, keep(keep(x * y) + z), (bitcast<U>(p) << V(1u)) == U(0lu));
}"""

# Rounding twice is harmless: float64 has more than twice the digits.
_DIVIDE_WIDE = "fn NAME(a: F, b: F) -> F { return keep(F(D(a) / D(b))); }"
_SQRT_WIDE = "fn NAME(x: F) -> F { return keep(F(sqrt(D(x)))); }"

# One step with the remainder, which fma makes exact; extreme numbers stay as the adapter has them.
_DIVIDE_NARROW = """fn NAME(a: F, b: F) -> F {
  let q = a / b;
  let better = fma(fma(-q, b, a), F(1.0) / b, q);
  let size = abs(q);
  let usual = (size > F(0x1p-100f)) & (size < F(0x1p100f)) & (abs(b) > F(0x1p-60f));
  return select(q, better, usual & (abs(b) < F(0x1p60f)));
}"""
# Products with the reciprocal, and one step with the remainder. What is not finite has no
# remainder; a divisor whose reciprocal may be subnormal is left to the adapter.
_DIVIDE_UNIFORM = """fn NAME(a: F, b: S) -> F {
  let size = abs(b);
  if (size > S(0x1p-100f) && size < S(0x1p100f)) {
    let r0 = S(1.0) / b;
    let r = F(fma(fma(-b, r0, S(1.0)), r0, r0));
    let q = a * r;
    let better = fma(fma(F(-b), q, a), r, q);
    return select(q, better, abs(q) < F(LARGEST));
  }
  let s = select(S(1.0), S(0.25), size >= S(TOO_LARGE));
  return (a * F(s)) / F(b * s);
}"""

# The reciprocal of a divisor this large is subnormal, and zero to most adapters.
_DIVIDE_BY_LARGE = """fn NAME(a: F, b: F) -> F {
  let s = select(F(1.0), F(0.25), abs(b) >= F(TOO_LARGE));
  return (a * s) / (b * s);
}"""
_SQRT_NARROW = """fn NAME(x: F) -> F {
  let r = sqrt(x);
  let better = fma(fma(-r, r, x), F(0.5) / r, r);
  return select(r, better, (x > F(0x1p-60f)) & (x < F(0x1p100f)));
}"""

_MULHI_WIDE = """fn NAME(a: I, b: I) -> I {
  return bitcast<I>(W32((X(bitcast<U>(a)) * X(bitcast<U>(b))) >> V(32u)));
}"""
_MULHI_NARROW = """fn NAME(a: I, b: I) -> I {
  let x = bitcast<U>(a);
  let y = bitcast<U>(b);
  let low = U(0xffffu);
  let middle = (x >> V(16u)) * (y & low) + (((x & low) * (y & low)) >> V(16u));
  let cross = (x & low) * (y >> V(16u)) + (middle & low);
  return bitcast<I>((x >> V(16u)) * (y >> V(16u)) + (middle >> V(16u)) + (cross >> V(16u)));
}"""

_TEXTS = {
    "keep": LibraryFunction(_KEEP),
    "nan": LibraryFunction(_NAN),
    "not_finite": LibraryFunction(_NOT_FINITE),
    "copysign": LibraryFunction(_COPYSIGN),
    "min": LibraryFunction(_MIN, ("keep", "nan")),
    "max": LibraryFunction(_MAX, ("keep", "nan")),
    "scale2": LibraryFunction(_SCALE2, ("keep",)),
    "div_uniform": LibraryFunction(_DIVIDE_UNIFORM),
    "div_by_large": LibraryFunction(_DIVIDE_BY_LARGE),
    "neg": LibraryFunction(_NEG),
    "abs": LibraryFunction(_ABS),
    "order": LibraryFunction(_ORDER),
    "min_bits": LibraryFunction(_MIN_BITS, ("order", "nan")),
    "max_bits": LibraryFunction(_MAX_BITS, ("order", "nan")),
    "trunc_float": LibraryFunction(_TRUNC_FLOAT),
    "floor": LibraryFunction(_FLOOR, ("trunc_float",)),
    "ceil": LibraryFunction(_CEIL, ("trunc_float",)),
    "rint": LibraryFunction(_RINT, ("keep",)),
    "fpext": LibraryFunction(_EXTEND),
    "fptrunc": LibraryFunction(_TRUNCATE),
}
_OF_TYPE = {
    ("fma", "f32"): LibraryFunction(_FMA_F32, ("keep",)),
    ("fma", "f64"): LibraryFunction(_FMA_F64, ("keep",)),
}
_BY_WIDTH = {
    ("div", True): LibraryFunction(_DIVIDE_WIDE, ("keep",)),
    ("sqrt", True): LibraryFunction(_SQRT_WIDE, ("keep",)),
    ("div", False): LibraryFunction(_DIVIDE_NARROW),
    ("sqrt", False): LibraryFunction(_SQRT_NARROW),
    ("mulhi", True): LibraryFunction(_MULHI_WIDE),
    ("mulhi", False): LibraryFunction(_MULHI_NARROW),
}
_NUMBERS = {
    "f32": {
        "MAGNITUDE": "0x7fffffffu",
        "INFINITY": "0x7f800000u",
        "SIGN": "0x80000000u",
        "NONE": "0u",
        "NOUGHT": "0",
        "PLACES": "23",
        "BELOW": "0x007fffffu",
        "UNIT": "0x1p23f",
        "ZERO": "other_zero",
        "LARGEST": "0x1p127f",
        "TOO_LARGE": "0x1p126f",
        "LIMIT": "252.0f",
        "LOWEST": "-126",
        "HIGHEST": "127",
        "FRACTION": "23u",
    },
    "f64": {
        "MAGNITUDE": "0x7ffffffffffffffflu",
        "INFINITY": "0x7ff0000000000000lu",
        "SIGN": "0x8000000000000000lu",
        "NONE": "0lu",
        "NOUGHT": "0li",
        "PLACES": "52li",
        "BELOW": "0x000ffffffffffffflu",
        "UNIT": "0x1p52lf",
        "ZERO": "u64(other_zero)",
        "LARGEST": "0x1p1023lf",
        "TOO_LARGE": "0x1p1022lf",
        "LIMIT": "2044.0lf",
        "LOWEST": "-1022",
        "HIGHEST": "1023",
        "FRACTION": "52u",
    },
}
_NUMBERS["i32"] = _NUMBERS["f32"]
_OWN_TYPES = {
    "f32": {"F": "f32", "I": "i32", "U": "u32"},
    "f64": {"F": "f64", "I": "i64", "U": "u64"},
    "i32": {"F": "f32", "I": "i32", "U": "u32"},
}
_FIXED_TYPES = {
    "B": "bool",
    "W": "i32",
    "V": "u32",
    "W32": "u32",
    "D": "f64",
    "L": "i64",
    "X": "u64",
}


def library_function(name: str, kind: str, width: int, *, wide: bool) -> LibraryFunction:
    """The function ``name`` for vectors of ``width`` lanes of a type; 1: for scalars.

    Args:
        name: ``keep nan not_finite copysign min max scale2 fma div div_uniform div_by_large sqrt
            mulhi``; where subnormal numbers are flushed ``neg abs order min_bits max_bits fpext``
            and ``fptrunc``; where rounding to whole numbers is wrong ``trunc_float floor ceil``
            and ``rint``.
        kind: ``f32`` or ``f64``; ``i32`` for ``mulhi``.
        width: Lanes.
        wide: Whether 64-bit types may be used where the function's own type is narrower.

    """
    found = _TEXTS.get(name) or _OF_TYPE.get((name, kind)) or _BY_WIDTH[name, wide]
    vectors = {
        letter: f"vec{width}<{scalar}>" if width > 1 else scalar
        for letter, scalar in {**_OWN_TYPES[kind], **_FIXED_TYPES}.items()
    }
    vectors["S"] = _OWN_TYPES[kind]["F"]
    words = {**_NUMBERS[kind], **vectors, "NAME": f"{name}_{kind}_{width}"}
    words |= {needed: f"{needed}_{kind}_{width}" for needed in found.needs}
    text = re.sub(r"\b[A-Za-z]\w*\b", lambda m: words.get(m[0], m[0]), found.text)
    return LibraryFunction(text, found.needs)
