#!/usr/bin/env python3
"""Runs a model whose names are bytes of no encoding through every command that prints or writes text.

    odd_names.py SPRIG FOLDER

Closes with `N passed, N failed`.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from counting import expect, finish

sprig, folder = sys.argv[1], pathlib.Path(sys.argv[2])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
# In the text's escapes: a lone byte, a cut-off sequence, a surrogate, a control sequence that would clear a terminal.
ODD = r'x\FFa\E2\82b\ED\A0\80c\1B[2Jd\C3\A9'
model = folder / 'odd.mlir'
model.write_text(f'''
nn.param @"w{ODD}" = dense<[1.0, 2.0]> : tensor<2xf32>
func.func @"main{ODD}"(%x: tensor<2xf32> {{nn.name = "{ODD}"}}) -> (tensor<2xf32> {{nn.name = "y{ODD}"}}) {{
  %w = nn.get_param @"w{ODD}" : tensor<2xf32>
  %r = nn.mul %x, %w : tensor<2xf32>, tensor<2xf32> loc("layer{ODD}")
  return %r : tensor<2xf32>
}}
''')


def run(*arguments, code=0):
    done = subprocess.run([sprig, *map(str, arguments)], capture_output=True, timeout=120)
    expect(f'{arguments}: exit code {done.returncode}: {done.stderr[:300]}', done.returncode == code)
    for name, text in (('output', done.stdout), ('error', done.stderr)):
        try:
            plain = text.decode()
            expect(f'{arguments}: a control character in the {name}: {plain[:300]!r}',
                   not any(ord(c) < 32 and c not in '\n\t' for c in plain))
        except UnicodeDecodeError as error:
            expect(f'{arguments}: the {name} is no UTF-8: {error}', False)
    return done.stdout


package = folder / 'odd.sprig'
run('compile', model, '-o', package)
for file in (model, package):
    text = run('run', file, '--random-inputs', 1).decode()
    expect('U+FFFD stands for what is not', 'yx\ufffda\ufffdb' in text and 'd\u00e9' in text)
    outputs = json.loads(run('run', file, '--random-inputs', 1, '--format', 'json', '--output-dir', folder / 'out'))
    expect('the name in JSON', outputs['outputs'][0]['name'].startswith('yx\ufffda\ufffdb'))
    for command in (['inspect', file], ['inspect', file, '--memory', '--memory-plot', folder / 'plan.svg'],
                    ['bench', file, '--seconds', '0.05'], ['profile', file, '--calls', '3', '--trace', folder / 'trace.json'],
                    ['profile', file, '--calls', '3', '--memory']):
        run(*command)
        json.loads(run(*command, '--format', 'json'))
    trace = json.loads((folder / 'trace.json').read_bytes().decode())
    expect('the trace names the entry', any('main' in event.get('name', '') for event in trace['traceEvents']))
    xml.etree.ElementTree.parse(folder / 'plan.svg')
run('inspect', model, '--graph', folder / 'odd.dot')
(folder / 'odd.dot').read_bytes().decode()
run('inspect', model, '--params', '--format', 'json')
expect('one file of outputs', len(list((folder / 'out').iterdir())) == 1)
run('run', model, code=2)
run('run', model, '--input', 'z=none.npy', code=2)
finish()
