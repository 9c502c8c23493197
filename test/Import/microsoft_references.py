"""Operators of com.microsoft with references in double precision: microsoft_references.py FOLDER SPRIG-IMPORT-ONNX.

Writes a test case for each, as sprig check --cases reads them. The references are written from the operators' definitions,
element by element.
"""
import math

from onnx_cases import case

seed = 7


def number():
    """A float in [-1, 1) whose value is exact in f32."""
    global seed
    seed = (seed * 1103515245 + 12345) % 2**31
    return (seed >> 8) / 2**22 - 1


def rand(*shape):
    return [number() for _ in range(shape[0])] if len(shape) == 1 else [rand(*shape[1:]) for _ in range(shape[0])]


def integers(low, high, *shape):
    return deep(lambda v: int(low + (v + 1) / 2 * (high - low + 1)), rand(*shape))


def deep(f, *lists):
    return [deep(f, *parts) for parts in zip(*lists)] if isinstance(lists[0], list) else f(*lists)


def f(name, value):
    return (name, "float", value)


def matmul(a, b):
    if isinstance(a[0][0], list):
        return [matmul(x, y) for x, y in zip(a, b if isinstance(b[0][0], list) else [b] * len(a))]
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def transpose(a):
    return [list(row) for row in zip(*a)]


def gelu(x):
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def softmax(row):
    powers = [math.exp(v - max(row)) for v in row]
    return [p / sum(powers) for p in powers]


def norm(row, scale, shift, epsilon, simplified=False):
    mean = 0 if simplified else sum(row) / len(row)
    deviation = math.sqrt(sum((v - mean)**2 for v in row) / len(row) + epsilon)
    return [(v - mean) / deviation * s + t for v, s, t in zip(row, scale, shift)]


# Products and activations.
a, b = rand(3, 4, 5), rand(3, 6, 5)
case("fused_matmul", "y = com.microsoft.FusedMatMul <alpha = 0.5, transB = 1> (a, b)", [f("a", a), f("b", b)],
     [f("y", deep(lambda v: v / 2, [matmul(p, transpose(q)) for p, q in zip(a, b)]))])
a = rand(4, 3, 5)  # batches behind the rows
b = rand(3, 5, 6)
case("fused_matmul_batch", "y = com.microsoft.FusedMatMul <transBatchA = 1> (a, b)", [f("a", a), f("b", b)],
     [f("y", [matmul([a[i][p] for i in range(4)], b[p]) for p in range(3)])])
x, bias = rand(3, 7), rand(7)
added = [[v + w for v, w in zip(row, bias)] for row in x]
case("gelu", "y = com.microsoft.Gelu (x)", [f("x", x)], [f("y", deep(gelu, x))])
case("bias_gelu", "y = com.microsoft.BiasGelu (x, b)", [f("x", x), f("b", bias)], [f("y", deep(gelu, added))])
case("fast_gelu", "y = com.microsoft.FastGelu (x, b)", [f("x", x), f("b", bias)],
     [f("y", deep(lambda v: v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))) / 2, added))])
case("quick_gelu", "y = com.microsoft.QuickGelu <alpha = 1.5> (x)", [f("x", x)],
     [f("y", deep(lambda v: v / (1 + math.exp(-1.5 * v)), x))])
a, b, c = rand(3, 4), rand(4, 5), rand(5)
case("fused_gemm", 'y = com.microsoft.FusedGemm <activation = "LeakyRelu", activation_alpha = 0.25> (a, b, c)',
     [f("a", a), f("b", b), f("c", c)],
     [f("y", [[max(v + w, (v + w) / 4) for v, w in zip(row, c)] for row in matmul(a, b)])])


def convolve(x, w, bias):
    """x [C][H][W], w [O][C][R][S], no padding."""
    rows, columns = len(x[0]) - len(w[0][0]) + 1, len(x[0][0]) - len(w[0][0][0]) + 1
    return [[[bias[o] + sum(x[c][i + r][j + s] * w[o][c][r][s] for c in range(len(x)) for r in range(len(w[0][0]))
                            for s in range(len(w[0][0][0]))) for j in range(columns)] for i in range(rows)]
            for o in range(len(w))]


x, w, bias, z = rand(2, 5, 6), rand(3, 2, 2, 3), rand(3), rand(3, 4, 4)
plain = convolve(x, w, bias)
for activation, parameters, function in (
    ("Relu", "", lambda v: max(v, 0)), ("Tanh", "", math.tanh), ("Sigmoid", "", lambda v: 1 / (1 + math.exp(-v))),
    ("LeakyRelu", "0.25", lambda v: max(v, v / 4)), ("Clip", "-0.5, 0.75", lambda v: min(max(v, -0.5), 0.75)),
    ("HardSigmoid", "0.25, 0.5", lambda v: min(max(v / 4 + 0.5, 0), 1))):
    case("fused_conv_" + activation.lower(),
         'y = com.microsoft.FusedConv <activation = "%s"%s> (x, w, b, z)' %
         (activation, ", activation_params = [%s]" % parameters if parameters else ""),
         [f("x", [x]), f("w", w), f("b", bias), f("z", [z])], [f("y", [deep(lambda v, e: function(v + e), plain, z)])])
last = lambda image: [[[image[c][i][j] for c in range(len(image))] for j in range(len(image[0][0]))]
                      for i in range(len(image[0]))]
case("nhwc_conv", "y = com.microsoft.NhwcConv (x, w, b)", [f("x", [last(x)]), f("w", [last(v) for v in w]), f("b", bias)],
     [f("y", [last(plain)])])

# Normalisations.
x, skip, scale, shift, bias = rand(2, 3, 8), rand(3, 8), rand(8), rand(8), rand(8)
total = [[[v + s + t for v, s, t in zip(row, other, bias)] for row, other in zip(batch, skip)] for batch in x]
rows = lambda value, *how: [[norm(row, *how) for row in batch] for batch in value]
case("layer_norm", "y = LayerNormalization <epsilon = 0.5> (x, s, t)", [f("x", x), f("s", scale), f("t", shift)],
     [f("y", rows(x, scale, shift, 0.5))])
case("simplified_layer_norm", "y = SimplifiedLayerNormalization <epsilon = 0.5> (x, s)", [f("x", x), f("s", scale)],
     [f("y", rows(x, scale, [0] * 8, 0.5, True))])
case("skip_layer_norm", "y, , , sum = com.microsoft.SkipLayerNormalization <epsilon = 0.25> (x, k, s, t, b)",
     [f("x", x), f("k", skip), f("s", scale), f("t", shift), f("b", bias)],
     [f("y", rows(total, scale, shift, 0.25)), f("sum", total)])
case("skip_simplified_layer_norm", "y = com.microsoft.SkipSimplifiedLayerNormalization (x, k, s, b)",
     [f("x", x), f("k", skip), f("s", scale), f("b", bias)], [f("y", rows(total, scale, [0] * 8, 1e-12, True))])
ids, segments, mask = integers(0, 9, 2, 3), integers(0, 1, 2, 3), [[1, 1, 0], [1, 0, 0]]
words, places, kinds = rand(10, 8), rand(5, 8), rand(2, 8)
total = [[[u + v + w for u, v, w in zip(words[ids[b][i]], places[i], kinds[segments[b][i]])] for i in range(3)]
         for b in range(2)]
case("embed_layer_norm", "y, m, sum = com.microsoft.EmbedLayerNormalization <epsilon = 0.25> (i, g, w, p, k, s, t, mask)",
     [("i", "int32", ids), ("g", "int32", segments), f("w", words), f("p", places), f("k", kinds), f("s", scale),
      f("t", shift), ("mask", "int32", mask)],
     [f("y", rows(total, scale, shift, 0.25)), ("m", "int32", [2, 1]), f("sum", total)])

at = [[4, 0, 2], [1, 1, 3]]
total = [[[u + v + w for u, v, w in zip(words[ids[b][i]], places[at[b][i]], kinds[segments[b][i]])] for i in range(3)]
         for b in range(2)]
case("embed_layer_norm_positions", "y = com.microsoft.EmbedLayerNormalization <epsilon = 0.25> (i, g, w, p, k, s, t, , at)",
     [("i", "int32", ids), ("g", "int32", segments), f("w", words), f("p", places), f("k", kinds), f("s", scale),
      f("t", shift), ("at", "int32", at)], [f("y", rows(total, scale, shift, 0.25))])
x, skip, bias = rand(2, 3, 8), rand(2, 3, 8), rand(8)
case("bias_add", "y = com.microsoft.BiasAdd (x, b, k)", [f("x", x), f("b", bias), f("k", skip)],
     [f("y", [[[v + c + s for v, c, s in zip(*row, bias)] for row in zip(*batch)] for batch in zip(x, skip)])])
# Channels last: two groups of four channels.
x = rand(2, 3, 2, 8)
normal = [[[[0] * 8 for _ in range(2)] for _ in range(3)] for _ in range(2)]
for b in range(2):
    for g in range(2):
        places = [(i, j, c) for i in range(3) for j in range(2) for c in range(4 * g, 4 * g + 4)]
        part = [x[b][i][j][c] for i, j, c in places]
        for (i, j, c), v in zip(places, norm(part, [1] * 24, [0] * 24, 0.5)):
            normal[b][i][j][c] = v * scale[c] + shift[c]
case("group_norm", "y = com.microsoft.GroupNorm <groups = 2, activation = 0, epsilon = 0.5> (x, s, t)",
     [f("x", x), f("s", scale), f("t", shift)], [f("y", normal)])
first = lambda image: [[[image[i][j][c] for j in range(2)] for i in range(3)] for c in range(8)]
case("group_norm_silu", "y = com.microsoft.GroupNorm <groups = 2, activation = 1, channels_last = 0, epsilon = 0.5> (x, s, t)",
     [f("x", [first(image) for image in x]), f("s", scale), f("t", shift)],
     [f("y", deep(lambda v: v / (1 + math.exp(-v)), [first(image) for image in normal]))])
x = rand(3, 4)
case("trilu", "k = Constant <value_int = 1> () y = com.microsoft.Trilu <upper = 0> (x, k)", [f("x", x)],
     [f("y", [[v if j <= i + 1 else 0.0 for j, v in enumerate(row)] for i, row in enumerate(x)])])
case("pad", "p = Constant <value_ints = [0, 1, 1, 0]> () v = Constant <value_float = 0.5> () y = com.microsoft.Pad (x, p, v)",
     [f("x", x)], [f("y", [[0.5] + row for row in x] + [[0.5] * 5])])


# Attention.
def attend(q, k, v, heads, add, scale=None):
    """q, k, v [positions][heads * size]; add(head, i, j) is what the score gets."""
    size, wide = len(q[0]) // heads, len(v[0]) // heads
    result = [[] for _ in q]
    for h in range(heads):
        part = lambda rows, n: [row[h * n:(h + 1) * n] for row in rows]
        scores = matmul(part(q, size), transpose(part(k, size)))
        for i, row in enumerate(scores):
            p = softmax([s * (scale or 1 / math.sqrt(size)) + add(h, i, j) for j, s in enumerate(row)])
            result[i] += [sum(e * value[c] for e, value in zip(p, part(v, wide))) for c in range(wide)]
    return result


x, w, bias, past = rand(2, 4, 6), rand(6, 20), rand(20), rand(2, 2, 2, 3, 4)
projected = [[[v + b for v, b in zip(row, bias)] for row in batch] for batch in matmul(x, w)]
cut = lambda batch, at, size: [row[at:at + size] for row in batch]
q, k, v = [cut(p, 0, 8) for p in projected], [cut(p, 8, 8) for p in projected], [cut(p, 16, 4) for p in projected]
weighted = [f("x", x), f("w", w), f("b", bias)]
lengths = [3, 2]
case("attention_lengths", "y = com.microsoft.Attention <num_heads = 2, qkv_hidden_sizes = [8, 8, 4]> (x, w, b, m)",
     weighted + [("m", "int32", lengths)],
     [f("y", [attend(q[b], k[b], v[b], 2, lambda h, i, j: 0 if j < lengths[b] else -10000) for b in range(2)])])
mask, score = [[1, 0, 1, 1], [1, 1, 1, 0]], rand(1, 2, 4, 4)
case("attention_mask",
     "y = com.microsoft.Attention <num_heads = 2, qkv_hidden_sizes = [8, 8, 4], mask_filter_value = -2.0, scale = 0.25> "
     "(x, w, b, m, , s)", weighted + [("m", "int32", mask), f("s", score)],
     [f("y", [attend(q[b], k[b], v[b], 2, lambda h, i, j: score[0][h][i][j] + (0 if mask[b][j] else -2), 0.25)
              for b in range(2)])])
w, bias = rand(6, 24), rand(24)
projected = [[[v + b for v, b in zip(row, bias)] for row in batch] for batch in matmul(x, w)]
q, k, v = ([cut(p, at, 8) for p in projected] for at in (0, 8, 16))
joined = lambda b, now, before: [[before[b][h][i][c] for h in range(2) for c in range(4)] for i in range(3)] + now[b]
heads = lambda rows: [[row[h * 4:h * 4 + 4] for row in rows] for h in range(2)]
keys, values = ([joined(b, now, past[side]) for b in range(2)] for side, now in ((0, k), (1, v)))
case("attention_past", "y, p = com.microsoft.Attention <num_heads = 2, unidirectional = 1> (x, w, b, , past)",
     [f("x", x), f("w", w), f("b", bias), f("past", past)],
     [f("y", [attend(q[b], keys[b], values[b], 2, lambda h, i, j: 0 if j <= i + 3 else -math.inf) for b in range(2)]),
      f("p", [[heads(keys[b]) for b in range(2)], [heads(values[b]) for b in range(2)]])])
q, k, v, bias = rand(2, 4, 8), rand(2, 5, 8), rand(2, 5, 4), rand(20)
plus = lambda rows, at: [[[e + bias[at + c] for c, e in enumerate(row)] for row in batch] for batch in rows]
mask = [[1, 1, 1, 0, 1], [1, 1, 0, 0, 0]]
case("multi_head_attention", "y = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v, b, m)",
     [f("q", q), f("k", k), f("v", v), f("b", bias), ("m", "int32", mask)],
     [f("y", [attend(plus(q, 0)[b], plus(k, 8)[b], plus(v, 16)[b], 2, lambda h, i, j: 0 if mask[b][j] else -10000)
              for b in range(2)])])
packed = rand(2, 4, 2, 3, 4)
part = lambda b, i: [[e for h in range(2) for e in row[h][i]] for row in packed[b]]
case("multi_head_attention_packed", "y = com.microsoft.MultiHeadAttention <num_heads = 2> (q)", [f("q", packed)],
     [f("y", [attend(part(b, 0), part(b, 1), part(b, 2), 2, lambda h, i, j: 0) for b in range(2)])])
query, packed = rand(2, 3, 8), rand(2, 5, 2, 2, 4)
part = lambda b, i: [[e for h in range(2) for e in row[h][i]] for row in packed[b]]
case("multi_head_attention_packed_keys", "y = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k)",
     [f("q", query), f("k", packed)],
     [f("y", [attend(query[b], part(b, 0), part(b, 1), 2, lambda h, i, j: 0) for b in range(2)])])

x, cosines, sines, at = rand(2, 3, 12), rand(9, 2), rand(9, 2), [[0, 1, 2], [5, 6, 7]]
for interleaved in 0, 1:
    turned = [[list(row) for row in batch] for batch in x]
    for b in range(2):
        for i in range(3):
            for h in range(2):
                for r in range(2):
                    first = h * 6 + (2 * r if interleaved else r)
                    second = first + (1 if interleaved else 2)
                    c, s = cosines[at[b][i]][r], sines[at[b][i]][r]
                    turned[b][i][first] = x[b][i][first] * c - x[b][i][second] * s
                    turned[b][i][second] = x[b][i][second] * c + x[b][i][first] * s
    case("rotary_embedding_%d" % interleaved,
         "y = com.microsoft.RotaryEmbedding <num_heads = 2, rotary_embedding_dim = 4, interleaved = %d> (x, p, c, s)" %
         interleaved, [f("x", x), ("p", "int64", at), f("c", cosines), f("s", sines)], [f("y", turned)])

# Quantised tensors. Scales are powers of two, so that no rounding is a matter of the last bit.
def quantise(v, scale, zero, low=0):
    return min(max(round(v / scale) + zero, low), low + 255)


a, b = integers(0, 255, 3, 8), integers(0, 255, 8)
real = lambda v, scale, zero: deep(lambda e: (e - zero) * scale, v)
byte = lambda name, value: (name, "uint8", value)
two = [byte("a", a), f("sa", 1 / 16), byte("za", 120), byte("b", b), f("sb", 1 / 32), byte("zb", 7)]
x, y = real(a, 1 / 16, 120), real(b, 1 / 32, 7)
for op, function in ("Add", lambda v, w: v + w), ("Mul", lambda v, w: v * w):
    case("qlinear_" + op.lower(), "y = com.microsoft.QLinear%s (a, sa, za, b, sb, zb, sy, zy)" % op,
         two + [f("sy", 1 / 8), byte("zy", 99)],
         [byte("y", [[quantise(function(v, w), 1 / 8, 99) for v, w in zip(row, y)] for row in x])])
one = [byte("a", a), f("sa", 1 / 16), byte("za", 120), f("sy", 1 / 256), byte("zy", 3)]
case("qlinear_sigmoid", "y = com.microsoft.QLinearSigmoid (a, sa, za, sy, zy)", one,
     [byte("y", deep(lambda v: quantise(1 / (1 + math.exp(-v)), 1 / 256, 3), x))])
case("qlinear_leaky_relu", "y = com.microsoft.QLinearLeakyRelu <alpha = 0.25> (a, sa, za, sy, zy)",
     one[:3] + [f("sy", 1 / 8), byte("zy", 30)], [byte("y", deep(lambda v: quantise(max(v, v / 4), 1 / 8, 30), x))])
case("qlinear_softmax", "y = com.microsoft.QLinearSoftmax <opset = 13, axis = -1> (a, sa, za, sy, zy)", one,
     [byte("y", [[quantise(v, 1 / 256, 3) for v in softmax(row)] for row in x])])
case("qlinear_concat", "y = com.microsoft.QLinearConcat <axis = 0> (sy, zy, a, sa, za, a, sb, zb)",
     [f("sy", 1 / 8), byte("zy", 50)] + two[:3] + two[4:],
     [byte("y", [[quantise(v, 1 / 8, 50) for v in row] for row in x + real(a, 1 / 32, 7)])])
image = integers(0, 255, 4, 4, 3)  # channels last
value = real(image, 1 / 16, 120)
case("qlinear_global_average_pool",
     "y = com.microsoft.QLinearGlobalAveragePool <channels_last = 1> (a, sa, za, sy, zy)",
     [byte("a", [image])] + one[1:3] + [f("sy", 1 / 8), byte("zy", 128)],
     [byte("y", [[[[quantise(sum(value[i][j][c] for i in range(4) for j in range(4)) / 16, 1 / 8, 128)
                    for c in range(3)]]]])])
case("qlinear_average_pool",
     "y = com.microsoft.QLinearAveragePool <kernel_shape = [2, 2], strides = [2, 2], channels_last = 1> (a, sa, za, sy, zy)",
     [byte("a", [image])] + one[1:3] + [f("sy", 1 / 8), byte("zy", 128)],
     [byte("y", [[[[quantise(sum(value[2 * i + r][2 * j + s][c] for r in (0, 1) for s in (0, 1)) / 4, 1 / 8, 128)
                    for c in range(3)] for j in range(2)] for i in range(2)]])])

w, wide = integers(-128, 127, 8, 5), rand(5)
scales = [2.0**-(4 + i % 3) for i in range(5)]
product = matmul(deep(lambda v: v - 120, a), deep(lambda v: v - 3, w))
c = integers(-300, 300, 5)
weight = [("w", "int8", w), f("sw", scales), ("zw", "int8", 3)]
case("qgemm", "y = com.microsoft.QGemm <alpha = 0.5> (a, sa, za, w, sw, zw, c, sy, zy)",
     two[:3] + [("w", "int8", w), f("sw", 1 / 64), ("zw", "int8", 3), ("c", "int32", c), f("sy", 2.0), byte("zy", 110)],
     [byte("y", [[quantise((v + e) / 16 / 64 / 2, 2, 110) for v, e in zip(row, c)] for row in product])])
case("matmul_integer_to_float", "y = com.microsoft.MatMulIntegerToFloat (a, w, sa, sw, za, zw, b)",
     two[:1] + weight[:1] + two[1:2] + weight[1:2] + two[2:3] + weight[2:] + [f("b", wide)],
     [f("y", [[v / 16 * s + e for v, s, e in zip(row, scales, wide)] for row in product])])
extremes = [[v for v in row] for row in rand(3, 8)]
extremes[0][0], extremes[1][1] = -127 / 64, 2.0  # a scale of 1/64, and 127 as zero point
rounded = deep(lambda v: (quantise(v, 1 / 64, 127) - 127) / 64, extremes)
case("dynamic_quantize_matmul", "y = com.microsoft.DynamicQuantizeMatMul (x, w, sw, zw, b)",
     [f("x", extremes)] + weight + [f("b", wide)],
     [f("y", [[v * s + e for v, s, e in zip(row, scales, wide)] for row in matmul(rounded, deep(lambda v: v - 3, w))])])
x, w, bias = integers(0, 255, 1, 4, 6), integers(-128, 127, 6, 24), rand(24)
product = matmul(deep(lambda v: v - 128, x[0]), w)
projected = [[v / 64 / 128 + e for v, e in zip(row, bias)] for row in product]
case("qattention", "y = com.microsoft.QAttention <num_heads = 2> (x, w, b, sx, sw, , zx)",
     [byte("x", x), ("w", "int8", w), f("b", bias), f("sx", 1 / 64), f("sw", 1 / 128), byte("zx", 128)],
     [f("y", [attend(cut(projected, 0, 8), cut(projected, 8, 8), cut(projected, 16, 8), 2, lambda h, i, j: 0)])])
words16 = integers(0, 65535, 2, 5)
case("quantize_16", "q = com.microsoft.QuantizeLinear (x, s, z)",
     [f("x", real(words16, 1 / 64, 1000)), f("s", 1 / 64), ("z", "uint16", 1000)], [("q", "uint16", words16)])
case("dequantize_16", "x = com.microsoft.DequantizeLinear (q, s, z)",
     [("q", "uint16", words16), f("s", 1 / 64), ("z", "uint16", 1000)], [f("x", real(words16, 1 / 64, 1000))])

# LSTM on bytes: the input is rounded once, the state of all rows before each step. Gates in the order input, output,
# forget, cell.
def rounded_by_range(rows):
    low, high = (end([0] + [v for row in rows for v in row]) for end in (min, max))
    scale = (high - low) / 255 or 1
    zero = min(round(-low / scale), 255)
    return [[(quantise(v, scale, zero) - zero) * scale for v in row] for row in rows]

x, w, r, bias = rand(3, 2, 4), integers(-128, 127, 2, 4, 12), integers(-128, 127, 2, 3, 12), rand(2, 24)
sw, sr = [[2.0**-(6 + (d + i) % 3) for i in range(12)] for d in range(2)], [1 / 64, 1 / 128]
sigmoid = lambda v: 1 / (1 + math.exp(-v))
outputs = [[[None] * 2 for _ in range(2)] for _ in range(3)]
inputs = rounded_by_range([row for step in x for row in step])
for d in range(2):
    h, c = [[0] * 3 for _ in range(2)], [[0] * 3 for _ in range(2)]
    for t in (range(3), range(2, -1, -1))[d]:
        seen = rounded_by_range(h)
        for b in range(2):
            gate = [sum(inputs[2 * t + b][i] * (w[d][i][g] - 5) * sw[d][g] for i in range(4)) +
                    sum(seen[b][i] * r[d][i][g] * sr[d] for i in range(3)) + bias[d][g] + bias[d][12 + g]
                    for g in range(12)]
            c[b] = [sigmoid(gate[6 + i]) * c[b][i] + sigmoid(gate[i]) * math.tanh(gate[9 + i]) for i in range(3)]
            h[b] = [sigmoid(gate[3 + i]) * math.tanh(c[b][i]) for i in range(3)]
            outputs[t][d][b] = h[b]
case("dynamic_quantize_lstm",
     'y = com.microsoft.DynamicQuantizeLSTM <hidden_size = 3, direction = "bidirectional"> '
     "(x, w, r, b, , , , , sw, zw, sr, zr)",
     [f("x", x), ("w", "int8", w), ("r", "int8", r), f("b", bias), f("sw", sw), ("zw", "int8", [5, 5]), f("sr", sr),
      ("zr", "int8", [0, 0])], [f("y", outputs)])
