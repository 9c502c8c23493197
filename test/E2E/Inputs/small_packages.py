"""Packages that take no more room than their models: small_packages.py SPRIG FOLDER.

Writes a model of eight bits (weights as bytes, with a scale and a zero point for each column), runs it from its file and
as a package, and compares both with the same sums here; the package's constants are at most 1.3 times the file. The same
of weights of four bits, and of a convolution whose filters are transformed with --math fast.
"""
import json
import pathlib
import random
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'fuzz' / 'graphs'))
from onnx_bytes import message

sprig, folder = sys.argv[1], pathlib.Path(sys.argv[2])
random.seed(5)


def field(number, value):
    return message((number, value))


def tensor(name, dtype, shape, data):
    return b''.join(field(1, n) for n in shape) + field(2, dtype) + field(8, name) + field(9, data)


def typed(name, shape):
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, b''.join(field(1, field(1, n)) for n in shape))))


def node(kind, inputs, output, attributes=b''):
    return b''.join(field(1, i) for i in inputs) + field(2, output) + field(4, kind) + attributes


def model(nodes, initializers, x, y):
    graph = b''.join(field(1, n) for n in nodes) + field(2, 'g') + b''.join(field(5, t) for t in initializers)
    graph += field(11, typed('x', x)) + field(12, typed('y', y))
    return field(1, 8) + field(7, graph) + field(8, field(1, '') + field(2, 13))


def floats(values):
    return struct.pack(f'<{len(values)}f', *values)


def f32(value):
    return struct.unpack('<f', struct.pack('<f', value))[0]


def constants(package):
    count = struct.unpack_from('<I', package, 12)[0]
    sections = [struct.unpack_from('<IIQQ', package, 64 + 32 * i) for i in range(count)]
    return sum(size for kind, _, _, size in sections if kind == 2)


def npy(path, shape, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += ' ' * (63 - (len(header) + 10) % 64) + '\n'
    path.write_bytes(b'\x93NUMPY\1\0' + struct.pack('<H', len(header)) + header.encode() + floats(values))


def output(of, options=()):
    out = folder / 'out'
    subprocess.run([sprig, 'run', of, '--input', f'x={folder}/x.npy', '-q', '--output-dir', out, *options], check=True)
    data = (out / 'y.npy').read_bytes()
    return data[10 + struct.unpack_from('<H', data, 8)[0]:]


def check(name, file, x, shape, most, options=()):
    path, package = folder / f'{name}.onnx', folder / f'{name}.sprig'
    path.write_bytes(file)
    npy(folder / 'x.npy', shape, x)
    subprocess.run([sprig, 'compile', path, '--cpu', 'native', '-o', package, '-q', *options], check=True)
    taken = constants(package.read_bytes())
    if taken > most * len(file):
        sys.exit(f'{name}: constants of {taken} bytes, of a file of {len(file)}')
    given, packaged = output(path, options), output(package)
    if given != packaged:
        sys.exit(f'{name}: the package gives other bits than its model')
    print(f'{name}: small')
    return struct.unpack(f'<{len(given) // 4}f', given)


K, N = 96, 80
weights = [random.randrange(256) - 128 for _ in range(K * N)]
scales = [f32(random.uniform(0.001, 0.02)) for _ in range(N)]
zeros = [random.randrange(-9, 10) for _ in range(N)]
x = [f32(random.uniform(-1, 1)) for _ in range(K)]
axis = field(5, field(1, 'axis') + field(20, 2) + field(3, 1))
file = model([node('DequantizeLinear', ['q', 's', 'z'], 'w', axis), node('MatMul', ['x', 'w'], 'y')],
             [tensor('q', 3, [K, N], struct.pack(f'{K * N}b', *weights)), tensor('s', 1, [N], floats(scales)),
              tensor('z', 3, [N], struct.pack(f'{N}b', *zeros))], [1, K], [1, N])
got = check('eight-bits', file, x, [1, K], 1.3)
for column in range(N):
    wanted = sum(x[k] * f32((weights[k * N + column] - zeros[column]) * scales[column]) for k in range(K))
    if not abs(got[column] - wanted) <= 1e-4:
        sys.exit(f'eight-bits: column {column} is {got[column]}, expected {wanted}')

# Four bits, two weights in a byte, with a scale for each block of 32.
K, N, BLOCK = 128, 160, 32
weights = [random.randrange(16) for _ in range(N * K)]
scales = [f32(random.uniform(0.01, 0.1)) for _ in range(N * K // BLOCK)]
x = [f32(random.uniform(-1, 1)) for _ in range(K)]
numbers = b''.join(field(5, field(1, name) + field(20, 2) + field(3, value))
                   for name, value in (('K', K), ('N', N), ('bits', 4), ('block_size', BLOCK)))
packed = bytes(low + 16 * high for low, high in zip(weights[::2], weights[1::2]))
file = model([node('MatMulNBits', ['x', 'q', 's'], 'y', numbers + field(7, 'com.microsoft'))],
             [tensor('q', 2, [N, K // BLOCK, BLOCK // 2], packed), tensor('s', 1, [N * K // BLOCK], floats(scales))],
             [1, K], [1, N]) + field(8, field(1, 'com.microsoft') + field(2, 1))
got = check('four-bits', file, x, [1, K], 1.3)
for column in range(N):
    wanted = sum(x[k] * (weights[column * K + k] - 8) * scales[(column * K + k) // BLOCK] for k in range(K))
    if not abs(got[column] - wanted) <= 1e-4:
        sys.exit(f'four-bits: column {column} is {got[column]}, expected {wanted}')

C, S = 32, 14
taps = [random.gauss(0, 1) for _ in range(C * C * 9)]
x = [random.gauss(0, 1) for _ in range(C * S * S)]
pads = field(5, field(1, 'pads') + field(20, 7) + b''.join(field(8, 1) for _ in range(4)))
file = model([node('Conv', ['x', 'w'], 'y', pads)], [tensor('w', 1, [C, C, 3, 3], floats(taps))], [1, C, S, S],
             [1, C, S, S])
direct = check('filters', file, x, [1, C, S, S], 1.3, ['--math', 'strict'])
short = check('filters', file, x, [1, C, S, S], 1.3, ['--math', 'fast'])
if not all(abs(a - b) <= 1e-3 for a, b in zip(direct, short, strict=True)) or direct == short:
    sys.exit('filters: the short convolution is another one, or there was none')
