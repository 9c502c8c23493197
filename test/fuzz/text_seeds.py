#!/usr/bin/env python3
"""Makes seeds of the fuzzers `onnx-model` and `nn-text` from the tests: text_seeds.py TEST FOLDER

Each model of test/Import and each module of test/Dialect becomes a file of its own, without comments.
"""
import pathlib
import re
import sys

tests, folder = map(pathlib.Path, sys.argv[1:])


def save(fuzzer, name, text):
    lines = [line for line in text.splitlines() if not line.lstrip().startswith('//')]
    text = '\n'.join(lines).strip() + '\n'
    if len(text) > 1:
        (folder / fuzzer).mkdir(parents=True, exist_ok=True)
        (folder / fuzzer / name).write_text(text)


for file in sorted((tests / 'Import').glob('*.test')):
    for part in re.split(r'^//--- ', file.read_text(), flags=re.M)[1:]:
        name, _, text = part.partition('\n')
        if name.strip().endswith('.onnxtxt'):
            save('onnx-model', f'{file.stem}-{name.strip()}', text)
for file in sorted((tests / 'Dialect').rglob('*.mlir')):
    for i, text in enumerate(re.split(r'^// -----.*$', file.read_text(), flags=re.M)):
        save('nn-text', f'{file.parent.name}-{file.stem}-{i}.mlir', text)
