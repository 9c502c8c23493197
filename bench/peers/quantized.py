#!/usr/bin/env python3
"""Quantised networks beside ONNX Runtime and OpenVINO: quantized.py SPRIG MODELS FOLDER [--seconds 1] [--nets A,B]

Quantises MODELS/NET/model.onnx with ONNX Runtime's static quantiser (QDQ, activations ui8, weights i8 for each output)
into FOLDER and times it, and the network in f32, on one thread, in turn: least time of a call over several rounds. Pin it to
one processor. Says how far outputs are from ONNX Runtime's, too.
"""
import argparse
import json
import pathlib
import subprocess
import time

import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

# The larger batch as in docs/performance.md.
NETS = {'mlp_512_256_128_2': 64, 'mlp_784_256_128_10': 64, 'mlp_1000_512_256_10': 64, 'lenet': 64, 'dscnn': 64, 'resnet8': 64,
        'mobilenet_v1_025': 16, 'resnet18': 16, 'encoder_2x64': 64}
ROUNDS = 3


def inputs_of(session, batch, seed):
    rng = np.random.default_rng(seed)
    return {i.name: rng.standard_normal([d if isinstance(d, int) and d > 0 else batch for d in i.shape]).astype(np.float32)
            for i in session.get_inputs()}


class Samples(CalibrationDataReader):
    def __init__(self, model):
        session = onnxruntime.InferenceSession(str(model), providers=['CPUExecutionProvider'])
        self.rows = iter([inputs_of(session, 1, seed) for seed in range(8)])

    def get_next(self):
        return next(self.rows, None)


def quantise(model, prepared, path, form=QuantFormat.QDQ):
    quant_pre_process(str(model), str(prepared))
    quantize_static(str(prepared), str(path), Samples(prepared), quant_format=form, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)


def quantised(model, folder, net):
    path = folder / f'{net}.qdq.onnx'
    if not path.exists():
        quantise(model, folder / f'{net}.f32.onnx', path)
    return path


def runtime_session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=['CPUExecutionProvider'])


def least(call, seconds):
    for _ in range(5):
        call()
    best, end = float('inf'), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def runtime_call(path, batch, kind):
    session = runtime_session(path)
    feeds = inputs_of(session, batch, 9)
    binding = session.io_binding()
    for name, value in feeds.items():
        binding.bind_cpu_input(name, value)
    for output in session.get_outputs():
        binding.bind_output(output.name)
    return lambda: session.run_with_iobinding(binding)


def openvino_call(path, batch, kind):
    import openvino
    core = openvino.Core()
    model = core.read_model(str(path))
    model.reshape({i: [d.get_length() if d.is_static else batch for d in i.partial_shape] for i in model.inputs})
    # Of a quantised model it may compute what is left in bf16; of one in f32 it would, too, unasked.
    hints = {} if kind == 'int8' else {'INFERENCE_PRECISION_HINT': kind}
    compiled = core.compile_model(
        model, 'CPU', {'INFERENCE_NUM_THREADS': 1, 'NUM_STREAMS': 1, 'PERFORMANCE_HINT': 'LATENCY', **hints})
    request = compiled.create_infer_request()
    rng = np.random.default_rng(9)
    for i in compiled.inputs:
        request.set_tensor(i, openvino.Tensor(rng.standard_normal(list(i.shape)).astype(np.float32)))
    return request.infer


def sprig_time(sprig, path, batch, seconds, *options):
    done = subprocess.run([sprig, 'bench', str(path), '--dim', f'batch={batch}', '--threads', '1', '--seconds', str(seconds),
                           '--format', 'json', *options], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)['entries'][0]['min_us']


def sprig_outputs(sprig, path, batch, folder, *options):
    session = runtime_session(path)
    arguments = []
    for name, value in inputs_of(session, batch, 9).items():
        np.save(folder / 'input.npy', value)
        arguments += ['--input', f'{name}={folder / "input.npy"}']
    subprocess.run([sprig, 'run', str(path), *arguments, *options, '--output-dir', str(folder / 'out')], check=True,
                   capture_output=True)
    return [np.load(folder / 'out' / f'{output.name}.npy') for output in session.get_outputs()]


def distance(outputs, wanted):
    """The largest difference, of the largest element."""
    return max(np.abs(got - want).max() / np.abs(want).max() for got, want in zip(outputs, wanted))


def arguments(description, nets=','.join(NETS)):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('sprig')
    parser.add_argument('models', type=pathlib.Path)
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--seconds', type=float, default=0.5, help='of one timing (default 0.5)')
    parser.add_argument('--nets', default=nets)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    return options


def main():
    options = arguments(__doc__)
    try:
        import openvino  # noqa: F401
        peers = {'ONNX Runtime': runtime_call, 'OpenVINO': openvino_call}
    except ImportError:
        peers = {'ONNX Runtime': runtime_call}
    names = list(peers)
    print('| network | batch | µs | over our f32 | over --math strict | ' +
          ' | '.join(f'{name} int8 | {name} f32' for name in names) + ' | furthest output |')
    print('|---' * (6 + 2 * len(names)) + '|')
    for net in options.nets.split(','):
        model = options.models / net / 'model.onnx'
        path = quantised(model, options.folder, net)
        for batch in (1, NETS[net]):
            calls = {(name, kind): peers[name](source, batch, kind)
                     for name in names for kind, source in (('int8', path), ('f32', model))}
            best = {}
            for _ in range(ROUNDS):
                for key, call in calls.items():
                    best[key] = min(best.get(key, float('inf')), least(call, options.seconds))
                for key, source, flags in (('own', path, ()), ('fast', model, ()), ('strict', model, ('--math', 'strict'))):
                    best[key] = min(best.get(key, float('inf')),
                                    sprig_time(options.sprig, source, batch, options.seconds, *flags))
            own = best['own']
            columns = [f"{best[name, kind] / own:.2f}" for name in names for kind in ('int8', 'f32')]
            session = runtime_session(path)
            far = distance(sprig_outputs(options.sprig, path, batch, options.folder),
                           session.run(None, inputs_of(session, batch, 9)))
            print(f"| {net} | {batch} | {own:.1f} | {best['fast'] / own:.2f} | {best['strict'] / own:.2f} | " +
                  ' | '.join(columns) + f' | {far:.1e} |', flush=True)


if __name__ == '__main__':
    main()
