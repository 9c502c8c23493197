"""Writes test cases of operators whose results have sizes that the data decide, to the folder that the command line names."""
import random

from onnx_cases import case

rng = random.Random(7)


def suppress(boxes, scores, most, threshold, least, center=False):
    """NonMaxSuppression as ONNX states it: rows of image, class and box."""

    def sides(b):
        if center:
            return b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2
        return min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])

    def overlap(a, b):
        a, b = sides(a), sides(b)
        area = lambda s: (s[2] - s[0]) * (s[3] - s[1])
        common = max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)
        return common / (area(a) + area(b) - common) if area(a) > 0 and area(b) > 0 else 0

    rows = []
    for image, classes in enumerate(scores):
        for label, of_boxes in enumerate(classes):
            kept = []
            for box in sorted((k for k, s in enumerate(of_boxes) if s > least), key=lambda k: (-of_boxes[k], k)):
                if len(kept) < most and all(overlap(boxes[image][box], boxes[image][k]) <= threshold for k in kept):
                    kept.append(box)
            rows += [[image, label, box] for box in kept]
    return rows


def eighths(low, high):
    return rng.randint(low * 8, high * 8) / 8


def detections(images, classes, count, center):
    """Boxes, some without an area; scores of few levels, so that some are equal."""
    box = lambda: [eighths(0, 20) for _ in range(2)] + [eighths(0, 12) if center else eighths(0, 20) for _ in range(2)]
    boxes = [[box() for _ in range(count)] for _ in range(images)]
    boxes[0][0][2:] = [0.0, 0.0] if center else boxes[0][0][:2]
    return boxes, [[[rng.randint(0, 16) / 16 for _ in range(count)] for _ in range(classes)] for _ in range(images)]


NMS = "s = NonMaxSuppression %s (b, c, most, iou, least)"
CONSTANTS = "most = Constant <value_ints = [%d]> () iou = Constant <value_floats = [%f]> () least = Constant <value_floats = [%f]> () "


def nms(name, images, classes, count, most, threshold, least, center=False):
    boxes, scores = detections(images, classes, count, center)
    rows = suppress(boxes, scores, most, threshold, least, center)
    assert 0 < len(rows) < images * classes * min(most, count)  # else there is nothing behind them
    node = CONSTANTS % (most, threshold, least) + NMS % ("<center_point_box = 1>" if center else "")
    case(name, node, [("b", "float", boxes), ("c", "float", scores)], [("s", "int64", rows)])


nms("corners", 2, 3, 12, 7, 0.25, 0.25)
nms("centers", 2, 2, 15, 100, 0.125, 0.0, center=True)
nms("one_class", 1, 1, 40, 10**12, 0.25, 0.5)

# Thresholds that the data give.
boxes, scores = detections(1, 2, 9, False)
case("thresholds", "most = Constant <value_ints = [4]> () " + NMS % "",
     [("b", "float", boxes), ("c", "float", scores), ("iou", "float", [0.25]), ("least", "float", [0.5])],
     [("s", "int64", suppress(boxes, scores, 4, 0.25, 0.5))])

# What exporters of detectors write behind it: image, box, class and score of each, and how many there are.
boxes, scores = detections(2, 3, 10, False)
rows = suppress(boxes, scores, 4, 0.25, 0.5)
case("rows", CONSTANTS % (4, 0.25, 0.5) + NMS % "" + """
     first = Constant <value_ints = [0]> () second = Constant <value_ints = [1]> () pair = Constant <value_ints = [0, 2]> ()
     one = Constant <value_ints = [1]> ()
     at = Gather <axis = 1> (s, pair) box = GatherND (b, at)
     image = Gather <axis = 1> (s, first) i = Cast <to = 1> (image)
     label = Gather <axis = 1> (s, second) l = Cast <to = 1> (label)
     score = GatherND (c, s) column = Unsqueeze (score, one)
     y = Concat <axis = 1> (i, box, l, column)
     n = Shape (y)""",
     [("b", "float", boxes), ("c", "float", scores)],
     [("y", "float", [[float(i)] + boxes[i][k] + [float(l), scores[i][l][k]] for i, l, k in rows]),
      ("n", "int64", [len(rows), 7])])

# The best of them, sorted; the first ones; columns and sums of rows.
boxes, scores = detections(1, 1, 14, False)
rows = suppress(boxes, scores, 14, 0.25, 0.25)
worth = [(scores[0][0][k] - 0.5) ** 2 for _, _, k in rows]
order = sorted(range(len(rows)), key=lambda k: (-worth[k], k))
for most in (3, 50):
    case("best_%d" % most, CONSTANTS % (14, 0.25, 0.25) + NMS % "" + """
         half = Constant <value_float = 0.5> () two = Constant <value_int = 2> () zero = Constant <value_ints = [0]> ()
         one = Constant <value_ints = [1]> () limit = Constant <value_ints = [%d]> () rest = Constant <value_ints = [100]> ()
         index = Gather <axis = 1> (s, two)
         all = Squeeze (b, zero) kept = Gather (all, index)
         flat = Constant <value_ints = [-1]> () scores = Reshape (c, flat) score = Gather (scores, index)
         off = Sub (score, half) worth = Mul (off, off)
         size = Shape (worth) either = Concat <axis = 0> (size, limit) k = ReduceMin <axes = [0]> (either)
         v, p = TopK (worth, k)
         f = Slice (kept, zero, limit, zero)
         total = ReduceSum <keepdims = 0> (kept, one)""" % most,
         [("b", "float", boxes), ("c", "float", scores)],
         [("v", "float", [worth[k] for k in order][:most]), ("p", "int64", order[:most]),
          ("f", "float", [boxes[0][k] for _, _, k in rows][:most]),
          ("total", "float", [sum(boxes[0][k]) for _, _, k in rows])])

# Elements where a mask holds.
x = [[eighths(-4, 4) for _ in range(5)] for _ in range(4)]
places = [(i, j) for i in range(4) for j in range(5) if x[i][j] > 1]
case("mask", """zero = Constant <value_float = 1.0> () m = Greater (x, zero) z = NonZero (m) t = Transpose (z)
     v = GatherND (x, t) y = Add (v, v)""",
     [("x", "float", x)],
     [("y", "float", [2 * x[i][j] for i, j in places]), ("z", "int64", [[p[d] for p in places] for d in range(2)])])
case("mask_none", "zero = Constant <value_float = 9.0> () m = Greater (x, zero) z = NonZero (m) t = Transpose (z) y = GatherND (x, t)",
     [("x", "float", x)], [("y", "float", [])])

# What does not count is not zero of a mask, and no box: places of small ones among those that hold, the best of boxes that
# a first score leaves.
flat = [eighths(-4, 4) for _ in range(12)]
held = [v for v in flat if v > -1]
case("mask_of_mask", """low = Constant <value_float = -1.0> () high = Constant <value_float = 1.0> ()
     m = Greater (x, low) z = NonZero (m) t = Transpose (z) v = GatherND (x, t) small = Less (v, high) y = NonZero (small)""",
     [("x", "float", flat)], [("y", "int64", [[i for i, v in enumerate(held) if v < 1]])])
boxes, scores = detections(1, 1, 12, False)
left = [k for k in range(12) if scores[0][0][k] > 0.25]
assert 0 < len(left) < 12
case("filtered_boxes", CONSTANTS % (12, 0.25, -1.0) + """low = Constant <value_float = 0.25> () flat = Constant <value_ints = [-1]> ()
     zero = Constant <value_ints = [0]> () two = Constant <value_ints = [0, 1]> ()
     all = Reshape (score, flat) m = Greater (all, low) z = NonZero (m) t = Transpose (z) kept = GatherND (all, t)
     rows = Squeeze (box, zero) some = GatherND (rows, t)
     b = Unsqueeze (some, zero) c = Unsqueeze (kept, two) """ + NMS % "",
     [("box", "float", boxes), ("score", "float", scores)],
     [("s", "int64", suppress([[boxes[0][k] for k in left]], [[[scores[0][0][k] for k in left]]], 12, 0.25, -1.0))])
