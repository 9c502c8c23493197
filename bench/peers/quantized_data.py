#!/usr/bin/env python3
"""The quantised networks of quantized.py as a data folder of their own, for infer.py: quantized_data.py TO [--nets A,B]

Of each network in $BENCH_DATA (nets.py) TO has model.onnx and model_B.onnx, quantised by ONNX Runtime (QDQ, activations
ui8, weights i8 for each output; --format qoperator: integer operators instead), the network in f32 as float_B.onnx, the
same inputs, ONNX Runtime's outputs, and, where torch and ExecuTorch are installed, model_B.pte, quantised by XNNPACK's own
quantiser (static, i8, weights for each output). Then:

  BENCH_DATA=TO infer.py --threads 1 --peers ort,openvino,executorch,mnn_int8,compile_int8 --add sprig=... --nets ...

Outputs of peers that quantise by themselves differ by steps of a quantiser: infer.py calls that wrong, and times it.
"""
import argparse
import pathlib
import shutil

import numpy as np
import onnx
from onnxruntime.quantization import QuantFormat
from onnxruntime.tools.onnx_model_utils import make_dim_param_fixed

import nets
import quantized


def write_onnx(net, to, form):
    prepared = to / 'prepared.onnx'
    quantized.quantise(nets.DATA / net / 'model.onnx', prepared, to / 'model.onnx', form)
    prepared.unlink()
    for batch in nets.ALL[net]:
        model = onnx.load(to / 'model.onnx')
        for value in [*model.graph.input, *model.graph.output]:
            for dim in value.type.tensor_type.shape.dim:
                if dim.dim_param:
                    make_dim_param_fixed(model.graph, dim.dim_param, batch)
        onnx.save(model, to / f'model_{batch}.onnx')
        shutil.copy(nets.DATA / net / f'model_{batch}.onnx', to / f'float_{batch}.onnx')


def write_cases(net, to):
    for batch in nets.ALL[net]:
        session = quantized.runtime_session(to / f'model_{batch}.onnx')
        case, names = nets.read_case(net, batch), iter(session.get_inputs())
        outputs = iter(session.run(None, {next(names).name: array for kind, array in case if kind == 'in'}))
        for line in (nets.DATA / net / f'case_{batch}.txt').read_text().splitlines():
            kind, _, file, *_ = line.split()
            if kind == 'in':
                shutil.copy(nets.DATA / net / file, to / file)
            else:
                next(outputs).astype(np.float32).tofile(to / file)
        shutil.copy(nets.DATA / net / f'case_{batch}.txt', to)


def write_executorch(net, to):
    import models
    import torch
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (XNNPACKQuantizer,
                                                                         get_symmetric_quantization_config)
    from executorch.exir import to_edge_transform_and_lower
    module, shapes = models.build(net)
    for batch in nets.ALL[net]:
        xs = tuple(models.inputs(shapes, batch))
        quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
        program = torch.export.export(models.quantised(module.eval(), shapes, batch, quantizer), xs)
        lowered = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()]).to_executorch()
        lowered.save(str(to / f'model_{batch}.pte'))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('to', type=pathlib.Path)
    parser.add_argument('--nets', default=','.join(quantized.NETS))
    parser.add_argument('--format', choices=['qdq', 'qoperator'], default='qdq')
    options = parser.parse_args()
    form = QuantFormat.QDQ if options.format == 'qdq' else QuantFormat.QOperator
    for net in options.nets.split(','):
        to = options.to / net
        to.mkdir(parents=True, exist_ok=True)
        write_onnx(net, to, form)
        write_cases(net, to)
        try:
            write_executorch(net, to)
        except ImportError as error:
            print(f'{net}: no program of ExecuTorch: {error}')
        print(net, flush=True)


if __name__ == '__main__':
    main()
