#!/usr/bin/env python3
"""Checks that networks placed on several devices keep their bits: placed_devices.py SPRIG BATCH MODEL...

Each model runs on one device, then on two and three: placed by cost, with its layers dealt out in turn, and with the second
half of them on the other device; on shares of the cores with one thread and several, on null devices in several orders, and
from a package. Outputs must equal the first byte by byte. The last line is `N passed, N failed`.
"""
import json
import pathlib
import sys
import tempfile

from runs import same, sprig
from split_program import report


def placements(layers, devices):
    """What is said of layers, by name."""
    yield 'by cost', []
    yield 'in turn', [f'{layer}={devices[i % len(devices)]}' for i, layer in enumerate(layers)]
    yield 'in halves', [f'{layer}={devices[-1]}' for layer in layers[len(layers) // 2:]]


def check(model, batch, folder):
    """Yields what is checked of a model, and what is wrong with it or ''."""
    flags = ['--dim', f'batch={batch}'] if batch != '-' else []
    _, wrong = sprig('run', model, *flags, '--random-inputs', '7', '--output-dir', folder / 'one')
    if wrong:
        yield 'on one', wrong
        return
    out, wrong = sprig('compile', model, *flags, '--devices', 'cpu:0,cpu:1', '--explain-placement', '--format', 'json',
                       '--cpu', 'native', '-o', folder / 'explained.sprig')
    if wrong:
        yield 'explained', wrong
        return
    named = [d['layer'] for d in json.loads(out)['placement'][0]['decisions'] if not d['layer'].startswith('(')]
    layers = list(dict.fromkeys(named))
    number = 0
    for devices in (['cpu:0', 'cpu:1'], ['null:0', 'null:1'], ['cpu:0', 'null:1', 'cpu:2']):
        for how, said in placements(layers, devices):
            places = [word for place in said for word in ('--place', place)]
            package, given = folder / f'{number}.sprig', ','.join(devices)
            number += 1
            _, wrong = sprig('compile', model, *flags, '--cpu', 'native', '--devices', given, *places, '-o', package)
            if wrong:
                yield f'{how} on {given}', wrong
                continue
            runs = [(given, ('--threads', '1'), 0), (given, ('--threads', '3'), 1), (given, (), 20)]
            runs.append((','.join(f'null:{i + 3}' for i in range(len(devices))), (), 1))
            runs.append((f'cpu*{len(devices)}', (), 0))
            for on, threads, seed in runs:
                out = folder / f'out-{number}-{seed}-{on}-{len(threads)}'
                _, wrong = sprig('run', package, '--devices', on, *threads, '--random-inputs', '7', '--output-dir', out, seed=seed)
                what = f'{how} for {given}, on {on} {" ".join(threads)} with seed {seed}'
                yield what, wrong or ('' if same(folder / 'one', out) else 'differs from one device')


def main():
    def results(model):
        with tempfile.TemporaryDirectory() as folder:
            yield from check(model, sys.argv[2], pathlib.Path(folder))

    return report((model.parent.name or model.name, results(model)) for model in map(pathlib.Path, sys.argv[3:]))


sys.exit(main())
