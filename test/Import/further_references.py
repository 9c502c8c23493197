"""Deformed convolutions, regions and norms, the Scan of opset 8 and bits of booleans, with references: further_references.py FOLDER
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


def regions(name, size, cells, boxes, scale, half):
    """RoiAlign with a sample for each pixel of a cell, of regions that only a call tells: the mean of its samples."""
    x, batches = rand(2, 3, *size), [k % 2 for k in range(len(boxes))]
    shift = -0.5 if half else 0

    def at(plane, y, z):
        if not (-1 <= y <= size[0] and -1 <= z <= size[1]):
            return 0
        y, z = min(max(y, 0), size[0] - 1), min(max(z, 0), size[1] - 1)
        i, j = int(y), int(z)
        down, right = min(i + 1, size[0] - 1), min(j + 1, size[1] - 1)
        return ((1 - y + i) * ((1 - z + j) * plane[i][j] + (z - j) * plane[i][right]) +
                (y - i) * ((1 - z + j) * plane[down][j] + (z - j) * plane[down][right]))

    def cell(plane, box, p, q):
        start = [box[1] * scale + shift, box[0] * scale + shift]
        extent = [box[3] * scale + shift - start[0], box[2] * scale + shift - start[1]]
        if not half:
            extent = [max(e, 1) for e in extent]
        width = [e / c for e, c in zip(extent, cells)]
        rows, columns = (max(math.ceil(w), 0) for w in width)
        if rows * columns == 0:
            return 0
        return sum(at(plane, start[0] + width[0] * (p + (i + 0.5) / rows), start[1] + width[1] * (q + (j + 0.5) / columns))
                   for i in range(rows) for j in range(columns)) / (rows * columns)

    y = [[[[cell(plane, box, p, q) for q in range(cells[1])] for p in range(cells[0])] for plane in x[b]]
         for box, b in zip(boxes, batches)]
    case(name, "y = RoiAlign <output_height = %d, output_width = %d, spatial_scale = %s, coordinate_transformation_mode = \"%s\""
         "> (x, r, b)" % (*cells, float(scale), "half_pixel" if half else "output_half_pixel"),
         [("x", "float", x), ("r", "float", boxes), ("b", "int64", batches)], [("y", "float", y)], opset=16)


# Within the image, around it, without a size, smaller than a pixel, turned around.
boxes = [[1, 2, 8, 9], [-40, -30, 60, 50], [3, 3, 3, 3], [2.25, 1.5, 2.5, 1.75], [6, 5, 2, 1], [-1, -1, 7, 6]]
regions("regions_half_pixel", (6, 7), (2, 3), boxes, 1, True)
regions("regions", (5, 1), (3, 1), boxes, 0.5, False)

x = rand(3, 4)
norm = lambda a, b, v: (v - (a + b) / 2) / math.sqrt(((a - b) / 2)**2 + 1e-5)
case("groups_of_channels", "y = GroupNormalization <num_groups = 2> (x, s, t)",
     [("x", "float", x), ("s", "float", [1, 2, 3, 4]), ("t", "float", [0, 1, 0, -1])],
     [("y", "float", [[norm(a, b, a), 2 * norm(a, b, b) + 1, 3 * norm(c, d, c), 4 * norm(c, d, d) - 1] for a, b, c, d in x])],
     opset=21)
