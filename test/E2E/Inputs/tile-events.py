"""The schedule on standard input with its two convolutions on lanes of their own: tile-events.py ROWS.

The first one's tiles (rows of the result) are dispatched in two parts, 31 and the rest, with an event after each; the second
begins with ROWS of its own after the first event.
"""
import re
import sys

rows = int(sys.argv[1])
text = sys.stdin.read()
lane = re.search(r'    exec\.lane on @cpu \{\n(.*?)\n    \}', text, re.S)
before, first, second, *after = lane[1].split('\n')


def part(line, begin, end, name):
    return re.sub(r'\) :', f') tiles {begin} to {end} named "{name}" :', line)


def event(what, number):
    return f'      exec.{what} {number}'


lanes = [[before, part(first, 0, 31, 'upper rows'), event('record', 0), part(first, 31, 61, 'lower rows'), event('record', 1)],
         [event('wait', 0), part(second, 0, rows, 'rows of rows'), event('wait', 1), part(second, rows, 61, 'rest'), *after]]
both = '\n'.join('    exec.lane on @cpu {\n' + '\n'.join(lines) + '\n    }' for lines in lanes)
print(text[:lane.start()] + both + text[lane.end():])
