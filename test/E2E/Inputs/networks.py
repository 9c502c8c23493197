#!/usr/bin/env python3
"""networks.py FOLDER: writes networks of attention, token mixing and sines as NAME.mlir, with inputs in NAME/input_K.npy.

Sizes are odd on purpose; weights and inputs are pseudo-random and the same each time.
"""
import math
import pathlib
import random
import struct
import sys


class Net:
    """Text of one function; values are (name, shape)."""

    def __init__(self, name, seed):
        self.name, self.random = name, random.Random(seed)
        self.lines, self.arguments, self.inputs, self.count = [], [], [], 0

    @staticmethod
    def type(shape, element='f32'):
        return 'tensor<' + ''.join(f'{size}x' for size in shape) + element + '>'

    def op(self, text, shape):
        self.count += 1
        self.lines.append(f'  %{self.count} = {text}')
        return f'%{self.count}', tuple(shape)

    def bits(self, values):
        return '"0x' + struct.pack(f'<{len(values)}f', *values).hex().upper() + '"'

    def input(self, *shape):
        name = f'%x{len(self.inputs)}'
        self.arguments.append(f'{name}: {self.type(shape)} {{nn.name = "{name[1:]}"}}')
        self.inputs.append((shape, [self.random.gauss(0, 1) for _ in range(math.prod(shape))]))
        return name, shape

    def constant(self, shape, values):
        return self.op(f'nn.constant dense<{self.bits(values)}> : {self.type(shape)}', shape)

    def weight(self, *shape):
        scale = 1 / math.sqrt(shape[-2] if len(shape) > 1 else 4)
        return self.constant(shape, [self.random.gauss(0, scale) for _ in range(math.prod(shape))])

    def splat(self, value):
        return self.op(f'nn.constant dense<{value:e}> : tensor<f32>', ())

    def unary(self, op, x):
        return self.op(f'nn.{op} {x[0]} : {self.type(x[1])}', x[1])

    def binary(self, op, x, y):
        shape = x[1] if len(x[1]) >= len(y[1]) else y[1]
        pair = [(1,) * (len(shape) - len(v[1])) + v[1] for v in (x, y)]
        shape = tuple(max(a, b) for a, b in zip(*pair))
        return self.op(f'nn.{op} {x[0]}, {y[0]} : {self.type(x[1])}, {self.type(y[1])}', shape)

    def matmul(self, x, y, transposed=False):
        columns = y[1][-2 if transposed else -1]
        flag = ' {transpose_rhs}' if transposed else ''
        return self.op(f'nn.matmul {x[0]}, {y[0]}{flag} : {self.type(x[1])}, {self.type(y[1])}', x[1][:-1] + (columns,))

    def linear(self, x, columns):
        return self.binary('add', self.matmul(x, self.weight(x[1][-1], columns)), self.weight(columns))

    def reshape(self, x, *shape):
        return self.op(f'nn.reshape {x[0]} : {self.type(x[1])} to {self.type(shape)}', shape)

    def transpose(self, x, *order):
        return self.op(f'nn.transpose {x[0]} [{", ".join(map(str, order))}] : {self.type(x[1])}', [x[1][d] for d in order])

    def slice(self, x, axis, start, size):
        starts, sizes = [0] * len(x[1]), list(x[1])
        starts[axis], sizes[axis] = start, size
        steps = [1] * len(sizes)
        return self.op(f'nn.slice {x[0]} starts = {starts} sizes = {sizes} steps = {steps} : {self.type(x[1])}', sizes)

    def softmax(self, x):
        return self.op(f'nn.softmax {x[0]} axis = {len(x[1]) - 1} : {self.type(x[1])}', x[1])

    def norm(self, x):
        scale, shift = self.weight(x[1][-1]), self.weight(x[1][-1])
        return self.op(f'nn.layer_norm {x[0]}, {scale[0]}, {shift[0]} axis = {len(x[1]) - 1} {{epsilon = 1.0e-5 : f64}} : '
                       f'{self.type(x[1])}, {self.type(scale[1])}, {self.type(shift[1])}', x[1])

    def write(self, folder, *results):
        types = ', '.join(self.type(r[1]) for r in results)
        text = [f'func.func @main({", ".join(self.arguments)}) -> ({types}) {{', *self.lines,
                f'  return {", ".join(r[0] for r in results)} : {types}', '}', '']
        (folder / f'{self.name}.mlir').write_text('\n'.join(text))
        data = folder / self.name
        data.mkdir(exist_ok=True)
        for i, (shape, values) in enumerate(self.inputs):
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
            header += ' ' * (-(len(header) + 11) % 64) + '\n'
            (data / f'input_{i}.npy').write_bytes(
                b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode()
                + struct.pack(f'<{len(values)}f', *values))


def heads(n, x, count, *order):
    """[B, T, E] as [B, T, heads, E / heads], then transposed."""
    batch, tokens, width = x[1]
    return n.transpose(n.reshape(x, batch, tokens, count, width // count), *order)


def causal(n, size):
    return n.constant((size, size), [0.0 if j <= i else -math.inf for i in range(size) for j in range(size)])


def fused_projection(folder):
    """Query, key and value are slices of one projection; an encoder block around."""
    n = Net('fused-projection', 1)
    x = n.input(2, 13, 30)
    qkv = n.linear(n.norm(x), 90)
    q, k, v = (n.slice(qkv, 2, 30 * i, 30) for i in range(3))
    q, k, v = heads(n, q, 3, 0, 2, 1, 3), heads(n, k, 3, 0, 2, 3, 1), heads(n, v, 3, 0, 2, 1, 3)
    scores = n.binary('div', n.matmul(q, k), n.splat(math.sqrt(10)))
    y = n.transpose(n.matmul(n.softmax(scores), v), 0, 2, 1, 3)
    y = n.binary('add', x, n.linear(n.reshape(y, 2, 13, 30), 30))
    z = n.unary('gelu', n.linear(n.norm(y), 70))
    n.write(folder, n.binary('add', y, n.linear(z, 30)))


def decoder(folder):
    """Causal self-attention with a stacked projection, then attention to an encoder's states with a run-time mask."""
    n = Net('decoder', 2)
    x, memory, mask = n.input(2, 21, 24), n.input(2, 37, 24), n.input(2, 1, 1, 37)
    stacked = n.transpose(n.reshape(n.linear(x, 72), 2, 21, 3, 2, 12), 2, 0, 3, 1, 4)
    q, k, v = (n.reshape(n.slice(stacked, 0, i, 1), 2, 2, 21, 12) for i in range(3))
    root = n.splat(12 ** -0.25)
    q, k = n.binary('mul', q, root), n.binary('mul', n.transpose(k, 0, 1, 3, 2), root)
    scores = n.binary('add', n.matmul(q, k), causal(n, 21))
    y = n.transpose(n.matmul(n.softmax(scores), v), 0, 2, 1, 3)
    x = n.norm(n.binary('add', x, n.linear(n.reshape(y, 2, 21, 24), 24)))
    q, k, v = (heads(n, n.linear(s, 24), 2, 0, 2, 1, 3) for s in (x, memory, memory))
    scores = n.binary('mul', n.matmul(q, k, transposed=True), n.splat(12 ** -0.5))
    y = n.transpose(n.matmul(n.softmax(n.binary('add', scores, mask)), v), 0, 2, 1, 3)
    n.write(folder, n.norm(n.binary('add', x, n.linear(n.reshape(y, 2, 21, 24), 24))))


def long_rows(folder):
    """Several tiles a matrix, rows of several vectors, one matrix of keys and values for all heads."""
    n = Net('long-rows', 3)
    q, k, v = n.input(3, 150, 20), n.input(1, 411, 20), n.input(1, 411, 33)
    n.write(folder, n.matmul(n.softmax(n.matmul(q, k, transposed=True)), v))


def mixer(folder):
    """Products along tokens and along channels in turn."""
    n = Net('mixer', 4)
    x = n.input(3, 19, 22)
    y = n.transpose(n.norm(x), 0, 2, 1)
    y = n.linear(n.unary('gelu', n.linear(y, 35)), 19)
    x = n.binary('add', x, n.transpose(y, 0, 2, 1))
    n.write(folder, n.binary('add', x, n.linear(n.unary('gelu', n.linear(n.norm(x), 50)), 22)))


def sines(folder):
    """Linear layers and sines, the first of arguments up to a hundred."""
    n = Net('sines', 5)
    x = n.input(45, 3)
    for factor in (30, 2, 2):
        x = n.unary('sin', n.binary('mul', n.linear(x, 37), n.splat(factor)))
    n.write(folder, n.linear(x, 2))


def rows(folder):
    """Norms and softmaxes of rows of many lengths."""
    n = Net('rows', 6)
    results = []
    for count, length in ((1, 5), (7, 2), (16, 16), (33, 48), (18, 129), (5, 400), (9, 777)):
        x = n.input(count, length)
        results += [n.norm(x), n.softmax(x)]
    n.write(folder, *results)


target = pathlib.Path(sys.argv[1])
target.mkdir(parents=True, exist_ok=True)
for build in (fused_projection, decoder, long_rows, mixer, sines, rows):
    build(target)
