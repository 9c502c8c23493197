#!/usr/bin/env python3
"""Compiles very large models of many shapes under limits of time and memory.

    scale.py SPRIG FOLDER [--size N] [--seconds S] [--megabytes M] [NAME...]

Each row of MODELS makes a model of N parts (10,000 by default, or as many as the row says). `sprig compile` must end with
a package, in S seconds of one core and M megabytes, and must not take much more than twice as long for N as for N / 2.
Each row of REFUSED is a model beyond a limit: exit code 4 within the same bounds, with a text that names the limit and
the number. NAMEs are those of rows; all without. Closes with `N passed, N failed`.
"""
import argparse
import math
import os
import pathlib
import re
import resource
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'fuzz' / 'graphs'))
import onnx_bytes as onnx
from counting import expect, finish

FLOAT, INT64, BOOL = onnx.FLOAT, onnx.INT64, onnx.BOOL


class Model:
    """A graph node by node; values are called by their names."""

    def __init__(self, **inputs):
        self.nodes, self.initializers, self.outputs, self.count = [], [], [], 0
        self.inputs = [onnx.value_info(name, *kind) for name, kind in inputs.items()]

    def name(self):
        self.count += 1
        return f'v{self.count}'

    def __call__(self, op, *inputs, outputs=1, **attributes):
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(onnx.node(op, inputs, names, attributes))
        return names[0] if outputs == 1 else names

    def raw(self, dtype, shape, data):
        name = self.name()
        self.initializers.append(onnx.message(*[(1, d) for d in shape], (2, dtype), (8, name), (9, data)))
        return name

    def weight(self, *shape):
        """Small numbers that differ."""
        count = math.prod(shape)
        few = b''.join(struct.pack('<f', ((i * 37) % 101 - 50) / 50 / max(shape[-1], 1)) for i in range(min(count, 101)))
        return self.raw(FLOAT, shape, (few * (count // 101 + 1))[:4 * count])

    def ints(self, *values):
        return self.raw(INT64, [len(values)], struct.pack(f'<{len(values)}q', *values))

    def give(self, name, dtype, shape):
        self.outputs.append(onnx.value_info(name, dtype, shape))

    def bytes(self, opset=17):
        return onnx.model(opset, self.nodes, self.initializers, self.inputs, self.outputs)


def one(shape=(1, 16), **more):
    return Model(x=(FLOAT, shape), **more)


def done(m, value, *shape):
    m.give(value, FLOAT, shape)
    return m.bytes()


def steps(m, n, width=4):
    """n different values of shape [1, width] that are computed."""
    w = m.weight(n, width)
    parts = m('Split', w, outputs=n, axis=0) if n > 1 else [w]
    return [m('Mul', 'x', part) for part in parts]


# Moves.
def concat(n):
    m = one((1, 4))
    return done(m, m('Concat', *steps(m, n), axis=0), n, 4)


def concat_inner(n):
    m = one((3, 1))
    w = m.weight(n)
    parts = m('Split', w, outputs=n, axis=0)
    return done(m, m('Concat', *[m('Mul', 'x', p) for p in parts], axis=1), 3, n)


def concat_uneven(n):
    m = Model(x=(FLOAT, (4, 3 * n)))
    sizes = [1 + i * 7 % 5 for i in range(n)]
    parts = [m('Slice', 'x', m.ints(i), m.ints(i + size), m.ints(1)) for i, size in enumerate(sizes)]
    return done(m, m('Concat', *[m('Relu', p) for p in parts], axis=1), 4, sum(sizes))


def concat_inputs(n):
    m = Model(**{f'x{i}': (FLOAT, (1, 8)) for i in range(n)})
    return done(m, m('Concat', *[f'x{i}' for i in range(n)], axis=0), n, 8)


def concat_slices(n):
    m = Model(x=(FLOAT, (n + 2, 8)))
    parts = [m('Slice', 'x', m.ints(n - i), m.ints(n - i + 2), m.ints(0)) for i in range(n)]
    return done(m, m('Concat', *parts, axis=0), 2 * n, 8)


def concat_chain(n):
    m = one((1, 4))
    y = 'x'
    for part in steps(m, n):
        y = m('Concat', y, part, axis=0)
    return done(m, y, n + 1, 4)


def concat_chain_constant(n):
    m = one((1, 4))
    w = m.weight(1, 4)
    y = 'x'
    for _ in range(n):
        y = m('Concat', y, w, axis=0)
    return done(m, y, n + 1, 4)


def split(n):
    m = Model(x=(FLOAT, (n, 8)))
    parts = m('Split', 'x', outputs=n, axis=0)
    total = parts[0]
    for part in parts[1:]:
        total = m('Add', total, part)
    return done(m, total, 1, 8)


def split_concat(n):
    m = Model(x=(FLOAT, (n, 8)))
    parts = m('Split', 'x', outputs=n, axis=0)
    return done(m, m('Concat', *[m('Tanh', p) for p in parts], axis=0), n, 8)


def gathers(n):
    m = Model(x=(FLOAT, (n, 8)))
    parts = [m('Gather', 'x', m.ints(n - 1 - i), axis=0) for i in range(n)]
    return done(m, m('Sum', *parts), 1, 8)


def gathers_data(n):
    m = Model(x=(FLOAT, (100, 8)), i=(INT64, (1,)))
    y = m('Gather', 'x', 'i', axis=0)
    for _ in range(n):
        y = m('Add', y, m('Gather', 'x', 'i', axis=0))
        y = m('Relu', y)
    return done(m, y, 1, 8)


def slices(n):
    m = Model(x=(FLOAT, (2 * n + 8, 4)))
    y = 'x'
    for _ in range(n):
        y = m('Slice', y, m.ints(1), m.ints(2**31), m.ints(0))
    return done(m, y, n + 8, 4)


def transposes(n):
    m = one((6, 8))
    y = 'x'
    for i in range(n):
        y = m('Transpose', y, perm=[1, 0])
        y = m('Reshape', y, m.ints(*((6, 8) if i % 2 else (4, 12))))
    return done(m, m('Reshape', y, m.ints(6, 8)), 6, 8)


def pads(n):
    m = one((2, 4))
    y = 'x'
    for _ in range(n):
        y = m('Pad', m('Slice', y, m.ints(0), m.ints(3), m.ints(1)), m.ints(0, 0, 0, 1))
        y = m('Tanh', y)
    return done(m, y, 2, 4)


# Elementwise.
def elementwise(n):
    m = one((4, 32))
    y = 'x'
    for i in range(n):
        y = m(('Tanh', 'Sigmoid', 'Neg', 'Abs')[i % 4], y)
    return done(m, y, 4, 32)


def elementwise_two(n):
    """A chain in which each operation reads the result before the last, too."""
    m = one((4, 32))
    a, b = 'x', m('Tanh', 'x')
    for i in range(n):
        a, b = b, m(('Add', 'Mul', 'Sub', 'Max')[i % 4], a, b)
    return done(m, b, 4, 32)


def wheres(n):
    m = Model(x=(FLOAT, (4, 32)), c=(BOOL, (4, 32)))
    y, z = 'x', m('Neg', 'x')
    for _ in range(n):
        y = m('Where', 'c', y, m('Add', y, z))
    return done(m, y, 4, 32)


def sum_many(n):
    m = one((1, 4))
    return done(m, m('Sum', *steps(m, n)), 1, 4)


def max_many(n):
    m = one((1, 4))
    return done(m, m('Max', *steps(m, n)), 1, 4)


def sum_inputs(n):
    m = Model(**{f'x{i}': (FLOAT, (1, 8)) for i in range(n)})
    return done(m, m('Sum', *[f'x{i}' for i in range(n)]), 1, 8)


def sum_tree(n):
    m = one((1, 4))
    level = steps(m, n)
    while len(level) > 1:
        level = [m('Add', *pair) if len(pair) == 2 else pair[0] for pair in zip(*[iter(level + [level[-1]] * (len(level) % 2))] * 2)]
    return done(m, level[0], 1, 4)


def outputs(n):
    m = one((1, 4))
    for part in steps(m, n):
        m.give(part, FLOAT, (1, 4))
    return m.bytes()


def constants(n):
    """n parameters of one element each, added in turn."""
    m = one((1, 16))
    y = 'x'
    for i in range(n):
        y = m('Add', m('Tanh', y), m.raw(FLOAT, [1], struct.pack('<f', 1 + i / n)))
    return done(m, y, 1, 16)


# Networks.
def residual(n):
    m = one((1, 16))
    y = 'x'
    for _ in range(n):
        y = m('Add', y, m('Relu', m('MatMul', y, m.weight(16, 16))))
    return done(m, y, 1, 16)


def residual_shared(n):
    m = one((1, 16))
    y, w = 'x', m.weight(16, 16)
    for _ in range(n):
        y = m('Add', y, m('Relu', m('MatMul', y, w)))
    return done(m, y, 1, 16)


def residual_conv(n):
    m = one((1, 4, 6, 6))
    y = 'x'
    for _ in range(n):
        y = m('Add', y, m('Relu', m('Conv', y, m.weight(4, 4, 3, 3), pads=[1, 1, 1, 1])))
    return done(m, y, 1, 4, 6, 6)


def dense_net(n):
    """Each layer reads all layers before it."""
    m = one((1, 4))
    y = 'x'
    for i in range(n):
        y = m('Concat', y, m('MatMul', y, m.weight(4 + i, 1)), axis=1)
    return done(m, y, 1, 4 + n)


def norms(n):
    m = one((2, 16))
    y, scale, bias = 'x', m.weight(16), m.weight(16)
    for _ in range(n):
        y = m('LayerNormalization', m('Add', y, 'x'), scale, bias)
    return done(m, y, 2, 16)


def softmaxes(n):
    m = one((2, 16))
    y = 'x'
    for _ in range(n):
        y = m('Softmax', m('Add', y, 'x'))
    return done(m, y, 2, 16)


def branches(n):
    """n products of one value, added up."""
    m = one((1, 16))
    return done(m, m('Sum', *[m('MatMul', 'x', m.weight(16, 8)) for _ in range(n)]), 1, 8)


def rnn(n, joined=True):
    m = Model(x=(FLOAT, (n, 1, 4)))
    w, r, h = m.weight(4, 8), m.weight(8, 8), m.weight(1, 8)
    states = []
    for i in range(n):
        x = m('Gather', 'x', m.raw(INT64, [], struct.pack('<q', i)), axis=0)
        h = m('Tanh', m('Add', m('MatMul', x, w), m('MatMul', h, r)))
        states.append(h)
    return done(m, m('Concat', *states, axis=0), n, 8) if joined else done(m, h, 1, 8)


def gru(n):
    m = Model(x=(FLOAT, (n, 1, 4)))
    gates = [[m.weight(4, 8), m.weight(8, 8)] for _ in range(3)]
    unit, h = m.raw(FLOAT, [], struct.pack('<f', 1)), m.weight(1, 8)
    states = []
    parts = m('Split', 'x', outputs=n, axis=0)
    for part in parts:
        x = m('Squeeze', part, m.ints(0))
        gate = lambda k, state: m('Add', m('MatMul', x, gates[k][0]), m('MatMul', state, gates[k][1]))
        z, r = m('Sigmoid', gate(0, h)), m('Sigmoid', gate(1, h))
        new = m('Tanh', gate(2, m('Mul', r, h)))
        h = m('Add', m('Mul', m('Sub', unit, z), new), m('Mul', z, h))
        states.append(m('Unsqueeze', h, m.ints(0)))
    return done(m, m('Concat', *states, axis=0), n, 1, 8)


def lstm(n):
    m = Model(x=(FLOAT, (n, 1, 4)))
    w, r, b = m.weight(4, 32), m.weight(8, 32), m.weight(32)
    h, c = m.weight(1, 8), m.weight(1, 8)
    states = []
    for part in m('Split', 'x', outputs=n, axis=0):
        x = m('Squeeze', part, m.ints(0))
        i, o, f, g = m('Split', m('Add', m('Add', m('MatMul', x, w), m('MatMul', h, r)), b), outputs=4, axis=1)
        c = m('Add', m('Mul', m('Sigmoid', f), c), m('Mul', m('Sigmoid', i), m('Tanh', g)))
        h = m('Mul', m('Sigmoid', o), m('Tanh', c))
        states.append(m('Unsqueeze', h, m.ints(0)))
    return done(m, m('Concat', *states, axis=0), n, 1, 8)


# Sizes: n is that of a dimension, and code must not depend on it.
def attention(n, rows=16, depth=64):
    m = Model(q=(FLOAT, (1, 2, rows, depth)), k=(FLOAT, (1, 2, n, depth)), v=(FLOAT, (1, 2, n, depth)))
    scores = m('MatMul', 'q', m('Transpose', 'k', perm=[0, 1, 3, 2]))
    scores = m('Mul', scores, m.raw(FLOAT, [], struct.pack('<f', depth ** -0.5)))
    return done(m, m('MatMul', m('Softmax', scores), 'v'), 1, 2, rows, depth)


def attention_step(n):
    return attention(n, rows=1)


def attention_square(n):
    return attention(n, rows=n, depth=16)


def attention_wide(n):
    m = Model(q=(FLOAT, (1, 4, n)), k=(FLOAT, (1, 8, n)), v=(FLOAT, (1, 8, n)))
    scores = m('MatMul', 'q', m('Transpose', 'k', perm=[0, 2, 1]))
    return done(m, m('MatMul', m('Softmax', scores), 'v'), 1, 4, n)


def softmax_long(n):
    return done(m := one((2, n)), m('Softmax', 'x'), 2, n)


def reduce_long(n):
    return done(m := one((2, n)), m('ReduceMean', 'x', axes=[1]), 2, 1)


def reduce_columns(n):
    return done(m := one((n, 3)), m('ReduceSum', 'x', m.ints(0)), 1, 3)


def norm_long(n):
    return done(m := one((2, n)), m('LayerNormalization', 'x', m.weight(n), m.weight(n)), 2, n)


def argmax_long(n):
    m = one((2, n))
    m.give(m('ArgMax', 'x', axis=1), INT64, (2, 1))
    return m.bytes()


def topk_long(n):
    m = one((2, n))
    values, indices = m('TopK', 'x', m.ints(min(n, 100)), outputs=2)
    return done(m, values, 2, min(n, 100))


def cumsum_long(n):
    return done(m := one((2, n)), m('CumSum', 'x', m.raw(INT64, [], struct.pack('<q', 1))), 2, n)


def pool_long(n):
    return done(m := one((1, 1, n)), m('MaxPool', 'x', kernel_shape=[n // 2], strides=[1]), 1, 1, n - n // 2 + 1)


def pool_global(n):
    return done(m := one((1, 2, n)), m('AveragePool', 'x', kernel_shape=[n]), 1, 2, 1)


def conv_long(n):
    return done(m := one((1, 1, 2 * n)), m('Conv', 'x', m.weight(1, 1, n)), 1, 1, n + 1)


def conv_wide(n):
    return done(m := one((1, n, 4, 4)), m('Conv', 'x', m.weight(8, n, 3, 3)), 1, 8, 2, 2)


def conv_depthwise(n):
    return done(m := one((1, n, 8, 8)), m('Conv', 'x', m.weight(n, 1, 3, 3), group=n), 1, n, 6, 6)


def conv_groups(n):
    return done(m := one((1, 2 * n, 8, 8)), m('Conv', 'x', m.weight(2 * n, 2, 3, 3), group=n), 1, 2 * n, 6, 6)


def conv_image(n):
    return done(m := one((1, 3, 8, n)), m('Conv', 'x', m.weight(8, 3, 3, 3), pads=[1, 1, 1, 1]), 1, 8, 8, n)


def mlp_wide(n):
    m = one((1, 64))
    h = m('Relu', m('MatMul', 'x', m.weight(64, n)))
    return done(m, m('MatMul', h, m.weight(n, 64)), 1, 64)


def mlp_batch(n):
    m = one((n, 64))
    return done(m, m('Relu', m('MatMul', 'x', m.weight(64, 64))), n, 64)


def matmul_computed(n):
    m = Model(a=(FLOAT, (8, n)), b=(FLOAT, (n, 8)))
    return done(m, m('MatMul', 'a', 'b'), 8, 8)


def matmul_columns(n):
    m = Model(a=(FLOAT, (8, 16)), b=(FLOAT, (16, n)))
    return done(m, m('MatMul', 'a', 'b'), 8, n)


def resize_long(n):
    m = one((1, 1, 4, n))
    return done(m, m('Resize', 'x', '', m.raw(FLOAT, [4], struct.pack('<4f', 1, 1, 1, 2)), mode='linear'), 1, 1, 4, 2 * n)


def transpose_long(n):
    return done(m := one((n, 3, 5)), m('Transpose', 'x', perm=[2, 0, 1]), 5, n, 3)


def pad_long(n):
    return done(m := one((1, n)), m('Pad', 'x', m.ints(0, n, 0, n)), 1, 3 * n)


def recurrent(kind, gates):
    def make(n):
        m = Model(x=(FLOAT, (n, 1, 4)))
        y, h = m(kind, 'x', m.weight(1, gates * 8, 4), m.weight(1, gates * 8, 8), m.weight(1, gates * 16),
                 outputs=3 if kind == 'LSTM' else 2, hidden_size=8)[:2]
        return done(m, y, n, 1, 1, 8)
    return make


def weights(n):
    """Parameters of n * 1,000 elements."""
    m = one((1, 1000))
    return done(m, m('Add', 'x', m('ReduceSum', m.weight(n, 1000), m.ints(0))), 1, 1000)


def scatter_long(n):
    m = Model(x=(FLOAT, (n, 4)), i=(INT64, (n, 4)), u=(FLOAT, (n, 4)))
    return done(m, m('ScatterElements', 'x', 'i', 'u', axis=0), n, 4)


def one_hot(n):
    m = Model(i=(INT64, (4,)))
    v = m.raw(FLOAT, [2], struct.pack('<2f', 0, 1))
    return done(m, m('OneHot', 'i', m.ints(n), v), 4, n)


def einsum_chain(n):
    m = one((1, 8))
    y, w = 'x', m.weight(8, 8)
    for _ in range(n):
        y = m('Einsum', y, w, equation='ij,jk->ik')
    return done(m, y, 1, 8)


def loop(n):
    """A Loop of n steps."""
    m = Model(x=(FLOAT, (1, 8)))
    body = onnx.message((1, onnx.node('Tanh', ['s'], ['t'], {})), (1, onnx.node('Identity', ['c'], ['d'], {})), (2, 'body'),
                        (11, onnx.value_info('i', INT64, ())), (11, onnx.value_info('c', BOOL, ())),
                        (11, onnx.value_info('s', FLOAT, (1, 8))), (12, onnx.value_info('d', BOOL, ())),
                        (12, onnx.value_info('t', FLOAT, (1, 8))), (12, onnx.value_info('t', FLOAT, (1, 8))))
    graph = onnx.message((1, 'body'), (6, body), (20, 5))
    trips, go = m.raw(INT64, [], struct.pack('<q', n)), m.raw(BOOL, [], b'\1')
    last, all_ = m.name(), m.name()
    m.nodes.append(onnx.message((1, trips), (1, go), (1, 'x'), (2, last), (2, all_), (3, 'loop'), (4, 'Loop'), (5, graph)))
    m.give(last, FLOAT, (1, 8))
    m.give(all_, FLOAT, (n, 1, 8))
    return m.bytes()


PARTS = 10_000
MODELS = {  # the number of parts
    **{make.__name__: (make, PARTS) for make in (
        concat, concat_inner, concat_uneven, concat_inputs, concat_slices, concat_chain, concat_chain_constant, split,
        split_concat, gathers, gathers_data, slices, transposes, pads, elementwise, elementwise_two, wheres, sum_many, max_many,
        sum_inputs, sum_tree, outputs, constants, residual_shared, branches, rnn, einsum_chain)},
    **{make.__name__: (make, count) for make, count in (
        (residual, 3000), (residual_conv, 1000), (dense_net, 500), (norms, 3000), (softmaxes, 3000), (gru, 2000), (lstm, 2000),
        (loop, 4096))},
    **{make.__name__: (make, size) for make, size in (
        (attention, 40_000), (attention_step, 40_000), (attention_square, 40_000), (attention_wide, 16_384),
        (softmax_long, 1 << 20), (reduce_long, 1 << 20), (reduce_columns, 1 << 20), (norm_long, 1 << 20),
        (argmax_long, 1 << 20), (topk_long, 1 << 20), (cumsum_long, 1 << 20), (pool_long, 1 << 20), (pool_global, 1 << 20),
        (conv_long, 1 << 16), (conv_wide, 1 << 14), (conv_depthwise, 1 << 14), (conv_groups, 1 << 12), (conv_image, 1 << 16),
        (mlp_wide, 1 << 16), (mlp_batch, 1 << 20), (matmul_computed, 1 << 20), (matmul_columns, 1 << 20),
        (resize_long, 1 << 16), (transpose_long, 1 << 20), (pad_long, 1 << 20), (weights, 1 << 14), (scatter_long, 1 << 16),
        (one_hot, 1 << 20))},
    'rnn_layer': (recurrent('RNN', 1), 40_000), 'gru_layer': (recurrent('GRU', 3), 40_000),
    'lstm_layer': (recurrent('LSTM', 4), 40_000),
}

REFUSED = {  # beyond a limit: the number that is found, and the limit
    'nodes': (elementwise, 200_001, '200001 nodes; the limit is 200000'),
    'tensor': (one_hot, 1 << 36, '68719476736.*limit is 68719476736 bytes'),
}

parser = argparse.ArgumentParser()
parser.add_argument('sprig')
parser.add_argument('folder', type=pathlib.Path)
parser.add_argument('--size', type=int)
parser.add_argument('--seconds', type=float, default=5)
parser.add_argument('--megabytes', type=int, default=1024)
parser.add_argument('names', nargs='*')
given = parser.parse_intermixed_args()
given.folder.mkdir(parents=True, exist_ok=True)


def compile_model(data):
    """Exit code, seconds of the processor, megabytes, and the text; a hundred seconds at most."""
    path = given.folder / 'model.onnx'
    path.write_bytes(data)
    command = subprocess.Popen([given.sprig, 'compile', path, '--jobs', '1', '--no-cache', '-q', '-o', given.folder / 'model.sprig'],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (100, 100)))
    text = command.stdout.read()
    _, status, used = os.wait4(command.pid, 0)
    command.returncode = os.waitstatus_to_exitcode(status)
    return command.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, text.strip()


def wanted(name):
    return not given.names or name in given.names


for name, (make, size, *most) in MODELS.items():
    if not wanted(name):
        continue
    size, most = given.size or size, most[0] if most else given.seconds
    _, half, _, _ = compile_model(make(size // 2))
    code, seconds, megabytes, text = compile_model(make(size))
    print(f'{name:22} {size:8} {half:7.2f} s {seconds:7.2f} s {megabytes:6.0f} MB', flush=True)
    expect(f'{name} {size}: exit code {code}: {text}', code == 0)
    expect(f'{name} {size}: {seconds:.1f} s', seconds < most)
    expect(f'{name} {size}: {megabytes:.0f} MB', megabytes < given.megabytes)
    # Twice as much takes twice as long, a little more, and what a model of nothing takes.
    expect(f'{name} {size}: {seconds:.1f} s, half of it {half:.1f} s', seconds < 2.7 * half + 0.5)
for name, (make, size, facts) in REFUSED.items():
    if not wanted(name):
        continue
    code, seconds, megabytes, text = compile_model(make(size))
    print(f'{name:22} {size:8} {seconds:17.2f} s {megabytes:6.0f} MB  {text[-200:]}', flush=True)
    expect(f'{name} {size}: exit code {code}: {text}', code == 4 and re.search(facts, text))
    expect(f'{name} {size}: {seconds:.1f} s, {megabytes:.0f} MB', seconds < 5 and megabytes < 1024)
finish()
