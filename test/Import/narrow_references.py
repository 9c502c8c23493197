"""Conversions from and to element types that are only stored: narrow_references.py FOLDER SPRIG-IMPORT-ONNX.

Of every type all patterns are widened, and every number of it, every tie between two, and the f32 beside each are
narrowed. The references search the sorted list of the type's numbers, which are written down from its definition.
"""
import array
import bisect
import math
import struct

from onnx_cases import case

INFINITE, NAN = math.inf, math.nan
# Bits of exponent and mantissa, bias, what the magnitudes above the last number are, code of NaN, of overflow.
FLOATS = {
    "float8e4m3fn": (17, 4, 3, 7, {0x7f: NAN}, 0x7f, 0x7f),
    "float8e4m3fnuz": (18, 4, 3, 8, {}, 0x80, 0x80),
    "float8e5m2": (19, 5, 2, 15, {0x7c: INFINITE, 0x7d: NAN, 0x7e: NAN, 0x7f: NAN}, 0x7e, 0x7c),
    "float8e5m2fnuz": (20, 5, 2, 16, {}, 0x80, 0x80),
    "float4e2m1": (23, 2, 1, 1, {}, 8, 7),
}


def f32(value):
    return array.array("f", [value])[0]


def beside(value):
    """The f32 next to a positive one, both sides."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return [struct.unpack("<f", struct.pack("<I", b))[0] for b in (bits - 1, bits + 1)]


for name, (code, exponents, mantissa, bias, special, nan, overflow) in FLOATS.items():
    top = 1 << (exponents + mantissa)

    def number(magnitude):
        exponent, fraction = magnitude >> mantissa, magnitude % (1 << mantissa)
        if exponent == 0:
            return fraction * 2.0**(1 - bias - mantissa)
        return (1 + fraction / (1 << mantissa)) * 2.0**(exponent - bias)

    without_sign = name.endswith("fnuz")  # where -0 would be, NaN is
    decoded = [special.get(m, number(m)) for m in range(top)]
    decoded += [-v for v in decoded]
    if without_sign:
        decoded[top] = NAN
    patterns = list(range(2 * top))
    case("widen_" + name, "y = Cast <to = 1> (x)", [("x", name, patterns)], [("y", "float", decoded)], 25)
    case("halve_" + name, "y = Cast <to = 10> (x) z = Cast <to = 1> (y)", [("x", name, patterns)],
         [("z", "float", decoded)], 25)

    finite = [number(m) for m in range(top) if m not in special]
    ties = [(a + b) / 2 for a, b in zip(finite, finite[1:])]
    last = finite[-1] + (finite[-1] - finite[-2]) / 2  # the tie to a number that is not there
    inputs = finite + ties + [last, 1e30, INFINITE, NAN, 1e-30]
    inputs += [v for near in finite[1:] + ties + [last] for v in beside(near)]
    inputs += [-v for v in inputs]

    def encode(value, saturate):
        if value != value:
            return nan if without_sign or name == "float4e2m1" else nan | (top if math.copysign(1, value) < 0 else 0)
        size = abs(value)
        at = bisect.bisect_left(finite, size)
        # The last number is even, or its tie goes to one that is not there.
        if size > last or (size == last and (len(finite) - 1) % 2):
            result = len(finite) - 1 if saturate or name == "float4e2m1" else overflow
            if result == overflow and without_sign and not saturate:
                return nan
        elif at == len(finite):
            result = at - 1
        elif finite[at] == size or at == 0:
            result = at
        else:
            low, high = size - finite[at - 1], finite[at] - size
            result = at - 1 if low < high or (low == high and (at - 1) % 2 == 0) else at
        if without_sign and result == 0:
            return 0
        return result | (top if math.copysign(1, value) < 0 else 0)

    for saturate in 1, 0:
        case("narrow_%s_%d" % (name, saturate), "y = Cast <to = %d, saturate = %d> (x)" % (code, saturate),
             [("x", "float", inputs)], [("y", name, [encode(v, saturate) for v in inputs])], 25)
    # Numbers that f32 would round to a tie, or to one of these.
    slight = [v * (1 + way * 2.0**-40) for v in finite[1:] + ties + [last] for way in (-1, 1)] + ties + [1e300, INFINITE, 1e-300]
    slight += [-v for v in slight]
    case("narrow_double_" + name, "y = Cast <to = %d> (x)" % code, [("x", "double", slight)],
         [("y", name, [encode(v, 1) for v in slight])], 25)
    # Quantised by the scale 2: what is stored, and what comes back.
    even = [v for v in finite if v < finite[-1] / 2]
    case("quantize_" + name, "q = QuantizeLinear <output_dtype = %d> (x, s) y = DequantizeLinear (q, s)" % code,
         [("x", "float", [2 * v for v in even]), ("s", "float", 2.0)],
         [("q", name, list(range(len(even)))), ("y", "float", [2 * v for v in even])], 25)

powers = [2.0**(c - 127) for c in range(255)] + [NAN]
case("widen_float8e8m0", "y = Cast <to = 1> (x)", [("x", "float8e8m0", list(range(256)))], [("y", "float", powers)], 25)
for mode, round_to in ("up", math.ceil), ("down", math.floor), ("nearest", None):
    between = [2.0**e * f for e in (-100, -3, 0, 5, 100) for f in (1, 1.25, 1.5, 1.75, 1.9999998807907104)]
    codes = []
    for v in between:
        exponent = math.floor(math.log2(v))
        above = {"up": v > 2.0**exponent, "down": False, "nearest": v >= 1.5 * 2.0**exponent}[mode]
        codes.append(exponent + 127 + above)
    case("narrow_float8e8m0_" + mode, 'y = Cast <to = 24, round_mode = "%s"> (x)' % mode,
         [("x", "float", powers[1:] + between)], [("y", "float8e8m0", list(range(1, 256)) + codes)], 25)

for name, code, bits, signed in ("uint4", 21, 4, 0), ("int4", 22, 4, 1), ("uint2", 25, 2, 0), ("int2", 26, 2, 1):
    span, low = 1 << bits, (1 << bits >> 1) * signed
    values = list(range(-low, span - low))
    case("widen_" + name, "y = Cast <to = 1> (x)", [("x", name, values)], [("y", "float", [float(v) for v in values])], 25)
    wide = list(range(-40, 41))
    wrapped = [(v + low) % span - low for v in wide]
    case("narrow_" + name, "y = Cast <to = %d> (x)" % code, [("x", "float", [float(v) for v in wide])],
         [("y", name, wrapped)], 25)
    case("narrow_whole_" + name, "y = Cast <to = %d> (x)" % code, [("x", "int32", wide)], [("y", name, wrapped)], 25)
    clamped = [min(max(round(v / 2), -low), span - 1 - low) for v in wide]
    case("quantize_" + name, "q = QuantizeLinear <output_dtype = %d> (x, s) y = DequantizeLinear (q, s)" % code,
         [("x", "float", [float(v) for v in wide]), ("s", "float", 2.0)],
         [("q", name, clamped), ("y", "float", [2.0 * v for v in clamped])], 25)
