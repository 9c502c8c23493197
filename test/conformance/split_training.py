#!/usr/bin/env python3
"""Checks that training steps split over two devices keep their bits: split_training.py SPRIG FOLDER/training [CASE...]

Splits the steps of each reference case (split_program.py): states live on null:0 and null:1 in turn, and are read and
updated from both. Trains with that in several orders, once with a place of its own for every value, once with memory
planned on both devices, where states are updated in place. The weights must be those of the processor byte by byte. And
what the split could have forgotten must show: without a wait a package is refused, without copies of states and of
their new values the weights are wrong. The last line is `N passed, N failed`.
"""
import concurrent.futures
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from split_program import report, split, without_a_wait, without_copies, without_waits


class Case:
    def __init__(self, sprig, case, folder):
        self.sprig, self.case, self.folder = sprig, case, folder

    def run(self, *arguments, seed=0):
        done = subprocess.run([self.sprig, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env={**os.environ, 'SPRIG_NULL_SEED': str(seed)}, timeout=300)
        return done.stdout, '' if done.returncode == 0 else done.stderr.strip()[:400] or f'exit code {done.returncode}'

    def train(self, program, name, *flags, seed=0):
        """The bytes of the trained weights, or why there are none."""
        out = self.folder / f'{name}-{seed}.safetensors'
        _, wrong = self.run('train', program, '--x', self.case / 'x.npy', '--y', self.case / 'y.npy', '-o', out, '--threads',
                            '1', *flags, '-q', seed=seed)
        return (b'', wrong) if wrong else (out.read_bytes(), '')

    def split_run(self, name, text, phase, seed=0):
        """Compiles the text from this phase on and trains."""
        package = self.folder / f'{name}.sprig'
        if not package.exists():
            source = self.folder / f'{name}.mlir'
            source.write_text(text)
            _, wrong = self.run('compile', source, '--compile-from', phase, '--threads', '1', '--cpu', 'native', '-o', package)
            if wrong:
                return b'', wrong
        return self.train(package, name, '--devices', 'null:0,1', seed=seed)

    def samples(self):
        header = (self.case / 'x.npy').read_bytes()[:4096]
        size, = struct.unpack('<H', header[8:10])
        return re.search(rb"'shape': \((\d+)", header[10:10 + size])[1].decode()

    def check(self):
        """Yields what is checked, and what is wrong with it or ''."""
        config = self.case / 'config.json'
        want, wrong = self.train(self.case / 'model.onnx', 'cpu', '--config', config)
        text, cannot = self.run('compile', self.case / 'model.onnx', '--train', config, '--samples', self.samples(),
                                '--threads', '1', '--compile-to', 'schedule')
        if wrong or cannot:
            yield 'on cpu', wrong or cannot
            return
        apart, planned = split(text, planned=True), split(text, planned=False)
        for name, program, phase, seeds in ('apart', apart, 'codegen', (0, 1)), ('planned', planned, 'plan', (0, 1, 20)):
            for seed in seeds:
                got, wrong = self.split_run(name, program, phase, seed)
                yield f'{name}, with seed {seed}', wrong or ('' if got == want else 'differs from the processor')
        for what, less in ('waits', without_waits(apart)), ('a wait', without_a_wait(apart)):
            _, wrong = self.split_run(f'without {what}', less, 'codegen')
            yield f'without {what}', '' if 'without an order to what lane' in wrong else wrong or 'is accepted'
        for what, less in ('of states', without_copies(apart, '// state')), ('home', without_copies(apart, '// home')):
            got, wrong = self.split_run(f'without copies {what}', less, 'codegen')
            # Memory that nobody wrote is refused, or all NaN, which ends the run.
            found = any(text in wrong for text in ('which no command before it has written', 'the loss is NaN'))
            yield f'without copies {what}', 'is right by chance' if got == want else '' if found or not wrong else wrong


def main():
    sprig, folder, only = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    cases = [case for case in sorted(folder.iterdir())
             if (case / 'config.json').exists() and (not only or case.name in only)]

    def results(case):
        with tempfile.TemporaryDirectory() as scratch:
            return list(Case(sprig, case, pathlib.Path(scratch)).check())

    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get('SPRIG_JOBS', 0)) or os.cpu_count()) as pool:
        return report(zip((f'{case.name} over two devices' for case in cases), pool.map(results, cases)))


sys.exit(main())
