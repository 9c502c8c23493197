#!/usr/bin/env python3
"""Checks that programs split over two devices keep their bits: split_devices.py SPRIG BATCH MODEL...

Takes each model's schedule for one processor, deals its commands in three parts to two devices (the middle one to the
second), with a copy and an event where a value crosses, compiles that and runs it on null:0 and null:1 in several orders.
Outputs must equal the processor's byte by byte. And what the split could have forgotten must show: without its waits a
program is refused, without its copies it is wrong. The last line is `N passed, N failed`.
"""
import filecmp
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

KERNEL = re.compile(r'^  exec\.kernel @("[^"]*"|[\w.$-]+)\((.*?)\) ->', re.M)
BUFFER = re.compile(r'^    (%\w+) = exec\.buffer +(arena|input|output|constant|state)(.*?)( named "[^"]*")? : (.*)$')
DISPATCH = re.compile(r'^      exec\.dispatch @("[^"]*"|[\w.$-]+)\(([^)]*)\)(.*)$')
COPY = re.compile(r'^      exec\.copy (%\w+) to (%\w+)(.*)$')


def bytes_of(memref):
    *sizes, element = re.fullmatch(r'memref<(.*)>', memref)[1].split('x')
    bits = max(8, int(element.lstrip('uifb')))
    return math.prod(map(int, sizes)) * bits // 8


class Split:
    """The lines of a program for one device as those for two."""

    def __init__(self, text):
        self.kernels = {name: arguments.count('%') for name, arguments in KERNEL.findall(text)}
        self.text, self.buffers, self.names = text, {}, {}
        self.lanes, self.events, self.current, self.arenas = [[], []], 0, {}, [0, 0]

    def place(self, buffer, device):
        """The buffer's name on a device, which is made with its first use there."""
        if (buffer, device) not in self.names:
            self.names[buffer, device] = f'%on{device}_{len(self.names)}'
        return self.names[buffer, device]

    def read(self, buffer, device):
        kind = self.buffers[buffer][0]
        if kind in ('input', 'constant') or device in self.current[buffer]:
            return self.place(buffer, device)
        owner = 1 - device
        memref = self.buffers[buffer][3]
        self.lanes[owner].append(f'exec.copy {self.place(buffer, owner)} to {self.place(buffer, device)} : {memref} to {memref}')
        self.lanes[owner].append(f'exec.record {self.events}')
        self.lanes[device].append(f'exec.wait {self.events}')
        self.events += 1
        self.current[buffer].add(device)
        return self.place(buffer, device)

    def write(self, buffer, device):
        self.current[buffer] = {device}
        return self.place(buffer, device)

    def program(self, begin, end):
        lines = self.text[begin:end]
        commands = []
        for line in lines:
            if match := BUFFER.match(line):
                self.buffers[match[1]] = [match[2], match[3], match[4] or '', match[5]]
            elif match := DISPATCH.match(line):
                operands = [operand.strip() for operand in match[2].split(',') if operand.strip()]
                inputs = self.kernels[match[1]]
                commands.append((f'exec.dispatch @{match[1]}(', operands[:inputs], operands[inputs:], f'){match[3]}'))
            elif match := COPY.match(line):
                commands.append(('exec.copy ', [match[1]], [match[2]], match[3]))
        self.current = {name: set() for name in self.buffers}
        for i, (head, read, written, tail) in enumerate(commands):
            device = int(len(commands) <= 3 * i < 2 * len(commands))
            names = [self.read(name, device) for name in read] + [self.write(name, device) for name in written]
            separator = ' to ' if head.startswith('exec.copy') else ', '
            self.lanes[device].append(head + separator.join(names) + tail)
        for (buffer, device), name in self.names.items():
            kind, where, label, memref = self.buffers[buffer]
            offset = ''
            if kind == 'arena':
                offset = f' at {self.arenas[device]}'
                self.arenas[device] += (bytes_of(memref) + 63) // 64 * 64
            yield f'    {name} = exec.buffer {kind}{where} on @d{device}{offset}{label} : {memref}'
        for device, lane in enumerate(self.lanes):
            yield f'    exec.lane on @d{device} {{'
            yield from ('      ' + line for line in lane)
            yield '    }'


def split(text):
    whole = Split(text)
    lines = whole.text = text.split('\n')
    begin = next(i for i, line in enumerate(lines) if line.startswith('  exec.program'))
    end = next(i for i in range(begin, len(lines)) if lines[i] == '  }')
    head = [line.replace('  exec.device @cpu "cpu"', '  exec.device @d0 "cpu"\n  exec.device @d1 "cpu" ordinal 1')
            for line in lines[:begin + 1]]
    program = list(whole.program(begin + 1, end))
    head[-1] = re.sub(r'( outputs\([^)]*\))', rf'\1 arena {whole.arenas[0]}, {whole.arenas[1]}', head[-1], count=1)
    head[-1] = head[-1].replace(' independent_samples', '')  # random inputs have the model's batch
    return '\n'.join(head + program + lines[end:])


def sprig(*arguments, seed=0):
    done = subprocess.run([sys.argv[1], *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={**os.environ, 'SPRIG_NULL_SEED': str(seed)})
    return done.stdout, '' if done.returncode == 0 else done.stderr.strip()[:400] or f'exit code {done.returncode}'


def same(first, second):
    names = sorted(f.name for f in first.iterdir())
    return names and filecmp.cmpfiles(first, second, names, shallow=False)[0] == names


def run(folder, name, text, seed):
    """Compiles the text and runs it: its outputs' folder, or why there are none."""
    source, package, out = folder / f'{name}.mlir', folder / f'{name}.sprig', folder / f'{name}-{seed}'
    if not package.exists():
        source.write_text(text)
        _, wrong = sprig('compile', source, '--compile-from', 'codegen', '--threads', '1', '--cpu', 'native', '-o', package)
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
    text = split(text)
    for seed in (0, 1, 20):
        out, wrong = run(folder, 'split', text, seed)
        yield f'on null:0,1 with seed {seed}', wrong or ('' if same(folder / 'cpu', out) else 'differs from the processor')
    if 'exec.wait' not in text:
        return
    _, wrong = run(folder, 'unordered', re.sub(r'\n      exec\.wait \d+', '', text), 0)
    yield 'without waits', '' if 'no event orders the two' in wrong else wrong or 'is accepted'
    lines = text.split('\n')
    missing = [line for i, line in enumerate(lines)
               if not (line.startswith('      exec.copy') and lines[i + 1].startswith('      exec.record'))]
    out, wrong = run(folder, 'uncopied', '\n'.join(missing), 0)
    yield 'without copies', wrong or ('is right by chance' if same(folder / 'cpu', out) else '')


def main():
    passed = failed = 0
    for model in map(pathlib.Path, sys.argv[3:]):
        with tempfile.TemporaryDirectory() as folder:
            for what, wrong in check(model, sys.argv[2], pathlib.Path(folder)):
                passed, failed = passed + (not wrong), failed + bool(wrong)
                if wrong:
                    print(f'FAIL {model.parent.name}, {what}: {wrong}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
