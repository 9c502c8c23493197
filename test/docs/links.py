#!/usr/bin/env python3
"""Checks that documents point to files that are there: links.py FILE.md...

Relative links `[text](path)` count, and paths in `code` that begin with a folder of the project. A path with a `*`, a
name in capitals or `...` stands for others and is left out. The last line is `N passed, N failed`.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = 'include|lib|dialects|runtime|test|tools|scripts|cmake|examples|bench|docs'


def references(text):
    # A C++ lambda in a block of code looks like a link.
    prose = re.sub(r'^ *```.*?^ *```', '', text, flags=re.DOTALL | re.MULTILINE)
    for match in re.finditer(r'\]\(([^)#\s]+)[^)]*\)', prose):
        if '://' not in match[1]:
            yield match[1], False
    for match in re.finditer(r'`((?:%s)/[\w./-]+)`' % FOLDERS, text):
        yield match[1], True


def main():
    passed = failed = 0
    for name in sys.argv[1:]:
        path = pathlib.Path(name).resolve()
        for target, from_root in sorted(set(references(path.read_text()))):
            if re.search(r'NAME|FILE|DIR|\.\.\.', target):
                continue
            if ((ROOT if from_root else path.parent) / target).exists():
                passed += 1
            else:
                failed += 1
                print(f'FAIL {name}: {target} is not there')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
