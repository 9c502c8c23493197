#!/usr/bin/env python3
"""Checks that what a document for users of another library shows of Sprig exists: names.py FILE.md...

Of each row of a table every `code` of the second cell counts, of prose every `code` with a `::`. A name with `::` has to be
declared in that namespace, or in a class there; a name that is called or constructed, a member and an option (`.lr =`)
anywhere in the public headers. Handles that the examples use are HANDLES. The last line is `N passed, N failed`.
"""
import pathlib
import re
import sys

HEADERS = pathlib.Path(__file__).resolve().parent.parent.parent / 'include' / 'sprig'
HANDLES = set('net head emb opt plateau seq loader lstm step layer function group set scope numbers struct using class std vector f g'.split())
LANGUAGE = set('int float double int64_t bool true false auto const cout namespace operator'.split())
NAME = r'[A-Za-z_]\w*'


def plain(text):
    text = re.sub(r'//[^\n]*|/\*.*?\*/', '', text, flags=re.S)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


def declared():
    """{namespace: names in it}, 'sprig' the whole."""
    names = {}
    for path in sorted(HEADERS.rglob('*.h')):
        spaces, depth = [], 0  # (name, depth outside of it)
        for token in re.finditer(rf'\bnamespace\s+((?:{NAME})(?:::{NAME})*)\s*{{|[{{}}]|{NAME}', plain(path.read_text())):
            if token[1]:
                spaces.append((token[1], depth))
                depth += 1
            elif token[0] == '{':
                depth += 1
            elif token[0] == '}':
                depth -= 1
                if spaces and spaces[-1][1] == depth:
                    spaces.pop()
            elif spaces:
                names.setdefault('::'.join(name for name, _ in spaces), set()).add(token[0])
    return names


def snippets(text):
    """(line number, code) of what is said to be Sprig's."""
    of_sprig = False
    for number, line in enumerate(text.split('\n'), 1):
        cells = re.split(r'(?<!\\)\|', line)
        if not line.startswith('|'):
            of_sprig = False
            yield from ((number, code) for code in re.findall(r'`([^`]+)`', line) if '::' in code)
        elif not of_sprig:
            of_sprig = True  # the head of a table
        elif len(cells) > 3:
            yield from ((number, code) for code in re.findall(r'`([^`]+)`', cells[2]))


def missing(code, names):
    """What of a snippet no header declares."""
    code = plain(code)
    every = set().union(*names.values())
    for path in re.findall(rf'{NAME}(?:::{NAME})+', code):
        parts = path.split('::')
        if parts[0] == 'std':
            continue
        parts = parts if parts[0] == 'sprig' else ['sprig', *parts]
        if any((known + '::').startswith('::'.join(parts) + '::') for known in names):
            continue
        space = max((n for n in range(1, len(parts)) if '::'.join(parts[:n]) in names), default=0)
        if not space or not all(part in names['::'.join(parts[:space])] for part in parts[space:]):
            yield path
    local = set(re.findall(rf'(?:struct|auto|Tensor|Parameter|{NAME}(?:::{NAME})*)\s+({NAME})\s*(?:[=(;:])', code))
    for match in re.finditer(rf'(?<![\w:.])({NAME})\s*(?=[({{<])|\.({NAME})|^({NAME})$', code):
        name = match[1] or match[2] or match[3]
        if name not in every and name not in HANDLES | LANGUAGE | local:
            yield name


def main():
    names = declared()
    passed = failed = 0
    for name in sys.argv[1:]:
        for line, code in snippets(pathlib.Path(name).read_text()):
            wrong = sorted(set(missing(code, names)))
            if wrong:
                failed += 1
                print(f'FAIL {name}:{line}: {code}: no header declares {", ".join(wrong)}')
            else:
                passed += 1
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
