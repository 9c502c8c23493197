#!/usr/bin/env python3
"""special_points.py > SpecialPoints.inc: values, gradients and second derivatives of PyTorch in double precision at
points where formulas meet, end or overflow, as rows for SpecialPointsTest.cpp. Of PyTorch 2.15.

The gradient is of the sum of all results, the second derivative of the sum of all gradients. NaN in a derivative: the
row says nothing about it there (PyTorch has one where Sprig need not)."""
import math
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
inf, nan, tiny, big = math.inf, math.nan, 5e-324, 1.7e308
ZERO = [0.0, -0.0]
ENDS = [inf, -inf, nan, tiny, -tiny]
rows = []


def row(expression, function, *inputs, twice=True):
    """`inputs`: lists of numbers, or of lists of equal length (two dimensions). `twice`: whether the second derivative is
    compared."""
    x = [torch.tensor(values, requires_grad=True) for values in inputs]
    y = function(*x)
    first = [torch.zeros_like(v) for v in x]
    second = [torch.full_like(v, nan) for v in x]
    if y.requires_grad:
        got = torch.autograd.grad(y.sum(), x, create_graph=True, allow_unused=True)
        first = [z if g is None else g for g, z in zip(got, first)]
        used = [g.sum() for g in got if g is not None and g.requires_grad]
        try:
            second = [torch.zeros_like(v) for v in x]
            if used:
                more = torch.autograd.grad(sum(used), x, allow_unused=True)
                second = [z if h is None else h for h, z in zip(more, second)]
                [h.tolist() for h in second]
        except RuntimeError:  # PyTorch has none
            second = [torch.full_like(v, nan) for v in x]

    if twice is False:
        second = [torch.full_like(v, nan) for v in x]
    # A NaN that is given may have any derivative.
    given = [torch.isnan(v) for v in x]
    first = [g.masked_fill(n, nan) for g, n in zip(first, given)]
    second = [h.masked_fill(n, nan) for h, n in zip(second, given)]

    def text(values):
        def number(v):
            if math.isnan(v):
                return "NAN"
            if math.isinf(v):
                return "HUGE_VAL" if v > 0 else "-HUGE_VAL"
            return repr(v)

        flat = values.detach().reshape(-1).tolist()
        return "{" + ", ".join(map(number, flat)) + "}"

    def each(tensors):
        return "{" + ", ".join(map(text, tensors)) + "}"

    shapes = "{" + ", ".join("{" + ", ".join(map(str, v.shape)) + "}" for v in x) + "}"
    rows.append(f'{{"{expression}",\n [](Inputs v) {{ return {expression}; }},\n {shapes},\n {each(x)},\n {text(y)},\n'
                f' {each(first)},\n {each(second)}}},')


a, b = "v[0]", "v[1]"
# Smooth functions whose formulas have a seam at 0.
far = [1.0, -1.0, 100.0, -100.0, 1000.0, -1000.0]
row("softplus(v[0])", F.softplus, ZERO + far + ENDS + [big, -big])
row("softplus(v[0], 2.0)", lambda x: F.softplus(x, 2.0), ZERO + far + ENDS)
row("logSigmoid(v[0])", F.logsigmoid, ZERO + far + ENDS)
row("mish(v[0])", F.mish, ZERO + far + [tiny, -tiny, big])
row("silu(v[0])", F.silu, ZERO + far + [tiny, -tiny])
row("gelu(v[0])", F.gelu, ZERO + far + [tiny, -tiny, 1e150])
row("gelu(v[0], Gelu::tanh)", lambda x: F.gelu(x, approximate="tanh"), ZERO + far + [tiny, -tiny, 1e100])
row("gelu(v[0], Gelu::tanh)", lambda x: F.gelu(x, approximate="tanh"), [1e160, -1e160, big], twice=False)
row("softsign(v[0])", F.softsign, ZERO + far + [tiny, -tiny, 1e150])
row("tanhShrink(v[0])", F.tanhshrink, ZERO + [1.0, -1.0, 100.0, tiny])
row("asinh(v[0])", torch.asinh, ZERO + [tiny, 1e100])
row("acosh(v[0])", torch.acosh, [2.0, 1e100])
for target in (0.0, 1.0, 0.25):
    row(f"bceWithLogitsLoss(v[0], v[0].detach() * 0 + {target}, {{.reduction = Reduction::none}})",
        lambda x: F.binary_cross_entropy_with_logits(x, torch.full_like(x, target), reduction="none"), ZERO + far)
row("bceWithLogitsLoss(v[0], v[0].detach() * 0 + 0.25, {.positiveWeight = Tensor::from(std::vector<double>{3.0}, {1}), "
    ".reduction = Reduction::none})",
    lambda x: F.binary_cross_entropy_with_logits(x, torch.full_like(x, 0.25), reduction="none",
                                                 pos_weight=torch.tensor([3.0])), ZERO + far)
row("softMarginLoss(v[0], v[0].detach() * 0 + 1, Reduction::none)",
    lambda x: F.soft_margin_loss(x, torch.ones_like(x), reduction="none"), ZERO + [1.0, -1.0, 100.0])
# Borders.
row("relu(v[0])", F.relu, ZERO + [1.0, -1.0] + ENDS)
row("abs(v[0])", torch.abs, ZERO + [1.0, -1.0] + ENDS)
row("relu6(v[0])", F.relu6, ZERO + [6.0, 3.0, -1.0, 7.0] + ENDS)
row("hardTanh(v[0])", F.hardtanh, ZERO + [1.0, -1.0, 0.5, 2.0] + ENDS)
row("hardTanh(v[0], -2, 3)", lambda x: F.hardtanh(x, -2, 3), [-2.0, 3.0, 0.5, 4.0])
row("hardSigmoid(v[0]) * 6", lambda x: F.hardsigmoid(x) * 6, [-3.0, 3.0, -4.0, 4.0, inf, -inf])
row("hardSwish(v[0])", F.hardswish, ZERO + [-3.0, 3.0, -4.0, 4.0, inf])
row("clamp(v[0], -1.0, 1.0)", lambda x: x.clamp(-1, 1), ZERO + [1.0, -1.0, 0.5, 2.0] + ENDS)
row("clamp(v[0], 2.0, 1.0)", lambda x: x.clamp(2, 1), [1.0, 2.0, 1.5, 3.0])
row("clampMin(v[0], 0.0)", lambda x: x.clamp(min=0), ZERO + [1.0, -1.0] + ENDS)
row("clampMax(v[0], 1.0)", lambda x: x.clamp(max=1), ZERO + [1.0, -1.0, 2.0] + ENDS)
row("clamp(v[0], v[1], v[2])", torch.clamp, [0.0, 1.0, -1.0, 2.0, -2.0], [-1.0] * 5, [1.0] * 5)
row("maximum(v[0], v[1])", torch.maximum, [0.0, 1.0, 2.0, inf], [0.0, 1.0, 3.0, inf])
row("minimum(v[0], v[1])", torch.minimum, [0.0, 1.0, 2.0, inf], [0.0, 1.0, 3.0, inf])
row("max(v[0], 1)", lambda x: x.amax(1), [[1.0, 1.0, 0.0], [inf, inf, 0.0]])
row("leakyRelu(v[0])", F.leaky_relu, ZERO + [1.0, -1.0, inf, -inf])
row("hardShrink(v[0])", F.hardshrink, ZERO + [0.5, -0.5, 1.0])
row("softShrink(v[0])", F.softshrink, ZERO + [0.5, -0.5, 1.0])
row("threshold(v[0], 1, 5)", lambda x: F.threshold(x, 1.0, 5.0), [0.0, 1.0, 2.0] + ENDS)
row("hingeEmbeddingLoss(v[0], v[1].detach(), 1.0, Reduction::none)",
    lambda x, t: F.hinge_embedding_loss(x, t.detach(), reduction="none"), [1.0, 1.0, 0.0], [1.0, -1.0, -1.0])
row("marginRankingLoss(v[0], v[1], v[0].detach() * 0 + 1, 0, Reduction::none)",
    lambda x, y: F.margin_ranking_loss(x, y, torch.ones_like(x), reduction="none"), [1.0, 2.0], [1.0, 1.0])
# The side that is not taken overflows.
exponential = ZERO + [1.0, -1.0, 100.0, 1000.0, inf, -inf, tiny, -tiny, big]
row("elu(v[0])", F.elu, exponential)
row("elu(v[0], 2)", lambda x: F.elu(x, 2.0), exponential)
row("celu(v[0])", F.celu, exponential)
row("celu(v[0], 0.5)", lambda x: F.celu(x, 0.5), exponential)
row("celu(v[0], -2)", lambda x: F.celu(x, -2.0), ZERO + [1.0, -1.0, 100.0])
row("selu(v[0])", F.selu, ZERO + [1.0, -1.0, 100.0, 1000.0])
distances = [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, inf, -inf, 1e200]
row("huberLoss(v[0], v[1], Reduction::none)",
    lambda x, t: F.huber_loss(x, t, reduction="none"), distances, [0.0] * len(distances))
row("huberLoss(v[0], 0.0, Reduction::none, 2.0)",
    lambda x: F.huber_loss(x, torch.zeros_like(x), reduction="none", delta=2.0), distances)
row("smoothL1Loss(v[0], v[1], Reduction::none)",
    lambda x, t: F.smooth_l1_loss(x, t, reduction="none"), distances, [0.0] * len(distances))
row("smoothL1Loss(v[0], 0.0, Reduction::none, 0.5)",
    lambda x: F.smooth_l1_loss(x, torch.zeros_like(x), reduction="none", beta=0.5), distances)
row("l1Loss(v[0], 0.0, Reduction::none)",
    lambda x: F.l1_loss(x, torch.zeros_like(x), reduction="none"), distances)
# Powers.
for exponent in (0.0, 1.0, 2.0, 3.0, -1.0):
    row(f"pow(v[0], {exponent})", lambda x: x.pow(exponent), ZERO + [1.0, -1.0, inf])
row("pow(v[0], 0.5)", lambda x: x.pow(0.5), [0.0, 1.0, inf])
row("pow(v[0], 1.5)", lambda x: x.pow(1.5), [0.0, 1.0, inf])
row("pow(v[0], v[1])", torch.pow, [0.0, -0.0, 1.0, -1.0, inf, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.5],
    twice=False)
for base in (0.0, -0.0, 2.0):
    row(f"pow({base}, v[0])", lambda y: torch.pow(torch.tensor(base), y), [0.0, 1.0, 2.0, -1.0, -2.0, -0.5], twice=False)
# Products with zeros.
zeros = [[0.0, 2.0, 3.0, 4.0], [1.0, 0.0, 3.0, 4.0], [1.0, 2.0, 3.0, 0.0], [-0.0, 2.0, 1.0, 5.0], [1.0, 2.0, 3.0, 4.0]]
more = [[0.0, 0.0, 3.0, 4.0], [2.0, 0.0, 3.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
row("cumprod(v[0], 1)", lambda x: x.cumprod(1), zeros)
row("cumprod(v[0], 1) * Tensor::from(std::vector<double>{3, -1, 2, 5}, {4})",
    lambda x: x.cumprod(1) * torch.tensor([3.0, -1.0, 2.0, 5.0]), zeros + more, twice=False)
row("cumprod(v[0], 0)", lambda x: x.cumprod(0), zeros, twice=False)
row("prod(v[0], 1)", lambda x: x.prod(1), zeros + more)
# Variances below epsilon, which has its value, not its gradient.
row("gaussianNllLoss(v[0], v[1], v[2], Reduction::none, 0.5)",
    lambda x, t, w: F.gaussian_nll_loss(x, t, w, eps=0.5, reduction="none"), [1.0, 2.0, -1.0, 3.0], [0.5] * 4,
    [0.0, 0.25, 0.5, 2.0])
# Angles: axes, diagonals, signs of zero, infinities.
row("atan2(v[0], v[1])", torch.atan2, [1.0, 1, -1, -1, 0, 2, -2, 0, 3, 1, -0.0, 0, -0.0, 0, -0.0, 1e-300, 1e300],
    [1.0, -1, 1, -1, 2, 0, 0, -2, 3, 2, 2, 0, 0, -0.0, -0.0, 1.0, 1.0])
row("atan2(v[0], v[1])", torch.atan2, [inf, inf, -inf, -inf, 1, 1, inf, -inf],
    [inf, -inf, inf, -inf, inf, -inf, 1, 1.0])
row("angle(Complex{v[0], v[1]})", lambda x, y: torch.angle(torch.complex(x, y)), [1.0, -1, 0, 1, 0], [0.0, 0, 1, 1, 0])
# All others of one operand, at points that all of them share.
shared = ZERO + [1.0, -1.0, 0.5, -2.0, 3.0, 10.0, -10.0, 100.0, -100.0, 1e150, -1e150, big, -big] + ENDS
for function in (torch.exp, torch.expm1, torch.exp2, torch.log, torch.log1p, torch.log2, torch.log10, torch.sqrt, torch.rsqrt,
                 torch.reciprocal, torch.sin, torch.cos, torch.tan, torch.asin, torch.acos, torch.atan, torch.sinh, torch.cosh,
                 torch.tanh, torch.atanh, torch.erf, torch.erfc, torch.sigmoid, torch.square, torch.floor, torch.ceil,
                 torch.round, torch.trunc, torch.frac):
    row(f"{function.__name__}(v[0])", function, shared)
left = [0.0, -0.0, 1.0, -1.0, 2.0, inf, -inf, big, tiny]
pairs = [x for x in left for y in left], [y for x in left for y in left]
row("v[0] * v[1]", torch.mul, *pairs)
row("v[0] / v[1]", torch.div, *pairs, twice=False)
row("mseLoss(v[0], v[1], Reduction::none)", lambda x, y: F.mse_loss(x, y, reduction="none"), *pairs)
row("poissonNllLoss(v[0], v[1], Reduction::none)", lambda x, t: F.poisson_nll_loss(x, t, reduction="none"), *pairs)
table = [[0.0, -0.0, 2.0], [3.0, 3.0, 3.0], [100.0, 1000.0, -1000.0], [big, 1.0, -big], [-inf, 0.0, 1.0], [tiny, 0.0, -tiny]]
for name in ("softmax", "logSoftmax"):
    row(f"{name}(v[0], 1) * Tensor::from(std::vector<double>{{1, -2, 3}}, {{3}})",
        lambda x: (x.softmax(1) if name == "softmax" else x.log_softmax(1)) * torch.tensor([1.0, -2.0, 3.0]), table)
row("layerNorm(v[0], {3})", lambda x: F.layer_norm(x, (3,)), [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, 2.0, 4.0]], twice=False)
# Lengths of vectors that are zero or constant.
vectors = [[0.0, 0.0], [3.0, 4.0], [0.0, 4.0], [3.0, 3.0], [-3.0, 0.0]]
for p, name in ((2.0, "2.0"), (1.0, "1.0"), (3.0, "3.0"), (1.5, "1.5"), (0.5, "0.5"), (-1.0, "-1.0"),
                (inf, "HUGE_VAL"), (-inf, "-HUGE_VAL")):
    row(f"norm(v[0], {name}, 1)", lambda x: torch.linalg.vector_norm(x, p, dim=1), vectors)
row("norm(v[0], 2.0, 1)", lambda x: torch.linalg.vector_norm(x, dim=1), [[1e200, 1e200], [inf, 1.0]], twice=False)
row("norm(v[0], 2.0, 1)", lambda x: torch.linalg.vector_norm(x, dim=1), [[0.0], [-1e200], [tiny], [-inf]])
row("norm(v[0])", torch.linalg.vector_norm, [[0.0, 0.0], [0.0, 0.0]])
same = [[1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]
row("stdDev(v[0], 1)", lambda x: x.std(1), same)
row("stdDev(v[0], 1, 0)", lambda x: x.std(1, correction=0), same)
row("var(v[0], 1)", lambda x: x.var(1), same)
row("cosineSimilarity(v[0], v[1], 1)", lambda x, y: F.cosine_similarity(x, y, dim=1),
    [[0.0, 0.0], [3.0, 4.0], [1.0, 0.0], [0.0, 0.0]], [[1.0, 2.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
for p in (1.0, 2.0, 3.0):
    row(f"normalize(v[0], {p}, 1)", lambda x: F.normalize(x, p=p, dim=1), vectors)
row("cdist(v[0], v[1])", lambda x, y: torch.linalg.vector_norm(x[:, None] - y[None], dim=-1),
    [[0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0], [3.0, 0.0]])
row("abs(Complex{v[0], v[1]})", lambda x, y: torch.abs(torch.complex(x, y)), [0.0, 1.0, -1.0, 0.0], [0.0, 0.0, 0.0, 1.0])
row("logsumexp(v[0], 1)", lambda x: torch.logsumexp(x, 1), [[0.0, 0.0], [1000.0, 1000.0], [-inf, 0.0]])
# Queries that see no key.
def attend(mask):
    return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
square = [[1.0, 2.0], [3.0, 4.0]]
row("scaledDotProductAttention(v[0], v[1], v[2], {.mask = Tensor::from(std::vector<double>{0, 0, 1, 0}, {2, 2})"
    ".to(DType::boolean)})", attend(torch.tensor([[False, False], [True, False]])), square, square, square)
row("scaledDotProductAttention(v[0], v[1], v[2], {.mask = Tensor::from(std::vector<double>{-HUGE_VAL, -HUGE_VAL, 0.5, "
    "-HUGE_VAL}, {2, 2})})", attend(torch.tensor([[-inf, -inf], [0.5, -inf]])), square, square, square)

print("// Made by special_points.py.")
print("// clang-format off")
print("\n".join(rows))
