"""Cold start of a whole process, load+compile time inside it, peak memory, and what must be shipped.

startup.py [--peers A,B]: for each peer and net, starts a fresh process that loads, runs once and exits, several times,
peers in turn; wall time is from exec to the process's end after its first result. Python peers import their library
inside that time. A cold cache means an empty TORCHINDUCTOR_CACHE_DIR; "warm" the second process with the same folder.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time

import harness
import nets

IREE_FLAGS = ['--iree-hal-target-device=local', '--iree-hal-local-target-device-backends=llvm-cpu',
              '--iree-llvmcpu-target-cpu=host', '--iree-opt-level=O3', '--iree-opt-data-tiling']
NETS = ('mlp_784_256_128_10', 'resnet18')
SITE = pathlib.Path(sysconfig.get_path('purelib'))
CPP = ('sprig', 'sprig_package', 'ort', 'openvino', 'torchscript', 'aoti', 'executorch')
PEERS = (*CPP, 'iree_run', 'iree_compile', 'eager', 'compile_cold', 'compile_warm', 'jax')


def once(command, stdin, env, watch=False):
    """(wall s, peak resident MB or None, answer words) of one process; watch polls its memory, at a small cost in time."""
    start, peak = time.perf_counter(), None
    p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
    p.stdin.write(stdin.encode())
    p.stdin.close()
    while watch and p.poll() is None:   # ru_maxrss would include this process, from before the exec
        status = pathlib.Path(f'/proc/{p.pid}/status').read_text()
        if 'VmHWM' in status:
            peak = int(status.split('VmHWM:')[1].split()[0]) / 1024
        time.sleep(.0005)
    out = p.stdout.read().decode()
    status = p.wait()
    wall = time.perf_counter() - start
    if status or out.startswith('error'):
        raise RuntimeError(out.strip() or f'exit status {status}')
    return wall, peak, out.split()


def command(peer, net):
    d = nets.DATA / net
    if peer == 'iree_run':   # the C++ tool itself: what an embedding program costs
        case = nets.read_case(net, 1)[0][1]
        shape = 'x'.join(map(str, case.shape))
        return [str(SITE / 'iree/_runtime_libs/iree-run-module'), f'--module={d}/model_1.vmfb',
                '--device=local-sync', '--function=main_graph', f'--input={shape}xf32=@{d}/in0_1.bin'], ''
    if peer == 'iree_compile':   # ahead of time: MLIR (imported from ONNX) to vmfb
        return [str(SITE / 'iree/compiler/_mlir_libs/iree-compile'), f'{d}/model_1.mlir', '-o', os.devnull,
                '--iree-input-type=onnx', *IREE_FLAGS], ''
    line = f'load {d} 1\n'
    if peer in CPP:
        return [str(harness.BIN / peer), '--serve', '1'], line
    return [sys.executable, str(harness.HERE / 'py_peer.py'), 'compile_default' if peer.startswith('compile') else peer, '1'], line


def size(paths):
    files = {f.resolve() for p in paths for f in ([p] if p.is_file() else p.rglob('*')) if f.is_file()}
    return sum(f.stat().st_size for f in files) / 1e6


def shipped():
    """MB of libraries that must be on the target, by peer (models not counted; C library not counted)."""
    s, lib = SITE, lambda folder, *names: [f for n in names for f in (SITE / folder).glob(n)]
    torch = lib('torch/lib', 'libtorch_cpu.so', 'libc10.so', 'libgomp*')
    return {
        'ort': size(lib('onnxruntime/capi', 'libonnxruntime.so.*')),
        'openvino': size(lib('openvino/libs', 'libopenvino.so*', 'libopenvino_intel_cpu*', 'libopenvino_onnx*', 'libtbb.so*',
                             'libhwloc*', 'libtbbmalloc.so*')),
        'torchscript, libtorch (libtorch_cpu, libc10, libgomp only)': size(torch),
        'aoti': size(torch),
        'executorch (runtime, XNNPACK, optimized kernels)': size(lib('executorch/lib', 'libexecutorch.so', '*xnnpack*',
                                                                     '*optimized*', '*threadpool*')),
        'iree runtime (the iree-run-module program)': size([s / 'iree/_runtime_libs/iree-run-module']),
        'iree compiler': size([s / 'iree/compiler']),
        'jaxlib': size([s / 'jaxlib', s / 'jax']),
        'tvm': size([s / 'tvm', *s.glob('tvm_ffi')]),
        'mlx (cpu)': size([s / 'mlx']),
        'torch wheel (CPU build would be about libtorch_cpu plus Python)': size([s / 'torch']),
    }


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--peers', default=','.join(PEERS))
    p.add_argument('--rounds', type=int, default=5)
    a = p.parse_args()
    names = a.peers.split(',')
    for net in NETS:
        got = {n: [] for n in names}
        cache = pathlib.Path(tempfile.mkdtemp())
        failed = {}
        with harness.lock():
            for i in range(a.rounds + 1):   # the first round fills the page cache, and peak memory is read in it
                for n in names:
                    if n in failed or n.startswith('compile') and i > 2:
                        continue
                    env = dict(os.environ, OMP_NUM_THREADS='1', TORCHINDUCTOR_CACHE_DIR=str(cache / 'torch'))
                    if n == 'compile_cold':
                        shutil.rmtree(cache, ignore_errors=True)   # compile_warm, next in turn, finds what this one left
                    try:
                        got[n].append(once(*command(n, net), env, watch=i == 0))
                    except RuntimeError as e:
                        failed[n] = {'failed': str(e)[:200]}
        shutil.rmtree(cache, ignore_errors=True)
        cells = dict(failed)
        for n in names:
            runs = got[n][1:]
            if n in failed or not runs:
                continue
            cells[n] = {'wall_ms_min': min(r[0] for r in runs) * 1e3,
                        'wall_ms_median': statistics.median(r[0] for r in runs) * 1e3,
                        'peak_rss_mb': got[n][0][1], 'runs': len(runs)}
            if runs[0][2][:1] == ['ready']:
                cells[n]['load_ms_median'] = statistics.median(float(r[2][1]) for r in runs) / 1e6
            print(net, n, cells[n], flush=True)
        for n, f in failed.items():
            print(net, n, f, flush=True)
        harness.save('startup', {net: cells})
    harness.save('startup', {'shipped_mb': shipped(), 'model_mb': {
        f'{net} {ext}': size(list((nets.DATA / net).glob(f'model_1{tail}'))) for net in NETS
        for ext, tail in (('onnx', '.onnx'), ('torchscript', '.ts'), ('aoti', '_1t.pt2'), ('vmfb', '.vmfb'), ('pte', '.pte'))}})


main()
