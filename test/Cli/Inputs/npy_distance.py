#!/usr/bin/env python3
"""npy_distance.py FOLDER OTHER: of each array of f32 in both the largest difference, in parts of the other's largest value."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from packages import apart, outputs

found, right = (outputs(pathlib.Path(folder)) for folder in sys.argv[1:])
for name, values in right.items():
    far = apart(found[name], values)
    size = next((f'below {bar:g}' for bar in (1e-7, 1e-5, 2e-2) if far < bar), 'large')
    print(f'{name}: {size}')
