#!/usr/bin/env python3
"""Opens a model that `sprig train` wrote in ONNX Runtime and compares its outputs with Sprig's on the same images.

    train_onnxruntime.py SPRIG MODEL.onnx IMAGES.npy SCRATCH

Closes with `N passed, N failed`; says so and counts nothing where ONNX Runtime is not installed.
"""
import pathlib
import subprocess
import sys

try:
    import numpy
    import onnxruntime
except ImportError as error:
    print(f'NOTE: {error}: left out')
    print('0 passed, 0 failed')
    sys.exit(0)

sprig, model, images, scratch = sys.argv[1:]
session = onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider'])
wanted = session.run(None, {session.get_inputs()[0].name: numpy.load(images)})[0]
subprocess.run([sprig, 'run', model, '--input', images, '--output-dir', scratch, '-q'], check=True, stdout=subprocess.DEVNULL)
got = numpy.load(pathlib.Path(scratch) / (session.get_outputs()[0].name + '.npy'))
close = numpy.allclose(got, wanted, rtol=1e-4, atol=1e-4)
print(f'largest difference {abs(got - wanted).max():.2g}')
print(f'{int(close)} passed, {int(not close)} failed')
sys.exit(not close)
