#!/usr/bin/env python3
"""Means over windows of more positions than the compiler keeps a table of, beside the definition.

    mean_pool.py SPRIG FOLDER

Closes with `N passed, N failed`.
"""
import array
import pathlib
import struct
import subprocess
import sys

sprig, folder = sys.argv[1], pathlib.Path(sys.argv[2])
passed = failed = 0


def save(file, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, {len(values)}), }}"
    header += ' ' * (117 - len(header)) + '\n'
    file.write_bytes(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + values.tobytes())


def load(file):
    content = file.read_bytes()
    return array.array('f', content[10 + struct.unpack('<H', content[8:10])[0]:])


# size, window, stride, dilation, low, high, counted low, counted high
CASES = [((1 << 20) + 5, 3, 1, 1, 1, 1, 0, 0), ((1 << 20) + 5, 3, 1, 1, 1, 1, 1, 1), ((1 << 20) + 77, 4, 1, 3, 2, 7, 1, 0),
         ((1 << 22) + 9, 5, 3, 2, 4, 3, 0, 2)]
for size, window, stride, dilation, low, high, counted_low, counted_high in CASES:
    outputs = (size + low + high - dilation * (window - 1) - 1) // stride + 1
    source, target = f'tensor<1x1x{size}xf32>', f'tensor<1x1x{outputs}xf32>'
    model = folder / 'mean.mlir'
    model.write_text(f'''func.func @f(%x: {source} {{nn.name = "x"}}) -> ({target} {{nn.name = "y"}}) {{
  %r = nn.avg_pool %x {{window = array<i64: {window}>, strides = array<i64: {stride}>, dilations = array<i64: {dilation}>,
      padding = array<i64: {low}, {high}>, counted_padding = array<i64: {counted_low}, {counted_high}>}} : {source}
  return %r : {target}
}}''')
    x = array.array('f', (i * 7919 % 17 - 8 for i in range(size)))
    save(folder / 'x.npy', x)
    subprocess.run([sprig, 'run', model, '--input', folder / 'x.npy', '--output-dir', folder], check=True,
                   stdout=subprocess.DEVNULL)
    y = load(folder / 'y.npy')
    wrong = []
    for output in [*range(200), *range(200, outputs - 200, 997), *range(outputs - 200, outputs)]:
        taps = [output * stride + tap * dilation - low for tap in range(window)]
        total = sum(x[at] for at in taps if 0 <= at < size)
        mean = total / sum(-counted_low <= at < size + counted_high for at in taps)
        if not abs(y[output] - mean) <= 1e-6 * abs(mean):
            wrong.append((output, y[output], mean))
    right = len(y) == outputs and not wrong
    passed, failed = passed + right, failed + (not right)
    if not right:
        print('FAIL', size, window, stride, dilation, len(y), outputs, wrong[:5])
print(f'{passed} passed, {failed} failed')
sys.exit(1 if failed else 0)
