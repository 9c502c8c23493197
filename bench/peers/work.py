"""Writes results/work.json (FLOP and bytes of every cell, of the networks or the set given) and results/roofline.json (this
machine's limits: the best of several runs, since others may use it)."""
import json
import subprocess
import sys

import harness
import nets

cells = {}
for net, batch in nets.cells(sys.argv[1:]):
    n, weights, io = nets.work(net, batch)
    cells[f'{net} b{batch}'] = {'flop': n, 'weight_bytes': weights, 'io_bytes': io}
harness.save('work', cells)
roof = {}
with harness.lock():
    for _ in range(5):
        out = subprocess.run([str(harness.BIN / 'roofline')], capture_output=True, text=True, check=True).stdout
        for threads, rates in json.loads(out).items():
            own = roof.setdefault(threads, {})
            for what, rate in rates.items():
                own[what] = max(own.get(what, 0), rate)
harness.save('roofline', {'roofline': roof})
