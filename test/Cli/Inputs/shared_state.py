"""Whether each of N ranks has its part of the optimizer's state: shared_state.py WHOLE.json SHARED.json N.

From what `sprig train --format json` says of the state of one rank. Adam's has two numbers for each parameter, so of
three parts one is the parameters'. Small tensors are not shared, and pieces are of one size: five per cent are allowed.
"""
import json
import sys

whole, shared = (json.load(open(name))['state_bytes'] for name in sys.argv[1:3])
expected = whole / 3 + 2 * whole / 3 / int(sys.argv[3])
print(f'{shared} of {whole} bytes, expected about {expected:.0f}')
sys.exit(not 0.95 * expected <= shared <= 1.05 * expected)
