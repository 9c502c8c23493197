"""MNN and ncnn, the engines of phones, as peers of py_peer.py: from PyPI (`pip install MNN ncnn pnnx`)."""
import pathlib
import tempfile

import numpy as np

import nets
from py_peer import THREADS, run, time_calls

TEMP = pathlib.Path(tempfile.mkdtemp())


def inputs(name, batch):
    return [a for k, a in nets.read_case(name, batch) if k == 'in']


class Mnn:
    """MNN's session: f32 (precision high), weights rearranged and kernels chosen (Winograd among them) when it is made."""

    source, options, memory = 'model', [], 'high'

    def __init__(self, name, batch):
        import MNN
        model = TEMP / f'{name}_{batch}.mnn'
        run(['mnnconvert', '-f', 'ONNX', '--modelFile', str(nets.DATA / name / f'{self.source}_{batch}.onnx'), '--MNNModel',
             str(model), '--bizCode', 'bench', *self.options])
        self.interpreter = MNN.Interpreter(str(model))
        self.session = self.interpreter.createSession(
            {'backend': 'CPU', 'precision': 'high', 'numThread': THREADS, 'memory': self.memory, 'power': 'high'})
        slots = self.interpreter.getSessionInputAll(self.session)
        for tensor, a in zip(slots.values(), inputs(name, batch)):
            if a.dtype == np.int64:   # it has no 64-bit integers
                a = a.astype(np.int32)
            kind = MNN.Halide_Type_Int if a.dtype == np.int32 else MNN.Halide_Type_Float
            tensor.copyFrom(MNN.Tensor(a.shape, kind, np.ascontiguousarray(a), MNN.Tensor_DimensionType_Caffe))
        self.kind = MNN

    def call(self):
        self.interpreter.runSession(self.session)

    def time(self, ms):
        return time_calls(self.call, ms)

    def outputs(self):
        self.call()
        got = []
        for tensor in self.interpreter.getSessionOutputAll(self.session).values():
            shape = tensor.getShape()
            host = self.kind.Tensor(shape, self.kind.Halide_Type_Float, np.zeros(shape, np.float32),
                                    self.kind.Tensor_DimensionType_Caffe)
            tensor.copyToHostTensor(host)
            got.append(np.array(host.getNumpyData(), np.float32))
        return got


class MnnInt8(Mnn):
    """Of the network in f32 (quantized_data.py): weights of 8 bits, activations rounded in each call (memory low). Its
    converter crashes on models of ONNX Runtime's quantiser."""
    source, options, memory = 'float', ['--weightQuantBits', '8'], 'low'


class Ncnn:
    """ncnn's extractor: f32 (16-bit storage and arithmetic off), Winograd and sgemm as it chooses; it knows no batch."""

    def __init__(self, name, batch):
        import ncnn
        if batch != 1:
            raise RuntimeError('ncnn has no batch')
        folder = TEMP / name
        folder.mkdir(exist_ok=True)
        xs = inputs(name, 1)
        (folder / 'm.onnx').write_bytes((nets.DATA / name / 'model_1.onnx').read_bytes())
        run(['pnnx', str(folder / 'm.onnx'), 'inputshape=' + ','.join(str(list(a.shape)).replace(' ', '') for a in xs), 'fp16=0'])
        self.net = ncnn.Net()
        o = self.net.opt
        o.num_threads = THREADS
        o.use_fp16_packed = o.use_fp16_storage = o.use_fp16_arithmetic = o.use_bf16_storage = False
        if self.net.load_param(str(folder / 'm.ncnn.param')) or self.net.load_model(str(folder / 'm.ncnn.bin')):
            raise RuntimeError('ncnn does not load what pnnx wrote')
        # A vector stays a row; images lose the batch's axis.
        self.x = [ncnn.Mat(np.ascontiguousarray(a[0] if a.ndim > 2 else a)).clone() for a in xs]
        self.ncnn = ncnn

    def call(self):
        e = self.net.create_extractor()
        for slot, x in zip(self.net.input_names(), self.x):
            e.input(slot, x)
        self.y = [e.extract(n) for n in self.net.output_names()]

    def time(self, ms):
        return time_calls(self.call, ms)

    def outputs(self):
        self.call()
        for code, _ in self.y:
            if code:
                raise RuntimeError(f'ncnn: extract returns {code}')
        return [np.array(mat) for _, mat in self.y]


PEERS = {'mnn': Mnn, 'mnn_int8': MnnInt8, 'ncnn': Ncnn}
