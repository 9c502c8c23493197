#!/usr/bin/env python3
"""Kills or stops a random rank of launched training runs at a random moment: every other rank has to end with the error
that names it, in time, and nothing may be left running.

    launch_kill.py SPRIG FOLDER EXAMPLE [--launches N] [--ranks N] [--transport NAME] [--seed N]

Every third rank is stopped (SIGSTOP), which its silence tells; the others are killed (SIGKILL). A run that is over before
it is its turn has to have done its work. Says on the error stream how far it is; closes with `N passed, N failed`.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument('sprig')
parser.add_argument('folder', type=pathlib.Path)
parser.add_argument('example', type=pathlib.Path)
parser.add_argument('--launches', type=int, default=12)
parser.add_argument('--ranks', type=int, default=3)
parser.add_argument('--transport', default='auto')
parser.add_argument('--seed', type=int, default=7)
options = parser.parse_args()
data = options.example / 'data'
shutil.rmtree(options.folder, ignore_errors=True)
options.folder.mkdir(parents=True)
HEARTBEAT, KILLED_WITHIN, STOPPED_WITHIN = 1, 20, 25  # seconds, with room for a busy machine
mark = f'launch_kill-{os.getpid()}'  # in the arguments of every rank, to be found by


def start(epochs):
    arguments = [options.sprig, 'launch', '-n', str(options.ranks), '--heartbeat', str(HEARTBEAT), '--', 'train',
                 options.example / 'model.onnx', '--config', options.example / 'train.json',
                 '--x', data / 'train-images-idx3-ubyte', '--y', data / 'train-labels-idx1-ubyte',
                 '--epochs', str(epochs), '--strategy', 'data', '-o', options.folder / f'{mark}.safetensors']
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=os.environ | {'SPRIG_TRANSPORT': options.transport})


def ranks():
    """Process of each rank that is there."""
    found = {}
    for folder in pathlib.Path('/proc').iterdir():
        try:
            if not folder.name.isdigit() or mark.encode() not in (folder / 'cmdline').read_bytes():
                continue
            state = (folder / 'stat').read_text().rsplit(')', 1)[1].split()[0]
            environment = (folder / 'environ').read_bytes()
        except (OSError, IndexError):
            continue
        rank = re.search(rb'(?:^|\0)RANK=(\d+)\0', environment)
        if rank and state != 'Z':
            found[int(rank[1])] = int(folder.name)
    return found


def check(number):
    process = start(epochs=2000)
    victim = random.randrange(options.ranks)
    stops = number % 3 == 0
    time.sleep(random.uniform(0, 0.6))
    there = ranks()
    while victim not in there and process.poll() is None:  # not started yet
        time.sleep(0.02)
        there = ranks()
    begin = time.monotonic()
    if victim in there:
        os.kill(there[victim], signal.SIGSTOP if stops else signal.SIGKILL)
    try:
        output, errors = process.communicate(timeout=STOPPED_WITHIN if stops else KILLED_WITHIN)
    except subprocess.TimeoutExpired:
        process.kill()
        raise ValueError(f'rank {victim} was {"stopped" if stops else "killed"}, and the launch goes on after '
                         f'{time.monotonic() - begin:.0f} s')
    time.sleep(0.05)
    if left := ranks():
        for each in left.values():
            os.kill(each, signal.SIGKILL)
        raise ValueError(f'left running: {left}')
    if process.returncode == 0:
        raise ValueError('the launch succeeded')
    how = f'rank {victim} has given no sign of life for 1 s' if stops else f'rank {victim} was killed by signal 9'
    lines = errors.splitlines()
    if not lines or not lines[-1].startswith('error: launch: ') or how not in lines[-1]:
        raise ValueError(f'expected the last line to say "{how}", found: {errors[-600:]}')
    # Ranks that had come to the group say the same; those that were still compiling are ended by the launcher.
    for line in lines[:-1]:
        if 'error' in line and how not in line:
            raise ValueError(f'rank {victim}: {line}')
    return time.monotonic() - begin


random.seed(options.seed)
passed = failed = 0
longest = 0.0
for number in range(options.launches):
    try:
        longest = max(longest, check(number))
        passed += 1
    except ValueError as error:
        print(f'FAIL launch {number}: {error}', flush=True)
        failed += 1
    if (number + 1) % 20 == 0:
        print(f'{number + 1} of {options.launches}: {failed} failed, the longest took {longest:.1f} s', file=sys.stderr, flush=True)
print(f'the longest took {longest:.1f} s to end')
print(f'{passed} passed, {failed} failed')
sys.exit(1 if failed else 0)
