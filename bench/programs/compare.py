"""Runs the programs of this folder in Sprig and in PyTorch, in turn, and prints one table: compare.py PROGRAM.

PROGRAM is what CMakeLists.txt builds. Differences are the greatest of a loss over the steps (and of the evaluations within
the loop), relative to the greatest loss. A ratio is PyTorch's median time of a step over Sprig's, of the best of --rounds
runs: above 1, Sprig is faster. One thread, pinned to one processor. Exit code 1: compiled and uncompiled differ in a bit, a run that was killed and gone on
with differs in a bit from one that was not, or a curve is further from PyTorch's than --tolerance.
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import numpy as np

from programs import PROGRAMS

HERE = pathlib.Path(__file__).resolve().parent


def run(command, dies=False):
    """The median time of a step in microseconds; None where it does not run."""
    last = {os.cpu_count() - 1}
    done = subprocess.run([str(w) for w in command], capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS='1'),
                          preexec_fn=lambda: os.sched_setaffinity(0, last))
    if dies:
        assert done.returncode == -signal.SIGKILL, done.stderr
        return None
    if done.returncode:
        print(*done.stderr.splitlines()[-3:], sep='\n', file=sys.stderr)
        return None
    return float(done.stdout.split()[-1])


def same_bits(a, b):
    a, b = np.load(a), np.load(b)
    return all(a[k].tobytes() == b[k].tobytes() for k in ('losses', 'results'))


def difference(a, b, key):
    a, b = np.load(a)[key], np.load(b)[key]
    assert a.shape == b.shape, (a.shape, b.shape)
    return float(np.abs(a - b).max() / np.abs(b).max()) if len(b) else None


def resumes(program, data, folder):
    """Whether a run that is killed and gone on with gives the bits of one that is not."""
    for mode in [], ['--uncompiled']:
        base = [program, data, 'resume']
        for name in 'whole', 'halves':
            subprocess.run(['rm', '-rf', folder / name])
        run(base + [folder / 'whole.npz', '--checkpoints', folder / 'whole'] + mode)
        halves = base + [folder / 'halves.npz', '--checkpoints', folder / 'halves'] + mode
        run(halves + ['--die-at', 61], dies=True)
        run(halves)
        if not same_bits(folder / 'whole.npz', folder / 'halves.npz'):
            return False
    return True


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('program')
    p.add_argument('--only', default=','.join(PROGRAMS))
    p.add_argument('--rounds', type=int, default=5)
    p.add_argument('--tolerance', type=float, default=1e-4)
    p.add_argument('--compile', action='store_true', help='torch.compile too')
    a = p.parse_args()
    python = [sys.executable, HERE / 'programs.py']
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        data = folder / 'data'
        subprocess.run([str(w) for w in python + ['make', data]], check=True)
        peers = {'compiled': ([a.program, data], []), 'uncompiled': ([a.program, data], ['--uncompiled']),
                 'eager': (python + ['run', data], [])}
        if a.compile:
            peers['torch.compile'] = (python + ['run', data], ['--compile'])
        print('| program | steps | bits | loss | evaluations | eager, us | over uncompiled | over compiled |'
              + (' torch.compile over compiled |' if a.compile else ''))
        print('|---|---|---|---|---|---|---|---|' + ('---|' if a.compile else ''))
        for name in a.only.split(','):
            times = {q: [] for q in peers}
            for _ in range(a.rounds):
                for q, (command, more) in peers.items():
                    times[q].append(run(command + [name, folder / f'{q}.npz'] + more))
            if any(t is None for q in ('compiled', 'uncompiled', 'eager') for t in times[q]):
                failed = True
                continue
            best = {q: min(t) if None not in t else None for q, t in times.items()}
            losses, results = (difference(folder / 'compiled.npz', folder / 'eager.npz', k) for k in ('losses', 'results'))
            bits = same_bits(folder / 'compiled.npz', folder / 'uncompiled.npz')
            if name == 'resume':
                bits = bits and resumes(a.program, data, folder)
            failed |= not bits or max(losses, results or 0) > a.tolerance
            ratio = lambda x, y: f'{x / y:.1f}' if x and y else 'does not run'
            steps = len(np.load(folder / 'compiled.npz')['losses'])
            cells = [name, steps, 'same' if bits else 'DIFFER', f'{losses:.1e}', '' if results is None else f'{results:.1e}',
                     f"{best['eager']:.0f}", ratio(best['eager'], best['uncompiled']),
                     ratio(best['eager'], best['compiled'])]
            if a.compile:
                cells.append(ratio(best['torch.compile'], best['compiled']))
            print('| ' + ' | '.join(map(str, cells)) + ' |', flush=True)
    sys.exit(failed)


if __name__ == '__main__':
    main()
