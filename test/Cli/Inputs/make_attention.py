"""Writes a small attention with dropout, wide enough that its gradients are few samples' factors: make_attention.py FOLDER

attention.onnxtxt, x.npy (13 samples of 6 positions) and y.npy, of numbers that are always the same.
"""
import math
import pathlib
import struct
import sys

WIDTH, POSITIONS, CLASSES, SAMPLES = 128, 6, 4, 13
folder = pathlib.Path(sys.argv[1])


def numbers(count, seed, scale):
    return [round(scale * math.sin(1.7 * i * i + seed * (i % 89) + seed), 4) for i in range(count)]


def text(values):
    return '{' + ', '.join(f'{value:.4f}' for value in values) + '}'


def array(path, kind, shape, values):
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += ' ' * (-(len(header) + 11) % 64) + '\n'
    data = struct.pack('<' + {'f4': 'f', 'i8': 'q'}[kind] * len(values), *values)
    path.write_bytes(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + data)


weights = [f'float[{WIDTH}, {WIDTH}] w{name} = {text(numbers(WIDTH * WIDTH, i + 1, 0.15))}, '
           f'float[{WIDTH}] b{name} = {text(numbers(WIDTH, i + 9, 0.1))}' for i, name in enumerate('qkvo')]
layers = ''.join(f'  p{name} = MatMul ({of}, w{name})\n  {name} = Add (p{name}, b{name})\n'
                 for name, of in zip('qkv', 'xxx'))
heads = ''.join(f'  r{name} = Reshape ({name}, split)\n  h{name} = Transpose <perm = {order}> (r{name})\n'
                for name, order in zip('qkv', ('[0, 2, 1, 3]', '[0, 2, 3, 1]', '[0, 2, 1, 3]')))
(folder / 'attention.onnxtxt').write_text(f'''<ir_version: 8, opset_import: ["" : 17]>
main (float[N, {POSITIONS}, {WIDTH}] x) => (float[N, {CLASSES}] y)
<{", ".join(weights)}, float[{WIDTH}, {CLASSES}] wy = {text(numbers(WIDTH * CLASSES, 7, 0.15))},
 int64[4] split = {{0, {POSITIONS}, 2, {WIDTH // 2}}}, int64[3] joined = {{0, {POSITIONS}, {WIDTH}}},
 float temper = {{0.125}}, float ratio = {{0.25}}> {{
{layers}{heads}  hs = MatMul (hq, hk)
  ht = Mul (hs, temper)
  ha = Softmax <axis = -1> (ht)
  hc = MatMul (ha, hv)
  tc = Transpose <perm = [0, 2, 1, 3]> (hc)
  c = Reshape (tc, joined)
  d = Dropout (c, ratio)
  po = MatMul (d, wo)
  o = Add (po, bo)
  m = ReduceMean <axes = [1], keepdims = 0> (o)
  y = MatMul (m, wy)
}}
''')
array(folder / 'x.npy', 'f4', (SAMPLES, POSITIONS, WIDTH), numbers(SAMPLES * POSITIONS * WIDTH, 5, 1))
array(folder / 'y.npy', 'i8', (SAMPLES,), [(7 * i) % 3 for i in range(SAMPLES)])
