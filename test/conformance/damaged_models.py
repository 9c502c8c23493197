#!/usr/bin/env python3
"""Feeds damaged copies of a model to a tool: damaged_models.py COUNT MODEL TOOL ARGUMENT...

The tool gets the copy's path as its last argument. COUNT copies are cut, flipped in a bit, or have bytes exchanged, by a fixed
seed. Each run must end with exit code 0 (the damage did not matter), 3 or 4, with an error for the latter two, within
20 seconds and without a sanitizer's report. The last line is `N passed, N failed`.
"""
import concurrent.futures
import os
import pathlib
import random
import subprocess
import sys
import tempfile


def damaged(data, i, rng):
    copy = bytearray(data)
    if i % 3 == 0:
        return copy[:rng.randrange(len(copy))]
    # Most of a model is weights, where damage goes unnoticed: aim at the structure around them as well.
    places = range(len(copy)) if i % 2 else [k for k in range(len(copy)) if k < 2000 or k > len(copy) - 2000]
    for _ in range(rng.choice((1, 1, 4))):
        at = rng.choice(places)
        copy[at] = copy[at] ^ (1 << rng.randrange(8)) if i % 3 == 1 else rng.randrange(256)
    return copy


def complaint(command):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=20, errors='replace')
    except subprocess.TimeoutExpired:
        return 'took more than 20 s'
    if 'Sanitizer' in done.stderr or 'runtime error:' in done.stderr:
        return done.stderr[:1000]
    if done.returncode not in (0, 3, 4):
        return f'exit code {done.returncode}: {done.stderr[:300]}'
    if done.returncode and 'error:' not in done.stderr:
        return f'exit code {done.returncode} without an error'
    return None


def main():
    count, model, command = int(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    data = model.read_bytes()
    passed = failed = 0

    def feed(i):
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, 'model.onnx')
            pathlib.Path(copy).write_bytes(damaged(data, i, random.Random(i)))
            return complaint([*command, copy])

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as at_once:
        for i, wrong in enumerate(at_once.map(feed, range(count))):
            if wrong:
                failed += 1
                print(f'FAIL {model.name}, damage {i}: {wrong}')
            else:
                passed += 1
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
