#!/usr/bin/env python3
"""Trains the reference cases of a folder and compares losses and weights with runs in double precision.

    train_references.py SPRIG FOLDER/training SCRATCH [CASE...]

A loss is right when its relative distance from the reference is at most four times the largest spread of single precision
up to that step (1e-6 always); a weight within four times the largest error of single precision. Threads 1 and 2, and a
null device, whose memory is not the host's, must give the same bits; 2, 3 and 4 ranks, which share each batch, must be
right, too, and those that are processes have the bits of threads. Closes with `N passed, N failed`.
"""
import array
import json
import math
import pathlib
import struct
import subprocess
import sys

sprig, folder, scratch = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
scratch.mkdir(parents=True, exist_ok=True)
# Of the numbers of ranks; where Gloo is not built in, none.
PROCESSES = (2, 4) if any((pathlib.Path(sprig).resolve().parent.parent / 'lib').glob('libsprig_rt_processes*')) else ()
FORMATS = {'F32': 'f', 'F64': 'd', 'I64': 'q', 'I32': 'i'}


def tensors(path):
    content = path.read_bytes()
    size, = struct.unpack('<Q', content[:8])
    result = {}
    for name, entry in json.loads(content[8:8 + size]).items():
        if name != '__metadata__':
            begin, end = entry['data_offsets']
            result[name] = array.array(FORMATS[entry['dtype']], content[8 + size + begin:8 + size + end])
    return result


def run(case, threads, *flags, processes=0):
    launch = ['launch', '-n', str(processes), '--', sprig] if processes else []
    out = scratch / '-'.join([case.name, str(threads), *(flag.strip('-').replace(':', '').replace('=', '') for flag in flags), *launch[2:3]])
    done = subprocess.run(
        [sprig, *launch, 'train', case / 'model.onnx', '--config', case / 'config.json', '--x', case / 'x.npy', '--y', case / 'y.npy',
         '--metrics', f'{out}.jsonl', '-o', f'{out}.safetensors', '--threads', str(threads), *flags, '-q'],
        capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise ValueError(f'exit code {done.returncode}: {done.stderr.splitlines()[0] if done.stderr else ""}')
    rows = [json.loads(line) for line in pathlib.Path(f'{out}.jsonl').read_text().splitlines()]
    return rows, pathlib.Path(f'{out}.safetensors')


def check(case):
    rows, weights = run(case, 1)
    worst = compare(case, rows, weights)
    if run(case, 2)[1].read_bytes() != weights.read_bytes():
        raise ValueError('1 and 2 threads give different weights')
    if run(case, 1, '--devices', 'null:0')[1].read_bytes() != weights.read_bytes():
        raise ValueError('cpu and null:0 give different weights')
    for ranks in (2, 3, 4):
        try:
            rows, trained = run(case, ranks, '--mesh', f'data={ranks}')
            worst = max(worst, compare(case, rows, trained))
            if ranks in PROCESSES and run(case, ranks, '--strategy', 'data', processes=ranks)[1].read_bytes() != trained.read_bytes():
                raise ValueError('threads and processes give different weights')
        except ValueError as error:
            raise ValueError(f'{ranks} ranks: {error}') from None
    return worst


def compare(case, rows, weights):
    """The largest part of what is allowed that a loss differs by."""
    reference = json.loads((case / 'reference.json').read_text())
    if len(rows) != len(reference['losses_f64']):
        raise ValueError(f"{len(rows)} steps, expected {len(reference['losses_f64'])}")
    allowed = worst = 0.0
    for step, (row, loss, spread) in enumerate(zip(rows, reference['losses_f64'], reference['f32_spread'])):
        allowed = max(allowed, 4 * spread, 1e-6)
        distance = abs(float(row['loss']) - loss) / abs(loss)
        worst = max(worst, distance / allowed)
        if not distance <= allowed:
            raise ValueError(f'step {step}: loss {row["loss"]}, expected {loss} within {allowed:.2g}')
        if abs(float(row['lr']) - reference['lr'][step]) > 1e-6 * reference['lr'][step]:
            raise ValueError(f"step {step}: lr {row['lr']}, expected {reference['lr'][step]}")
    got = tensors(weights)
    for name, values in tensors(case / 'final.safetensors').items():
        if name not in got or len(got[name]) != len(values):
            raise ValueError(f"'{name}' is not in the result")
        errors = [abs(a - b) for a, b in zip(got[name], values)]
        error = math.nan if any(map(math.isnan, errors)) else max(errors, default=0)
        bound = 4 * max(reference['final_f32_error'].get(name, 0), 1e-6)
        if not error <= bound:
            raise ValueError(f"'{name}' differs by {error:.3g}, expected at most {bound:.3g}")
    return worst


passed = failed = 0
for case in sorted(folder.iterdir()):
    if not (case / 'config.json').exists() or (len(sys.argv) > 4 and case.name not in sys.argv[4:]):
        continue
    try:
        print(f'{case.name}: {check(case):.2f} of what is allowed')
        passed += 1
    except (ValueError, subprocess.TimeoutExpired) as error:
        print(f'FAIL {case.name}: {error}')
        failed += 1
print(f'{passed} passed, {failed} failed')
sys.exit(1 if failed else 0)
