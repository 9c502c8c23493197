#!/usr/bin/env python3
"""Writes a training step in primitives: updates.py ROWS INPUTS HIDDEN OUTPUTS

Two linear layers with a relu, the gradients of a sum of squares, and an optimizer's update of both weights and biases, three times
in a row: the second step overwrites what the first has left in the arena.
"""
import sys

B, K, H, N = map(int, sys.argv[1:5])


def t(*shape, element='f32'):
    return 'tensor<' + ''.join(f'{size}x' for size in shape) + f'{element}>'


class Step:
    def __init__(self):
        self.lines, self.count = [], 0

    def op(self, text):
        self.count += 1
        self.lines.append(f'  %{self.count} = {text}')
        return f'%{self.count}'

    def binary(self, name, a, b, ta, tb):
        return self.op(f'nn.{name} {a}, {b} : {ta}, {tb}')

    def update(self, w, m, v, g, shape):
        """A decayed moment, a decayed square, and a step by their ratio."""
        s = t()
        decayed = self.binary('mul', m, '%keep', shape, s)
        m = self.binary('add', decayed, self.binary('mul', g, '%rest', shape, s), shape, shape)
        square = self.binary('mul', self.binary('mul', g, g, shape, shape), '%rest', shape, s)
        v = self.binary('add', self.binary('mul', v, '%keep', shape, s), square, shape, shape)
        root = self.binary('add', self.op(f'nn.sqrt {v} : {shape}'), '%epsilon', shape, s)
        step = self.binary('mul', self.binary('div', m, root, shape, shape), '%rate', shape, s)
        return self.binary('sub', w, step, shape, shape), m, v

    def run(self, state):
        (w0, m0, v0), (b0, n0, u0), (w1, m1, v1) = state
        x, h, y, tw0, tw1, tb = t(B, K), t(B, H), t(B, N), t(H, K), t(N, H), t(H)
        z = self.op(f'nn.matmul %x, {w0} {{transpose_rhs}} : {x}, {tw0}')
        z = self.binary('add', z, b0, h, tb)
        a = self.op(f'nn.relu {z} : {h}')
        mask = self.op(f'nn.compare gt {z}, %zero : {h}, {t()}')
        p = self.op(f'nn.matmul {a}, {w1} {{transpose_rhs}} : {h}, {tw1}')
        dp = self.binary('sub', p, '%y', y, y)
        dw1 = self.op(f'nn.matmul {dp}, {a} {{transpose_lhs}} : {y}, {h}')
        da = self.op(f'nn.matmul {dp}, {w1} : {y}, {tw1}')
        dz = self.op(f'nn.select {mask}, {da}, %zero : {t(B, H, element="i1")}, {h}, {t()}')
        dw0 = self.op(f'nn.matmul {dz}, %x {{transpose_lhs}} : {h}, {x}')
        db0 = self.op(f'nn.reduce sum {dz} axes = [0] : {h}')
        return [self.update(w0, m0, v0, dw0, tw0), self.update(b0, n0, u0, db0, tb), self.update(w1, m1, v1, dw1, tw1)]


step = Step()
state = [('%w0', '%s0', '%s0'), ('%b0', '%s1', '%s1'), ('%w1', '%s2', '%s2')]
for _ in range(3):
    state = step.run(state)
results = [value for triple in state for value in triple]
types = [t(H, K)] * 3 + [t(H)] * 3 + [t(N, H)] * 3
arguments = ', '.join([f'%x: {t(B, K)}', f'%y: {t(B, N)}', f'%w0: {t(H, K)}', f'%b0: {t(H)}', f'%w1: {t(N, H)}',
                       f'%k: {t()}', f'%r: {t()}'])
print(f'func.func @main({arguments}) -> ({", ".join(types)}) {{')
print(f'  %zero = nn.constant dense<0.0> : {t()}')
print(f'  %epsilon = nn.constant dense<0.5> : {t()}')
for i, shape in enumerate([t(H, K), t(H), t(N, H)]):
    print(f'  %s{i} = nn.constant dense<0.25> : {shape}')
print(f'  %keep = nn.sigmoid %k : {t()}')
print(f'  %rate = nn.sigmoid %r : {t()}')
print(f'  %one = nn.constant dense<1.0> : {t()}')
print(f'  %rest = nn.sub %one, %keep : {t()}, {t()}')
print('\n'.join(step.lines))
print(f'  return {", ".join(results)} : {", ".join(types)}')
print('}')
