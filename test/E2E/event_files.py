#!/usr/bin/env python3
"""Event files as TensorBoard reads them (PyPI's package tensorboard): also of runs that were killed, and resumed.

    event_files.py WRITE_EVENTS FOLDER

Writes runs with random values, reads them by both of TensorBoard's readers, the one for scalars and the one that its
plugins are built on, and compares steps, times and values. Closes with `N passed, N failed`.
"""
import collections
import math
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys

from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator
from tensorboard.util import tensor_util

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from counting import expect, finish

TOOL, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
TAGS = ('loss', 'eval/accuracy', 'größe')
ALL = {'scalars': 0, 'tensors': 0}  # else readers keep a sample
numbers = random.Random(0)


class Writer:
    """A process that writes one event file; remembers what it was given: tag, step, seconds, value as a float."""

    def __init__(self, folder, *resume_step):
        self.process = subprocess.Popen([TOOL, folder, *map(str, resume_step)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        encoding='utf-8')
        self.added = []

    def add(self, steps):
        for step in steps:
            for tag in TAGS:
                value = numbers.choice([numbers.gauss(0, 1), 10 ** numbers.uniform(-50, 50), 0.0, -0.0, math.inf, -math.inf, math.nan])
                seconds = 1.7e9 + step + numbers.random()
                self.added.append((tag, step, seconds, as_float(value)))
                self.process.stdin.write(f'{step} {tag} {value!r} {seconds!r}\n')

    def flush(self):
        self.process.stdin.write('flush\n')
        self.process.stdin.flush()
        expect('a flush', self.process.stdout.readline() == 'flushed\n')

    def kill(self):
        self.process.stdin.flush()
        self.process.kill()
        self.process.wait()

    def finish(self):
        self.process.communicate()
        expect(f'exit code {self.process.returncode}', self.process.returncode == 0)


def as_float(value):
    try:
        return struct.unpack('f', struct.pack('f', value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def by_tag(events):
    """Each tag's events, in order, as text that tells zeros and NaN apart."""
    tags = collections.defaultdict(list)
    for tag, *event in events:
        tags[tag].append(repr(event))
    return tags


def read(folder):
    """What each reader finds."""
    scalars = event_accumulator.EventAccumulator(str(folder), ALL).Reload()
    yield 'scalars', [(tag, e.step, e.wall_time, e.value) for tag in scalars.Tags()['scalars'] for e in scalars.Scalars(tag)]
    tensors = plugin_event_accumulator.EventAccumulator(str(folder), ALL).Reload()
    yield 'tensors', [(tag, e.step, e.wall_time, tensor_util.make_ndarray(e.tensor_proto).item())
                      for tag in tensors.Tags()['tensors'] for e in tensors.Tensors(tag)]


def compare(name, folder, added):
    for reader, found in read(folder):
        expect(f'{name}: {len(found)} events as {reader}, {len(added)} were to be there', by_tag(found) == by_tag(added))


def tear(folder):
    """Cuts the newest file off within its last record, as a crash of the machine may."""
    newest = max(folder.iterdir())
    os.truncate(newest, newest.stat().st_size - numbers.randrange(1, 40))


def kill_and_resume(name, folder, is_torn):
    """A run that is killed after its last flush and resumed at an earlier step, twice."""
    run = Writer(folder)
    run.add(range(200))
    run.flush()
    run.add(range(200, 205))  # lost
    run.kill()
    if is_torn:
        tear(folder)
    kept = run.added
    for first, end in ((150, 190), (160, 260)):
        run = Writer(folder, first)
        run.add(range(first, end))
        run.flush()
        run.kill()
        kept = [event for event in kept if event[1] < first] + run.added
        compare(f'{name} at {first}', folder, kept)


shutil.rmtree(FOLDER, ignore_errors=True)
whole = Writer(FOLDER / 'whole')
whole.add(range(2000))
whole.finish()
compare('one run', FOLDER / 'whole', whole.added)
longer = Writer(FOLDER / 'whole', 2000)
longer.add(range(2000, 2100))
longer.finish()
compare('one that ended and went on', FOLDER / 'whole', whole.added + longer.added)
new = Writer(FOLDER / 'whole')
new.add(range(500))
new.finish()
compare('a new one in its folder', FOLDER / 'whole', new.added)
kill_and_resume('killed and resumed', FOLDER / 'killed', False)
kill_and_resume('killed, torn and resumed', FOLDER / 'torn', True)
finish()
