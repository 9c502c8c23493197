"""Writes a model whose function has weights of its own, as raw bytes, and x of zeros: function_weights.py FILE.onnx X.pb.

y = x + sum over k of c_k. The first two c_k are constants that are too large to be copied (4096 numbers, not alike); the
others initializers of the branches of an If. Every call of a function works on a copy of its nodes.
"""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'fuzz' / 'graphs'))
from onnx_bytes import message

SIZE = 4096


def field(number, value):
    return message((number, value))


def tensor(values, name=''):
    return field(1, SIZE) + field(2, 1) + field(8, name) + field(9, struct.pack(f'<{SIZE}f', *values))


def typed(name):
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, field(1, field(1, SIZE)))))


def node(kind, inputs, output, *attributes):
    return b''.join(field(1, i) for i in inputs) + field(2, output) + field(4, kind) + b''.join(field(5, a) for a in attributes)


def attribute(name, kind, number, value):
    return field(1, name) + field(20, kind) + field(number, value)


def branch(k):
    weights = tensor([2.0**k] * (SIZE - 1) + [0.0], 'weights')
    return field(1, node('Identity', ['weights'], 'out')) + field(2, 'branch') + field(5, weights) + field(12, typed('out'))


body, before = [], 'x'
body.append(node('Constant', [], 'yes', attribute('value', 4, 5, field(2, 9) + field(9, b'\1'))))
for k in range(12):
    if k < 2:
        values = [100 * k + i % 7 for i in range(SIZE)]
        body.append(node('Constant', [], f'c{k}', attribute('value', 4, 5, tensor(values))))
    else:
        body.append(node('If', ['yes'], f'c{k}', *(attribute(name, 5, 6, branch(k)) for name in ('then_branch', 'else_branch'))))
    after = 'y' if k == 11 else f's{k}'
    body.append(node('Add', [before, f'c{k}'], after))
    before = after
opsets = field(1, '') + field(2, 18)
function = field(1, 'Sum') + field(4, 'x') + field(5, 'y') + b''.join(field(7, n) for n in body) + field(9, opsets) + field(10, 'local')
call = node('Sum', ['x'], 'y') + field(7, 'local')
graph = field(1, call) + field(2, 'graph') + field(11, typed('x')) + field(12, typed('y'))
model = field(1, 9) + field(7, graph) + field(8, opsets) + field(8, field(1, 'local') + field(2, 1)) + field(25, function)
with open(sys.argv[1], 'wb') as file:
    file.write(model)
with open(sys.argv[2], 'wb') as file:
    file.write(tensor([0.0] * SIZE, 'x'))
