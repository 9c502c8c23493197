"""Says what the hot loops of an assembly file are made of, so that FileCheck can hold them to it.

hot-loops.py FILE.s [FUNCTION...]: reads AT&T syntax as `sprig compile --emit asm` writes it and prints, for each function
whose name contains one of the words (all, without), a line for every innermost loop in the order of the text:

  body.matmul_packed: loop .LBB0_4: 9 instructions, 4 fma, 5 vector loads, 0 vector stores, 0 stack, 0 calls, 0 scalar float

An innermost loop is a backward jump whose range holds no other backward jump. `stack` counts operands relative to the
stack pointer; `scalar float` counts arithmetic on single elements of a vector register.
"""
import re
import sys

JUMP = re.compile(r'\s+j[a-z]+\s+(\.L\w+)')
LABEL = re.compile(r'^(\.?[\w.$]+):')
SCALAR = re.compile(r'v?(add|sub|mul|div|max|min|sqrt|fn?m(add|sub)\d+)s[sd]$')


def functions(lines):
    """(name, its lines) of every function, in order."""
    name, body = None, []
    for line in lines:
        label = LABEL.match(line)
        if label and not label[1].startswith('.L'):
            if name:
                yield name, body
            name, body = label[1], []
        elif label and label[1].startswith('.Lfunc_end'):
            if name:
                yield name, body
            name, body = None, []
        elif name:
            body.append(line.split('#')[0].rstrip())
    if name:
        yield name, body


def innermost_loops(body):
    """(label, its instructions) of every loop without a loop in it."""
    at = {m[1]: i for i, line in enumerate(body) if (m := LABEL.match(line))}
    ranges = [(at[m[1]], i) for i, line in enumerate(body) if (m := JUMP.match(line)) and at.get(m[1], i) < i]
    for start, end in ranges:
        if not any(start <= s and e <= end and (s, e) != (start, end) for s, e in ranges):
            label = LABEL.match(body[start])[1]
            yield label, [line.split(None, 1) for line in body[start:end + 1] if re.match(r'\s+[a-z]', line)]


def count(instructions):
    ops = [(i[0], i[1] if len(i) > 1 else '') for i in instructions]
    memory = lambda s: '(' in s
    vector = lambda s: re.search(r'%[xyz]mm', s)
    stores = [o for o in ops if vector(o[1]) and o[1].endswith(')')]
    return {
        'instructions': len(ops),
        'fma': sum(bool(re.match(r'vfn?m(add|sub)', o[0])) for o in ops),
        'vector loads': sum(bool(memory(o[1]) and vector(o[1])) for o in ops) - len(stores),
        'vector stores': len(stores),
        'stack': sum('(%rsp' in o[1] for o in ops),
        'calls': sum(o[0].startswith('call') for o in ops),
        'scalar float': sum(bool(SCALAR.match(o[0])) for o in ops),
    }


def main():
    file, *words = sys.argv[1:]
    with sys.stdin if file == '-' else open(file) as text:
        for name, body in functions(text.read().splitlines()):
            if words and not any(w in name for w in words):
                continue
            for label, instructions in innermost_loops(body):
                print(f'{name}: loop {label}: ' + ', '.join(f'{n} {what}' for what, n in count(instructions).items()))


main()
