"""Checks what `sprig run --format json` says of picked-indices.mlir: each output reaches over its whole range."""
import json
import sys

outputs = {each['name']: each for each in json.load(sys.stdin)['outputs']}
for name, low, high in [('sources', 0, 9), ('targets', 0, 999), ('users', 0, 999), ('items', 0, 9), ('kinds', 0, 49),
                        ('gates', 0, 1)]:
    found, span = outputs[name], high - low
    # Of 4096 even draws some are within a hundredth of each end, and the mean is near the middle.
    assert low <= found['min'] <= low + span / 100 and high - span / 100 <= found['max'] <= high, (name, found)
    assert abs(found['mean'] - (low + high) / 2) < span / 20, (name, found)
