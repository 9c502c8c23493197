#!/usr/bin/env python3
"""npy_distance.py FOLDER OTHER: of each array of f32 in both the largest difference, in parts of the other's largest value."""
import array
import math
import pathlib
import sys


def values(file):
    data = file.read_bytes()  # of version 1
    return array.array('f', data[10 + int.from_bytes(data[8:10], 'little'):])


folder, other = map(pathlib.Path, sys.argv[1:])
for file in sorted(other.glob('*.npy')):
    left, right = values(folder / file.name), values(file)
    if any(map(math.isnan, [*left, *right])):
        print(f'{file.name}: no number')
        continue
    far = max(abs(a - b) for a, b in zip(left, right, strict=True)) / max(map(abs, right))
    size = next((f'below {bar:g}' for bar in (1e-7, 1e-5, 2e-2) if far < bar), 'large')
    print(f'{file.name}: {size}')
