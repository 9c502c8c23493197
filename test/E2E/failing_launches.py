#!/usr/bin/env python3
"""Makes single calls of the system fail in launched training runs of two ranks, sockets, pipes, processes, shared memory
and files of rank 0, rank 1 and the launcher alike. A run either gives the bits of an undisturbed one, or ends in time with
an error and an exit code from 2 to 5; nothing is left running. An interrupted call (EINTR) never ends a run, and a
connection that ends (ECONNRESET) is told before the collective timeout is over.

    failing_launches.py SPRIG LIBRARY FOLDER EXAMPLE [--samples N] [--runs N] [--kinds NAMES] [--errors NAMES]
                     [--transports NAMES] [--seed N]

LIBRARY is test/inject/Inject.c. Of each kind, process and error N calls are sampled, the first one always; errors are those that
the system may give. Of all these so many runs are made, or all. Says on the error stream how far it is; closes with
`N passed, N failed`.
"""
import argparse
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import time

ERRORS = {
    'socket': ['EINTR', 'EMFILE', 'ENOBUFS'],
    'connect': ['EINTR', 'ECONNREFUSED', 'ETIMEDOUT'],
    'accept': ['EINTR', 'ECONNABORTED', 'EMFILE'],
    'send': ['EINTR', 'ECONNRESET', 'EPIPE'],
    'recv': ['EINTR', 'ECONNRESET', 'ETIMEDOUT'],
    'poll': ['EINTR', 'ENOMEM'],
    'pipe': ['EINTR', 'EMFILE'],
    'fork': ['EINTR', 'EAGAIN'],
    'shm': ['EINTR', 'ENOMEM'],
    'write': ['EINTR', 'ENOSPC'],
    'read': ['EINTR', 'EIO'],
    'open': ['EINTR', 'EMFILE'],
}
KINDS = list(ERRORS)
TIMEOUT, WITHIN = 30, 20  # seconds: of collectives, and in which a run ends before one is over

parser = argparse.ArgumentParser()
parser.add_argument('sprig')
parser.add_argument('library', type=pathlib.Path)
parser.add_argument('folder', type=pathlib.Path)
parser.add_argument('example', type=pathlib.Path)
parser.add_argument('--samples', type=int, default=2)
parser.add_argument('--runs', type=int)
parser.add_argument('--kinds', default=','.join(kind for kind in KINDS if kind != 'open'))
parser.add_argument('--transports', default='auto,gloo')
parser.add_argument('--errors', default='')
parser.add_argument('--seed', type=int, default=7)
options = parser.parse_args()
random.seed(options.seed)
shutil.rmtree(options.folder, ignore_errors=True)
options.folder.mkdir(parents=True)
data, result, counts = options.example / 'data', options.folder / 'out.safetensors', options.folder / 'counts'
mark = f'failing_launches-{os.getpid()}'


def run(transport, rank=0, fault=''):
    """Exit code (None: it does not end), what it said, and how long it took."""
    result.unlink(missing_ok=True)
    environment = os.environ | {'SPRIG_TRANSPORT': transport, 'LD_PRELOAD': str(options.library), 'FAILING_LAUNCHES': mark}
    if fault:
        environment |= {'INJECT': fault, 'INJECT_RANK': 'launcher' if rank < 0 else str(rank)}
    else:
        environment['INJECT_COUNTS'] = str(counts)
    begin = time.monotonic()
    process = subprocess.Popen(
        [options.sprig, 'launch', '-n', '2', '--collective-timeout', str(TIMEOUT), '--', 'train', options.example / 'model.onnx',
         '--config', options.example / 'train.json', '--x', data / 'train-images-idx3-ubyte', '--y',
         data / 'train-labels-idx1-ubyte', '--epochs', '1', '--strategy', 'data', '-q', '-o', result],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        errors = process.communicate(timeout=TIMEOUT + 60)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return None, process.communicate()[1], time.monotonic() - begin
    return process.returncode, errors, time.monotonic() - begin


def counted():
    """How many calls of each kind each rank (-1: the launcher) has made, in the process of it that has made most."""
    found = {}
    for path in options.folder.glob('counts.*'):
        rank = path.suffixes[-2][1:]
        for name, number in struct.iter_unpack('16sQ', path.read_bytes()):
            key = -1 if rank == 'launcher' else int(rank), name.rstrip(b'\0').decode()
            found[key] = max(found.get(key, 0), number)
        path.unlink()
    return found


def alive():
    """Processes of runs that have ended."""
    found = []
    for process in pathlib.Path('/proc').iterdir():
        try:
            if process.name.isdigit() and mark.encode() in (process / 'environ').read_bytes():
                found.append(process.name)
        except OSError:
            pass
    return found


def wrong(transport, error, code, errors, seconds):
    """What is not right of a run in which a call has failed with `error`, or None."""
    if code is None:
        return 'it does not end'
    until = time.monotonic() + 5
    while left := alive():
        if time.monotonic() > until:
            return f'processes are left: {left}'
        time.sleep(0.02)
    if code == 0:
        return None if result.read_bytes() == expected[transport] else 'the weights are others'
    if error == 'EINTR':
        return 'an interrupted call ends it'
    if not 2 <= code <= 5:
        return f'exit code {code}'
    if 'error: ' not in errors:
        return 'no error is told'
    if 'has waited' in errors or seconds > WITHIN:
        return f'it is told after {seconds:.0f} s'
    return None


expected, faults = {}, []
for transport in options.transports.split(','):
    code, errors, seconds = run(transport)
    assert code == 0, errors
    expected[transport] = result.read_bytes()
    made = counted()
    for kind in options.kinds.split(','):
        for rank in (-1, 0, 1):
            calls = made.get((rank, kind), 0)
            for error in options.errors.split(',') if options.errors else ERRORS[kind]:
                more = random.sample(range(2, calls + 1), max(0, min(options.samples, calls) - 1))
                faults += [(transport, kind, rank, at, calls, error) for at in [1][:calls] + more]
if options.runs:
    faults = random.sample(faults, options.runs)

passed, failed = 0, 0
for transport, kind, rank, at, calls, error in faults:
    code, errors, seconds = run(transport, rank, f'{kind}:{at}:{error}')
    why = wrong(transport, error, code, errors, seconds)
    passed, failed = passed + (why is None), failed + (why is not None)
    where = 'launcher' if rank < 0 else f'rank {rank}'
    line = f'{transport}, {where}: {kind} {at} of {calls} fails with {error}: exit code {code} after {seconds:.1f} s'
    if why:
        print(f'FAIL {line}: {why}: {errors.strip()[-600:]}', flush=True)
    else:
        print(line, file=sys.stderr, flush=True)
print(f'{passed} passed, {failed} failed')
sys.exit(failed > 0)
