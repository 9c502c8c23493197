"""A program's schedule for one processor as one for two devices, split by hand: for split_devices.py, split_training.py.

Commands are dealt in three parts, the middle one to the second device, with a copy and an event where a value crosses.
States have a home each, in turn on the first device and on the second. Who reads one elsewhere reads a copy, which one
of the two lanes makes, in turn; a new value is computed wherever its commands are and copied to the home, and the
state is written there, after all copies of its old value.

Copies of states to where they are read, and the waits of updates for them, end in `// state`, copies of new values to
their home in `// home`.
"""
import math
import re

KERNEL = re.compile(r'^  exec\.kernel @("[^"]*"|[\w.$-]+)\((.*?)\) ->', re.M)
PARAM = re.compile(r'^  nn\.param (@(?:"[^"]*"|[\w.$-]+))', re.M)
BUFFER = re.compile(r'^    (%\w+) = exec\.buffer +(arena|input|output|constant|state)(.*?)( named "[^"]*")? : (.*)$')
DISPATCH = re.compile(r'^      exec\.dispatch @("[^"]*"|[\w.$-]+)\(([^)]*)\)(.*)$')
COPY = re.compile(r'^      exec\.copy (%\w+) to (%\w+)(.*)$')


def bytes_of(memref):
    *sizes, element = re.fullmatch(r'memref<(.*)>', memref)[1].split('x')
    bits = max(8, int(element.lstrip('uifb')))
    return math.prod(map(int, sizes)) * bits // 8


class Split:
    """One program. `kernels`: how many buffers each reads; `homes`: the device of each state; `planned`: whether arena
    buffers get places, each one of its own."""

    def __init__(self, kernels, homes, planned):
        self.kernels, self.homes, self.planned = kernels, homes, planned
        self.buffers = {}     # by name: kind, source, label, type
        self.places = {}      # (buffer, device, version) -> name there
        self.current = {}     # of each buffer: the devices that have its value
        self.versions = {}    # of what is written: how often
        self.copied = {}      # of each state: events behind copies of its value that its home did not make
        self.lanes, self.events, self.pulls, self.arenas = [[], []], 0, 0, [0, 0]

    def whose(self, buffer):
        """What a buffer's bytes belong to: several may name one state."""
        kind, source, *_ = self.buffers[buffer]
        return source.strip() if kind == 'state' else buffer

    def home(self, buffer):
        return self.homes.get(self.whose(buffer))

    def place(self, buffer, device):
        """The buffer's name on a device, which is made with its first use there."""
        key = buffer, device, 0 if self.home(buffer) == device else self.versions.get(self.whose(buffer), 0)
        return self.places.setdefault(key, f'%on{device}_{len(self.places)}')

    def copy(self, lane, source, target, memref, note=''):
        self.lanes[lane].append(f'exec.copy {source} to {target} : {memref} to {memref}{note}')

    def order(self, first, then, note=''):
        """What comes in one lane after this is behind what is in the other."""
        self.lanes[first].append(f'exec.record {self.events}')
        self.lanes[then].append(f'exec.wait {self.events}{note}')
        self.events += 1

    def read(self, buffer, device, note=''):
        if self.buffers[buffer][0] in ('input', 'constant') or device in self.current[buffer]:
            return self.place(buffer, device)
        owner, memref, name = 1 - device, self.buffers[buffer][3], self.place(buffer, device)
        isState = self.home(buffer) == owner
        note = ' // state' if isState else note
        self.pulls += isState
        if self.pulls % 2 and isState and not self.versions.get(self.whose(buffer)):
            self.copy(device, self.place(buffer, owner), name, memref, note)
            self.lanes[device].append(f'exec.record {self.events}')
            self.copied.setdefault(self.whose(buffer), []).append(self.events)
            self.events += 1
        else:
            self.copy(owner, self.place(buffer, owner), name, memref, note)
            self.order(owner, device)
        self.current[buffer].add(device)
        return name

    def write(self, buffer, device):
        for name in self.buffers:
            if self.whose(name) == self.whose(buffer):
                self.current[name] = {device}
        self.versions[self.whose(buffer)] = self.versions.get(self.whose(buffer), 0) + 1
        return self.place(buffer, device)

    def command(self, head, read, written, tail, device):
        homes = [self.home(name) for name in written if self.home(name) is not None]
        if homes and not head.startswith('exec.copy'):
            raise ValueError(f'a dispatch writes a state before memory is planned: {head}')
        # A copy to a state crosses with what it reads.
        device = homes[0] if homes else device
        for name in written:
            self.lanes[device] += [f'exec.wait {event} // state' for event in self.copied.pop(self.whose(name), [])]
        names = [self.read(name, device, ' // home' if homes else '') for name in read]
        names += [self.write(name, device) for name in written]
        self.lanes[device].append(head + (' to ' if head.startswith('exec.copy') else ', ').join(names) + tail)

    def program(self, lines):
        commands = []
        for line in lines:
            if match := BUFFER.match(line):
                self.buffers[match[1]] = match[2], match[3], match[4] or '', match[5]
            elif match := DISPATCH.match(line):
                operands = [operand.strip() for operand in match[2].split(',') if operand.strip()]
                inputs = self.kernels[match[1]]
                commands.append((f'exec.dispatch @{match[1]}(', operands[:inputs], operands[inputs:], f'){match[3]}'))
            elif match := COPY.match(line):
                commands.append(('exec.copy ', [match[1]], [match[2]], match[3]))
        self.current = {name: {self.home(name)} - {None} for name in self.buffers}
        for i, command in enumerate(commands):
            self.command(*command, int(len(commands) <= 3 * i < 2 * len(commands)))
        for (buffer, device, _), name in self.places.items():
            kind, where, label, memref = self.buffers[buffer]
            if self.home(buffer) not in (None, device):
                kind, where = 'arena', ''
            offset = ''
            if kind == 'arena' and self.planned:
                offset = f' at {self.arenas[device]}'
                self.arenas[device] += (bytes_of(memref) + 63) // 64 * 64
            yield f'    {name} = exec.buffer {kind}{where} on @d{device}{offset}{label} : {memref}'
        for device, lane in enumerate(self.lanes):
            yield f'    exec.lane on @d{device} {{'
            yield from ('      ' + line for line in lane)
            yield '    }'


def split(text, planned):
    """`planned`: the result has memory planned, so it goes on with `codegen`; else with `plan`."""
    kernels = {name: arguments.count('%') for name, arguments in KERNEL.findall(text)}
    homes = {name: i % 2 for i, name in enumerate(PARAM.findall(text))}
    lines, result = text.split('\n'), []
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.startswith('  exec.program'):
            result.append(line.replace('  exec.device @cpu "cpu"', '  exec.device @d0 "cpu"\n  exec.device @d1 "cpu" ordinal 1'))
            at += 1
            continue
        end = lines.index('  }', at)
        whole = Split(kernels, homes, planned)
        program = list(whole.program(lines[at + 1:end]))
        if planned:
            line = re.sub(r'( outputs\(.*?\))( independent_samples| attributes \{| \{)',
                          rf'\1 arena {whole.arenas[0]}, {whole.arenas[1]}\2', line, count=1)
        result.append(line.replace(' independent_samples', ''))  # random inputs have the model's batch
        result += program
        at = end
    return '\n'.join(result)


def without_waits(text):
    return re.sub(r'\n      exec\.wait [^\n]*', '', text)


def without_a_wait(text):
    """Less the last wait for a value that a command is right behind, which reads it."""
    lines = text.split('\n')
    waits = [i for i, line in enumerate(lines[:-1]) if re.fullmatch(r'      exec\.wait \d+', line)
             and lines[i + 1].startswith(('      exec.dispatch', '      exec.copy'))]
    return '\n'.join(lines[:waits[-1]] + lines[waits[-1] + 1:]) if waits else None


def without_copies(text, note=''):
    """Less the copies that cross, all or those with a note; their events stay."""
    lines = text.split('\n')
    crosses = [line.startswith('      exec.copy') and lines[i + 1].startswith('      exec.record') and
               line.endswith(note) for i, line in enumerate(lines[:-1])] + [False]
    return '\n'.join(line for line, gone in zip(lines, crosses) if not gone) if any(crosses) else None


def report(named_rows):
    """Prints what went wrong of (name, rows of (what, what is wrong or '')), and the counts; the exit code."""
    passed = failed = 0
    for name, rows in named_rows:
        for what, wrong in rows:
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f'FAIL {name}, {what}: {wrong}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0
