"""Whether runs have the same losses and norms of gradients but for rounding: same_losses.py A.jsonl B.jsonl...

Prints the largest relative distance from the first run; exit code 1 where one is over 2e-6 or steps are missing.
"""
import json
import math
import sys

first, *others = [[json.loads(line) for line in open(name)] for name in sys.argv[1:]]
worst = 0.0
for name, rows in zip(sys.argv[2:], others):
    if [row['step'] for row in rows] != [row['step'] for row in first]:
        sys.exit(f'{name}: {len(rows)} steps, expected {len(first)}')
    for row, expected in zip(rows, first):
        for field in ('loss', 'grad_norm', 'eval_loss'):
            if field in expected:
                distance = abs(row[field] - expected[field]) / abs(expected[field])
                if not math.isfinite(distance):
                    sys.exit(f'{name}: {field} {row[field]}, expected {expected[field]}')
                worst = max(worst, distance)
        if row.get('eval_accuracy') != expected.get('eval_accuracy'):
            sys.exit(f"{name}: accuracy {row.get('eval_accuracy')}, expected {expected.get('eval_accuracy')}")
print(f'{worst:.2g}')
sys.exit(worst > 2e-6)
