#!/usr/bin/env python3
"""Checks that networks split over two devices keep their bits: split_devices.py SPRIG BATCH MODEL...

Splits each model's schedule for one processor (split_program.py), compiles that and runs it on null:0 and null:1 in several
orders; and again with lanes and memory by the compiler. Outputs must equal the processor's byte by byte. And what the split
could have forgotten must show: without its waits a program is refused, without its copies it is wrong. The last line is
`N passed, N failed`.
"""
import pathlib
import sys
import tempfile

from runs import same, sprig
from split_program import report, split, without_a_wait, without_copies, without_waits


def run(folder, name, text, seed, phase='codegen', flags=()):
    """Compiles the text from a phase on and runs it: its outputs' folder, or why there are none."""
    source, package, out = folder / f'{name}.mlir', folder / f'{name}.sprig', folder / f'{name}-{seed}'
    if not package.exists():
        source.write_text(text)
        _, wrong = sprig('compile', source, '--compile-from', phase, '--threads', '1', '--cpu', 'native', *flags, '-o', package)
        if wrong:
            return None, wrong
    _, wrong = sprig('run', package, '--devices', 'null:0,1', '--random-inputs', '7', '--output-dir', out, seed=seed)
    return out, wrong


def check(model, batch, folder):
    """Yields what is checked of a model, and what is wrong with it or ''."""
    flags = ['--dim', f'batch={batch}', '--threads', '1']
    _, wrong = sprig('run', model, *flags, '--random-inputs', '7', '--output-dir', folder / 'cpu')
    text, cannot = sprig('compile', model, *flags, '--compile-to', 'schedule')
    if wrong or cannot:
        yield 'on cpu', wrong or cannot
        return
    unplanned, text = split(text, planned=False), split(text, planned=True)
    for seed in (0, 1, 20):
        out, wrong = run(folder, 'split', text, seed)
        yield f'on null:0,1 with seed {seed}', wrong or ('' if same(folder / 'cpu', out) else 'differs from the processor')
    if 'exec.wait' not in text:
        return
    for seed in (0, 1, 20):
        out, wrong = run(folder, 'lanes', unplanned, seed, 'plan', ('--lanes', '3'))
        yield f'on lanes of null:0,1 with seed {seed}', wrong or (
            '' if same(folder / 'cpu', out) else 'differs from the processor')
    for what, less in ('waits', without_waits(text)), ('a wait', without_a_wait(text)):
        _, wrong = run(folder, f'without-{what}', less, 0)
        yield f'without {what}', '' if 'without an order to what lane' in wrong else wrong or 'is accepted'
    _, wrong = run(folder, 'uncopied', without_copies(text), 0)
    yield 'without copies', '' if 'which no command before it has written' in wrong else wrong or 'is accepted'


def main():
    def results(model):
        with tempfile.TemporaryDirectory() as folder:
            yield from check(model, sys.argv[2], pathlib.Path(folder))

    return report((model.parent.name, results(model)) for model in map(pathlib.Path, sys.argv[3:]))


sys.exit(main())
