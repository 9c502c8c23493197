"""Writes results/work.json (FLOP and bytes of every cell) and results/roofline.json (this machine's limits)."""
import json
import subprocess

import harness
import nets

cells = {}
for net, batch in nets.cells():
    n, weights, io = nets.work(net, batch)
    cells[f'{net} b{batch}'] = {'flop': n, 'weight_bytes': weights, 'io_bytes': io}
harness.save('work', cells)
with harness.lock():
    out = subprocess.run([str(harness.BIN / 'roofline')], capture_output=True, text=True, check=True).stdout
harness.save('roofline', {'roofline': json.loads(out)})
