"""Whether runs have the same metrics to the last digit, times apart: same_lines.py A.jsonl B.jsonl..."""
import json
import sys

TIMES = {'seconds', 'wait_seconds', 'exposed_communication_seconds'}


def lines(name):
    return [{key: value for key, value in json.loads(line).items() if key not in TIMES} for line in open(name)]


first = lines(sys.argv[1])
for name in sys.argv[2:]:
    others = lines(name)
    if len(others) != len(first):
        sys.exit(f'{name}: {len(others)} lines, expected {len(first)}')
    for line, expected in zip(others, first):
        if line != expected:
            sys.exit(f'{name}: {line}, expected {expected}')
