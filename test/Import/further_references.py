"""Deformed convolutions, the Scan of opset 8 and bits of booleans, with references: further_references.py FOLDER
SPRIG-IMPORT-ONNX writes a test case for each, as sprig check --cases reads them.
"""
import math
import random

from onnx_cases import case

rng = random.Random(3)


def rand(*shape):
    return [rand(*shape[1:]) for _ in range(shape[0])] if shape else rng.randint(-2**20, 2**20 - 1) / 2**20


def deform(name, channels, outputs, size, kernel, groups=1, fields=1, strides=(1, 1), pads=(0, 0, 0, 0), dilations=(1, 1),
           bias=False, mask=False):
    """Samples pixel by pixel, as the operator's definition does: outside of the image lie zeros."""
    batch, taps = 2, kernel[0] * kernel[1]
    rows, columns = ((size[d] + pads[d] + pads[d + 2] - (kernel[d] - 1) * dilations[d] - 1) // strides[d] + 1 for d in (0, 1))
    x, w = rand(batch, channels, *size), rand(outputs, channels // groups, *kernel)
    offset = [[[[3 * v for v in row] for row in plane] for plane in image] for image in rand(batch, fields * taps * 2, rows, columns)]
    factor, added = rand(batch, fields * taps, rows, columns), rand(outputs)

    def pixel(plane, i, j):
        return plane[i][j] if 0 <= i < size[0] and 0 <= j < size[1] else 0

    def sample(plane, y, z):
        i, j = math.floor(y), math.floor(z)
        return sum(pixel(plane, i + p, j + q) * (1 - abs(y - i - p)) * (1 - abs(z - j - q)) for p in (0, 1) for q in (0, 1))

    def result(b, o, i, j):
        total = added[o] if bias else 0
        for c in range(channels // groups):
            channel = o * groups // outputs * (channels // groups) + c
            field = channel * fields // channels
            for t in range(taps):
                at = field * taps + t
                y = i * strides[0] - pads[0] + t // kernel[1] * dilations[0] + offset[b][2 * at][i][j]
                z = j * strides[1] - pads[1] + t % kernel[1] * dilations[1] + offset[b][2 * at + 1][i][j]
                total += (w[o][c][t // kernel[1]][t % kernel[1]] * sample(x[b][channel], y, z) *
                          (factor[b][at][i][j] if mask else 1))
        return total

    y = [[[[result(b, o, i, j) for j in range(columns)] for i in range(rows)] for o in range(outputs)] for b in range(batch)]
    inputs = [("x", "float", x), ("w", "float", w), ("o", "float", offset)]
    names = "x, w, o" + (", b" if bias else ", " if mask else "") + (", m" if mask else "")
    inputs += [("b", "float", added)] * bias + [("m", "float", factor)] * mask
    numbers = lambda values: "[%s]" % ", ".join(map(str, values))
    case(name, "y = DeformConv <group = %d, offset_group = %d, strides = %s, pads = %s, dilations = %s> (%s)" %
         (groups, fields, numbers(strides), numbers(pads), numbers(dilations), names), inputs, [("y", "float", y)], opset=19)


deform("deform", 2, 3, (5, 6), (2, 3))
deform("deform_mask", 3, 2, (5, 5), (3, 3), pads=(1, 1, 1, 1), mask=True)
deform("deform_groups", 4, 6, (7, 6), (2, 2), groups=2, fields=2, strides=(2, 1), dilations=(2, 1), pads=(1, 0, 0, 2), bias=True,
       mask=True)
deform("deform_fields", 4, 2, (4, 4), (2, 2), fields=4, bias=True)

# The Scan of opset 8: each element of the batch by itself, the second sequence backwards.
state, x, z = rand(3, 2), rand(3, 5, 2), rand(3, 5, 2)
ends, steps = [], []
for b in range(3):
    s, row = state[b], []
    for t in range(5):
        s = [u * 0.5 + v - w for u, v, w in zip(s, x[b][t], z[b][4 - t])]
        row.append([2 * v for v in s])
    ends.append(s)
    steps.append(row)
case("scan_8", """y, z = Scan <num_scan_inputs = 2, directions = [0, 1], body = step (float[2] s, float[2] v, float[2] w) => (float[2] t, float[2] d) {
       half = Constant <value = float {0.5}> () h = Mul (s, half) u = Add (h, v) t = Sub (u, w) d = Add (t, t)
     }> (, s, x, w)""", [("s", "float", state), ("x", "float", x), ("w", "float", z)], [("y", "float", ends), ("z", "float", steps)],
     opset=8)

bits = [1, 0, 0, 1, 1]
case("bits_of_booleans", "y = BitCast <to = 2> (x)", [("x", "bool", bits)], [("y", "uint8", bits)], opset=26)
case("signed_bits_of_booleans", "y = BitCast <to = 3> (x)", [("x", "bool", bits)], [("y", "int8", bits)], opset=26)
case("bits_as_booleans", "y = BitCast <to = 9> (x)", [("x", "int8", bits)], [("y", "bool", bits)], opset=26)
