#!/usr/bin/env python3
"""Our all-reduces between processes of this machine beside Gloo's own and MPI's own, 4 B to 64 MB, in one run.

    compare.py [BUILD] [--ranks N] [--rounds N]      BUILD: default build; its libraries are used

Each round runs every program in turn; a cell is the median of the rounds' medians, and in brackets how many times as
long as ours by shared memory it takes. Programs whose libraries are not here (libgloo-dev, libopenmpi-dev) are left out,
with a note.
"""
import argparse
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
parser = argparse.ArgumentParser()
parser.add_argument('build', nargs='?', type=pathlib.Path, default=HERE.parents[1] / 'build')
parser.add_argument('--ranks', type=int, default=2)
parser.add_argument('--rounds', type=int, default=3)
options = parser.parse_args()
work = pathlib.Path(tempfile.mkdtemp())
libraries = (options.build / 'lib').resolve()


def build(name, *flags, compiler='c++'):
    command = [compiler, '-O2', '-std=c++20', HERE / f'{name}.cpp', '-o', work / name, *flags]
    if not shutil.which(compiler):
        return f'no {compiler}'
    made = subprocess.run(command, capture_output=True, text=True)
    return '' if made.returncode == 0 else (made.stderr.splitlines() or ['?'])[0]


def free_port():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        return free.getsockname()[1]


def figures(text):
    return {int(size): float(seconds) for size, seconds in map(str.split, text.splitlines())}


def as_ranks(command, **variables):
    """Starts the command as ranks of their own; what the first prints."""
    port = str(free_port())
    ranks = [subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True,
                              env=os.environ | variables | {'RANK': str(rank), 'WORLD_SIZE': str(options.ranks),
                                                            'MASTER_PORT': port, 'LD_LIBRARY_PATH': str(libraries)})
             for rank in range(options.ranks)]
    output = [rank.communicate(timeout=600)[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        sys.exit(f'{command[0]} failed')
    return figures(output[0])


def by_mpirun(command, **variables):
    run = subprocess.run(['mpirun', '--allow-run-as-root', '--oversubscribe', '-n', str(options.ranks), *map(str, command)],
                         env=os.environ | variables | {'LD_LIBRARY_PATH': str(libraries)}, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f'mpirun {command[0]} failed: {run.stderr}')
    return figures(run.stdout)


def gloo():
    with tempfile.TemporaryDirectory() as meeting:
        return as_ranks([work / 'gloo', meeting])


if why := build('ours', '-I', HERE.parents[1] / 'runtime/include', '-L', libraries, '-lsprig_rt'):
    sys.exit(f'ours: {why}')
programs = {'ours, shm': lambda: as_ranks([work / 'ours'], SPRIG_TRANSPORT='shm')}
if (libraries / 'libsprig_rt_gloo.so').exists():
    programs['ours, gloo'] = lambda: as_ranks([work / 'ours'], SPRIG_TRANSPORT='gloo')
if why := build('gloo', '-lgloo', '-lpthread'):
    print(f'note: Gloo by itself is left out: {why}', file=sys.stderr)
else:
    programs['gloo'] = gloo
if why := build('mpi', compiler='mpicxx') or ('' if shutil.which('mpirun') else 'no mpirun'):
    print(f'note: MPI by itself is left out: {why}', file=sys.stderr)
else:
    programs['mpi'] = lambda: by_mpirun([work / 'mpi'])
    if (libraries / 'libsprig_rt_mpi.so').exists():
        programs['ours, mpi'] = lambda: by_mpirun([work / 'ours'], SPRIG_TRANSPORT='mpi')

rounds = []
for number in range(options.rounds):
    rounds.append({name: run() for name, run in programs.items()})
    print(f'round {number + 1} of {options.rounds}', file=sys.stderr)
print(f'{options.ranks} processes, {os.cpu_count()} cores, medians of {options.rounds} rounds; microseconds, and times ours by shared memory')
print('| bytes | ' + ' | '.join(programs) + ' |')
print('|---|' + '---|' * len(programs))
for size in rounds[0]['ours, shm']:
    cells = {name: statistics.median(each[name][size] for each in rounds) for name in programs}
    own = cells['ours, shm']
    print(f'| {size} | ' + ' | '.join(f'{seconds * 1e6:.4g} ({seconds / own:.2f})' if name != 'ours, shm' else f'{seconds * 1e6:.4g}'
                                      for name, seconds in cells.items()) + ' |')
shutil.rmtree(work)
