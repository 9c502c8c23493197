"""What random graphs grow by: each function adds an operator to a graph, or leaves it where it finds nothing to take."""
import math

from onnx_bytes import BOOL, FLOAT, INT64

# name, bound of the result by that of the operand, whether exact stays exact
UNARY = [('Tanh', lambda b: 1.0, False), ('Sigmoid', lambda b: 1.0, False), ('Relu', lambda b: b, True),
         ('Neg', lambda b: b, True), ('Abs', lambda b: b, True), ('Erf', lambda b: 1.0, False),
         ('Sin', lambda b: 1.0, False), ('Cos', lambda b: 1.0, False), ('Softsign', lambda b: 1.0, False),
         ('Softplus', lambda b: b + 1, False), ('Elu', lambda b: b + 1, False), ('Selu', lambda b: 2 * b + 2, False),
         ('LeakyRelu', lambda b: b, False), ('HardSigmoid', lambda b: 1.0, False), ('Identity', lambda b: b, True),
         ('Atan', lambda b: 2.0, False), ('ThresholdedRelu', lambda b: b, True)]
NEWER = [('HardSwish', 14), ('Mish', 18), ('Gelu', 20)]


def unary(g):
    x = g.find()
    if not x:
        return
    if g.chance(6):
        name, since = g.pick(NEWER)
        if g.opset >= since:
            g.emit(name, [x], (x.shape, x.bound + 1, 0))
        return
    name, bound, exact = g.pick(UNARY)
    if name == 'ThresholdedRelu' and not x.bits:
        return
    g.emit(name, [x], (x.shape, bound(x.bound), x.bits if exact else 0))


def positive(g):
    x = g.find()
    if x:
        y = g.emit('Abs', [x], (x.shape, x.bound, x.bits))
        y = g.emit('Add', [y, g.constant(FLOAT, (), [1.0])], (x.shape, x.bound + 1, 0))
        name = g.pick(('Sqrt', 'Log', 'Reciprocal'))
        g.emit(name, [y], (x.shape, x.bound + 1, 0))


def rounding(g):
    x = g.find(want=lambda v: v.bits)
    if x:
        g.emit(g.pick(('Floor', 'Ceil', 'Round', 'Sign')), [x], (x.shape, x.bound + 1, x.bits))


def binary(g):
    x = g.find()
    if not x:
        return
    y = g.partner(x)
    name = g.pick(('Add', 'Sub', 'Mul', 'Max', 'Min', 'PRelu'))
    if name == 'PRelu' and len(y.shape) > len(x.shape):
        return
    bits = max(x.bits, y.bits) + (name in ('Add', 'Sub')) if x.bits and y.bits and name not in ('Mul', 'PRelu') else 0
    bound = {'Add': x.bound + y.bound, 'Sub': x.bound + y.bound, 'Mul': x.bound * y.bound,
             'PRelu': x.bound * max(1, y.bound)}.get(name, max(x.bound, y.bound))
    pair = [y, x] if name in ('Add', 'Mul', 'Max') and g.chance(2) else [x, y]
    g.emit(name, pair, (x.shape, bound, bits if bits < 16 else 0))


def quotient(g):
    x = g.find()
    if x:
        y = g.partner(x)
        y = g.emit('Abs', [y], (y.shape, y.bound, 0))
        y = g.emit('Add', [y, g.constant(FLOAT, (1,), [1.0])], (y.shape or (1,), y.bound + 1, 0))
        if len(y.shape) <= len(x.shape):
            g.emit('Div', [x, y], (x.shape, x.bound, 0))


def several(g):
    x = g.find()
    if x:
        parts = [x] + [g.partner(x) for _ in range(g.pick((1, 2)))]
        name = g.pick(('Max', 'Min', 'Sum', 'Mean'))
        bound = sum(p.bound for p in parts) if name == 'Sum' else max(p.bound for p in parts)
        bits = max(p.bits for p in parts) if name in ('Max', 'Min') and all(p.bits for p in parts) else 0
        g.emit(name, parts, (x.shape, bound, bits))


def integer(g):
    x = g.find(INT64, lambda v: v.bound < 1e4)
    if x:
        y = g.partner(x)
        name = g.pick(('Add', 'Sub', 'Mul', 'Neg', 'Abs', 'Max', 'Min'))
        operands = [x] if name in ('Neg', 'Abs') else [x, y]
        if name in ('Max', 'Min') and g.opset < 12:
            return
        g.emit(name, operands, (INT64, x.shape, x.bound * y.bound + x.bound + y.bound, 6))


def compare(g):
    x = g.find(g.pick((FLOAT, INT64)), lambda v: v.bits)
    if x:
        names = ['Greater', 'Less', 'Equal'] + (['GreaterOrEqual', 'LessOrEqual'] if g.opset >= 12 else [])
        y = g.partner(x)
        if y.bits:
            g.emit(g.pick(names), [x, y], (BOOL, x.shape, 1, 1))


def logic(g):
    x = g.find(BOOL)
    if x:
        if g.chance(3):
            g.emit('Not', [x], (BOOL, x.shape, 1, 1))
        else:
            g.emit(g.pick(('And', 'Or', 'Xor')), [x, g.partner(x)], (BOOL, x.shape, 1, 1))


def where(g):
    x = g.find()
    if x:
        y, c = g.partner(x), g.partner(x, BOOL)
        bits = max(x.bits, y.bits) if x.bits and y.bits else 0
        g.emit('Where', [c, x, y], (x.shape, max(x.bound, y.bound), bits))


def cast(g):
    x = g.find(g.pick((BOOL, INT64, FLOAT)), lambda v: v.bits and v.bound < 1e4)
    if x and x.dtype == FLOAT:
        g.emit('Cast', [x], (INT64, x.shape, x.bound, 6), to=INT64)
    elif x:
        g.emit('Cast', [x], (FLOAT, x.shape, x.bound, 14), to=FLOAT)


def some_axes(g, rank):
    axes = sorted(g.random.sample(range(rank), g.random.randint(1, rank)))
    return [a - rank if g.chance(3) else a for a in axes]


def without(shape, axes, keep):
    axes = {a % len(shape) for a in axes}
    return tuple(1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes)


def reduce(g):
    x = g.find(want=lambda v: v.shape)
    if not x:
        return
    name = g.pick(('Sum', 'Mean', 'Max', 'Min', 'L1', 'L2', 'SumSquare', 'LogSumExp'))
    axes, keep = some_axes(g, len(x.shape)), g.random.randrange(2)
    shape = without(x.shape, axes, keep)
    count = math.prod(x.shape) // max(1, math.prod(shape))
    bound = {'Sum': x.bound * count, 'L1': x.bound * count, 'L2': x.bound * count, 'SumSquare': x.bound ** 2 * count,
             'LogSumExp': x.bound + math.log(count)}.get(name, x.bound)
    bits = x.bits if name in ('Max', 'Min') else 0
    as_input = g.opset >= (13 if name == 'Sum' else 18)
    inputs, attributes = ([x, g.ints(axes)], {}) if as_input else ([x], {'axes': axes})
    g.emit('Reduce' + name, inputs, (shape, bound, bits), keepdims=keep, **attributes)


def arg_reduce(g):
    x = g.find(want=lambda v: v.shape and v.bits)
    if x:
        axis, keep = g.random.randrange(len(x.shape)), g.random.randrange(2)
        last = {'select_last_index': g.random.randrange(2)} if g.opset >= 12 else {}
        g.emit(g.pick(('ArgMax', 'ArgMin')), [x], (INT64, without(x.shape, [axis], keep), 33, 6), axis=axis, keepdims=keep, **last)


def top_k(g):
    x = g.find(want=lambda v: v.shape and v.bits)
    if x:
        axis = g.random.randrange(len(x.shape))
        k = g.random.randint(1, x.shape[axis])
        shape = x.shape[:axis] + (k,) + x.shape[axis + 1:]
        g.emit('TopK', [x, g.ints([k])], (shape, x.bound, x.bits), (INT64, shape, 33, 6), axis=axis, largest=g.random.randrange(2), sorted=1)


def matmul(g):
    x = g.find(want=lambda v: len(v.shape) >= 2)
    if not x:
        return
    n, rank = g.pick((1, 3, 8, 17)), len(x.shape)
    batch = g.narrowed(x.shape[:-2]) if g.chance(2) else ()
    if g.chance(6):
        g.emit('MatMul', [x, g.constant(FLOAT, x.shape[-1:])], (x.shape[:-1], 2 * x.bound * x.shape[-1], 0))
    elif math.prod(x.shape[:-1]) * n <= 6000:
        w = g.constant(FLOAT, batch + (x.shape[-1], n))
        g.emit('MatMul', [x, w], (x.shape[:-1] + (n,), 2 * x.bound * x.shape[-1], 0))


def gemm(g):
    x = g.find(want=lambda v: len(v.shape) == 2)
    if x:
        n, ta, tb = g.pick((1, 4, 16, 19)), g.random.randrange(2), g.random.randrange(2)
        m, k = x.shape[::-1] if ta else x.shape
        w = g.constant(FLOAT, (n, k) if tb else (k, n))
        c = [g.constant(FLOAT, g.narrowed((m, n)))] if g.chance(2) else []
        g.emit('Gemm', [x, w] + c, ((m, n), 4 * x.bound * k + 8, 0), alpha=0.5, beta=float(g.pick((1, 2))), transA=ta, transB=tb)


def window(g, sizes, most=3):
    """Kernel, strides, pads and dilations of a window, and the sizes that it gives."""
    rank = len(sizes)
    kernel = [g.random.randint(1, min(most, s)) for s in sizes]
    strides = [g.random.randint(1, 2) for _ in sizes]
    dilations = [g.random.randint(1, 2) if (k - 1) * 2 < s else 1 for k, s in zip(kernel, sizes)]
    pads = [g.random.randrange(k) for k in kernel] + [g.random.randrange(k) for k in kernel]
    out = [(s + pads[i] + pads[i + rank] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1
           for i, s in enumerate(sizes)]
    return kernel, strides, pads, dilations, tuple(out)


def conv(g):
    x = g.find(want=lambda v: len(v.shape) in (3, 4))
    if not x:
        return
    channels = x.shape[1]
    groups = g.pick([d for d in range(1, channels + 1) if channels % d == 0])
    out = groups * g.pick((1, 2))
    kernel, strides, pads, dilations, sizes = window(g, x.shape[2:])
    shape = (x.shape[0], out) + sizes
    if math.prod(shape) > 6000:
        return
    w = g.constant(FLOAT, (out, channels // groups, *kernel))
    bias = [g.constant(FLOAT, (out,))] if g.chance(2) else []
    bound = 2 * x.bound * math.prod(kernel) * channels // groups + 2
    g.emit('Conv', [x, w] + bias, (shape, bound, 0), kernel_shape=kernel, strides=strides, pads=pads, dilations=dilations, group=groups)


def conv_transpose(g):
    x = g.find(want=lambda v: len(v.shape) in (3, 4))
    if not x:
        return
    rank, out = len(x.shape) - 2, g.pick((1, 3))
    kernel, strides = [g.random.randint(1, 3) for _ in range(rank)], [g.random.randint(1, 2) for _ in range(rank)]
    shape = (x.shape[0], out) + tuple((s - 1) * t + k for s, t, k in zip(x.shape[2:], strides, kernel))
    if math.prod(shape) <= 6000:
        w = g.constant(FLOAT, (x.shape[1], out, *kernel))
        g.emit('ConvTranspose', [x, w], (shape, 2 * x.bound * math.prod(kernel) * x.shape[1], 0), kernel_shape=kernel, strides=strides)


def pool(g):
    x = g.find(want=lambda v: len(v.shape) in (3, 4))
    if not x:
        return
    if g.chance(4):
        name = g.pick(('GlobalAveragePool', 'GlobalMaxPool'))
        g.emit(name, [x], (x.shape[:2] + (1,) * (len(x.shape) - 2), x.bound, x.bits if 'Max' in name else 0))
        return
    kernel, strides, pads, _, _ = window(g, x.shape[2:])
    rank = len(kernel)
    sizes = tuple((s + pads[i] + pads[i + rank] - kernel[i]) // strides[i] + 1 for i, s in enumerate(x.shape[2:]))
    name = g.pick(('MaxPool', 'AveragePool'))
    extra = {'count_include_pad': g.random.randrange(2)} if name == 'AveragePool' else {}
    g.emit(name, [x], (x.shape[:2] + sizes, x.bound, x.bits if name == 'MaxPool' else 0), kernel_shape=kernel, strides=strides, pads=pads, **extra)


def normalize(g):
    x = g.find(want=lambda v: len(v.shape) >= 2)
    if not x:
        return
    name = g.pick(('BatchNormalization', 'InstanceNormalization', 'LayerNormalization'))
    c = x.shape[1]
    if name == 'BatchNormalization':
        variance = g.constant(FLOAT, (c,), [g.random.randint(4, 16) / 8 for _ in range(c)])
        g.emit(name, [x, g.constant(FLOAT, (c,)), g.constant(FLOAT, (c,)), g.constant(FLOAT, (c,)), variance],
               (x.shape, 4 * x.bound + 8, 0), epsilon=1e-3)
    elif name == 'InstanceNormalization' and len(x.shape) >= 3 and math.prod(x.shape[2:]) > 3:
        # A large epsilon: nearly equal elements would be blown up.
        g.emit(name, [x, g.constant(FLOAT, (c,)), g.constant(FLOAT, (c,))], (x.shape, 16, 0), epsilon=0.5)
    elif name == 'LayerNormalization' and g.opset >= 17:
        axis = g.random.randrange(len(x.shape))
        g.emit(name, [x, g.constant(FLOAT, x.shape[axis:]), g.constant(FLOAT, x.shape[axis:])], (x.shape, 16, 0), axis=axis, epsilon=0.5)


def softmax(g):
    x = g.find(want=lambda v: v.shape)
    if x:
        name = g.pick(('Softmax', 'LogSoftmax'))
        g.emit(name, [x], (x.shape, 1.0 if name == 'Softmax' else 2 * x.bound + 9, 0), axis=g.random.randrange(len(x.shape)) - g.pick((0, len(x.shape))))


def any_value(g, want=lambda v: v.shape):
    return g.find(g.pick((FLOAT, FLOAT, FLOAT, INT64, BOOL)), want)


def moved(g, op, inputs, x, shape, **attributes):
    g.emit(op, inputs, (x.dtype, shape, x.bound, x.bits), **attributes)


def transpose(g):
    x = any_value(g)
    if x:
        perm = g.random.sample(range(len(x.shape)), len(x.shape))
        moved(g, 'Transpose', [x], x, [x.shape[p] for p in perm], perm=perm)


def reshape(g):
    x = any_value(g, lambda v: True)
    if not x:
        return
    count, shape = math.prod(x.shape), []
    while len(shape) < 4 and (count > 1 or g.chance(3)):
        shape.append(g.pick([d for d in range(1, count + 1) if count % d == 0]))
        count //= shape[-1]
    shape.append(count)
    target = list(shape)
    if g.chance(2):
        target[g.random.randrange(len(target))] = -1
    moved(g, 'Reshape', [x, g.ints(target)], x, shape)


def flatten(g):
    x = any_value(g)
    if x:
        axis = g.random.randrange(len(x.shape) + 1)
        moved(g, 'Flatten', [x], x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])), axis=axis)


def squeeze(g):
    x = any_value(g, lambda v: 1 in v.shape)
    if x:
        axes = [i for i, d in enumerate(x.shape) if d == 1 and g.chance(2)] or [x.shape.index(1)]
        inputs, attributes = ([x, g.ints(axes)], {}) if g.opset >= 13 else ([x], {'axes': axes})
        moved(g, 'Squeeze', inputs, x, without(x.shape, axes, False), **attributes)


def unsqueeze(g):
    x = any_value(g, lambda v: len(v.shape) < 5)
    if x:
        axis = g.random.randrange(len(x.shape) + 1)
        inputs, attributes = ([x, g.ints([axis])], {}) if g.opset >= 13 else ([x], {'axes': [axis]})
        moved(g, 'Unsqueeze', inputs, x, x.shape[:axis] + (1,) + x.shape[axis:], **attributes)


def concat(g):
    x = any_value(g)
    if not x:
        return
    axis = g.random.randrange(len(x.shape))
    parts = [x]
    for _ in range(g.pick((1, 2))):
        other = g.find(x.dtype, lambda v: len(v.shape) == len(x.shape) and all(a == b or i == axis for i, (a, b) in enumerate(zip(v.shape, x.shape))))
        parts.append(other if other and g.chance(2) else g.constant(x.dtype, x.shape))
    size = sum(p.shape[axis] for p in parts)
    bits = max(p.bits for p in parts) if all(p.bits for p in parts) else 0
    g.emit('Concat', parts, (x.dtype, x.shape[:axis] + (size,) + x.shape[axis + 1:], max(p.bound for p in parts), bits), axis=axis)


def split(g):
    x = any_value(g, lambda v: any(d > 1 for d in v.shape))
    if x:
        axis = g.pick([i for i, d in enumerate(x.shape) if d > 1])
        first = g.random.randint(1, x.shape[axis] - 1)
        sizes = [first, x.shape[axis] - first]
        inputs, attributes = ([x, g.ints(sizes)], {}) if g.opset >= 13 else ([x], {'split': sizes})
        g.emit('Split', inputs, *[(x.dtype, x.shape[:axis] + (s,) + x.shape[axis + 1:], x.bound, x.bits) for s in sizes],
               axis=axis, **attributes)


def slicing(g):
    x = any_value(g)
    if not x:
        return
    starts, ends, steps, shape = [], [], [], []
    for d in x.shape:
        step = g.pick((1, 1, 2, -1, -2))
        low = g.random.randrange(d)
        high = g.random.randint(low, d - 1)
        starts.append(low if step > 0 else high)
        ends.append(high + 1 if step > 0 else (low - 1 if low > 0 else -(1 << 40)))
        steps.append(step)
        shape.append((high - low) // abs(step) + 1)
    moved(g, 'Slice', [x, g.ints(starts), g.ints(ends), g.ints(list(range(len(shape)))), g.ints(steps)], x, shape)


def pad(g):
    x = g.find(want=lambda v: v.shape and min(v.shape) > 1)
    if x:
        mode = g.pick(('constant', 'reflect', 'edge'))
        pads = [g.random.randrange(2) for _ in range(2 * len(x.shape))]
        shape = [d + pads[i] + pads[i + len(x.shape)] for i, d in enumerate(x.shape)]
        moved(g, 'Pad', [x, g.ints(pads)], x, shape, mode=mode)


def expand(g):
    x = any_value(g, lambda v: True)
    if x:
        shape = [d if d > 1 else g.pick((1, 2, 3)) for d in x.shape]
        if math.prod(shape) <= 6000:
            moved(g, 'Expand', [x, g.ints(shape)], x, shape)


def tile(g):
    x = any_value(g)
    if x:
        times = [g.pick((1, 1, 2)) for _ in x.shape]
        shape = [d * t for d, t in zip(x.shape, times)]
        if math.prod(shape) <= 6000:
            moved(g, 'Tile', [x, g.ints(times)], x, shape)


def gather(g):
    x = any_value(g)
    if x:
        axis = g.random.randrange(len(x.shape))
        indices = g.shape(g.pick((0, 1, 1, 2)))
        shape = x.shape[:axis] + indices + x.shape[axis + 1:]
        if math.prod(shape) <= 6000 and len(shape) < 6:
            d = x.shape[axis]
            places = g.constant(INT64, indices, [g.random.randint(-d, d - 1) for _ in range(math.prod(indices))])
            moved(g, 'Gather', [x, places], x, shape, axis=axis)


def gather_elements(g):
    x = any_value(g)
    if x:
        axis = g.random.randrange(len(x.shape))
        shape = [g.random.randint(1, d) for d in x.shape]
        d = x.shape[axis]
        places = g.constant(INT64, shape, [g.random.randint(-d, d - 1) for _ in range(math.prod(shape))])
        moved(g, 'GatherElements', [x, places], x, shape, axis=axis)


def scatter_elements(g):
    x = g.find(want=lambda v: v.shape)
    if x:
        axis = g.random.randrange(len(x.shape))
        # One update along the axis: none writes where another does.
        shape = [1 if i == axis else g.random.randint(1, d) for i, d in enumerate(x.shape)]
        places = g.constant(INT64, shape, [g.random.randrange(x.shape[axis]) for _ in range(math.prod(shape))])
        g.emit('ScatterElements', [x, places, g.constant(FLOAT, shape)], (x.shape, max(2, x.bound), x.bits and max(6, x.bits)), axis=axis)


def blocks(g):
    x = g.find(want=lambda v: len(v.shape) == 4 and (v.shape[1] % 4 == 0 or (v.shape[2] % 2 == 0 and v.shape[3] % 2 == 0)))
    if x and x.shape[1] % 4 == 0:
        mode = g.pick(('DCR', 'CRD'))
        moved(g, 'DepthToSpace', [x], x, (x.shape[0], x.shape[1] // 4, 2 * x.shape[2], 2 * x.shape[3]), blocksize=2, mode=mode)
    elif x:
        moved(g, 'SpaceToDepth', [x], x, (x.shape[0], 4 * x.shape[1], x.shape[2] // 2, x.shape[3] // 2), blocksize=2)


def cumulative(g):
    x = g.find(want=lambda v: v.shape)
    if x:
        axis = g.random.randrange(len(x.shape))
        g.emit('CumSum', [x, g.constant(INT64, (), [axis])], (x.shape, x.bound * x.shape[axis], 0), exclusive=g.random.randrange(2), reverse=g.random.randrange(2))


def triangle(g):
    x = g.find(want=lambda v: len(v.shape) >= 2)
    if x and g.opset >= 14:
        g.emit('Trilu', [x, g.constant(INT64, (), [g.random.randint(-2, 2)])], (x.shape, x.bound, x.bits), upper=g.random.randrange(2))


ALL = [unary, unary, unary, positive, rounding, binary, binary, binary, quotient, several, integer, compare, logic, where,
       cast, reduce, reduce, arg_reduce, top_k, matmul, matmul, gemm, conv, conv, conv_transpose, pool, normalize, softmax,
       transpose, reshape, flatten, squeeze, unsqueeze, concat, split, slicing, pad, expand, tile, gather, gather_elements,
       scatter_elements, blocks, cumulative, triangle]
