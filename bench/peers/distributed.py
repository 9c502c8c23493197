"""Training on two ranks over a link of set rate: distributed.py --sprig PROGRAM [--rates 1gbit,...] [--tasks ...].

Two network namespaces, joined by a veth pair whose ends `tc tbf` holds at the rate, stand for two machines (root,
iproute2). Each rank is a process of one thread in one of them. Peers go in turn, `--processes` times; a cell is the
median of the runs' medians over steps, after some that warm up. All see the same data, half of each batch a rank, and
the same initial parameters; losses are printed, so that another network shows.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import harness
import nets

TASKS = ('mlp_784_256_128_10 sgd b64', 'lenet sgd b64', 'resnet8 momentum b16')
NAMES = ('sprig-rank-0', 'sprig-rank-1')
ADDRESSES = ('10.213.7.1', '10.213.7.2')
WARM_UP = 10


def sh(*words):
    subprocess.run(words, check=True)


@contextlib.contextmanager
def link(rate):
    """Two namespaces and what joins them, for as long as the block runs; a rate of 'none' is as fast as it goes."""
    def remove():
        for name in NAMES:
            subprocess.run(['ip', 'netns', 'delete', name], stderr=subprocess.DEVNULL)
    remove()
    try:
        for name in NAMES:
            sh('ip', 'netns', 'add', name)
        sh('ip', 'link', 'add', 'rank0', 'netns', NAMES[0], 'type', 'veth', 'peer', 'name', 'rank1', 'netns', NAMES[1])
        for i, name in enumerate(NAMES):
            sh('ip', '-n', name, 'addr', 'add', f'{ADDRESSES[i]}/24', 'dev', f'rank{i}')
            sh('ip', '-n', name, 'link', 'set', f'rank{i}', 'up')
            sh('ip', '-n', name, 'link', 'set', 'lo', 'up')
            if rate != 'none':
                sh('ip', 'netns', 'exec', name, 'tc', 'qdisc', 'add', 'dev', f'rank{i}', 'root', 'tbf', 'rate', rate,
                   'burst', '64kb', 'latency', '100ms')
        yield
    finally:
        remove()


def environment(rank, port):
    return dict(os.environ, RANK=str(rank), WORLD_SIZE='2', MASTER_ADDR=ADDRESSES[0], MASTER_PORT=str(port),
                LOCAL_RANK='0', LOCAL_WORLD_SIZE='1', GLOO_SOCKET_IFNAME=f'rank{rank}', OMP_NUM_THREADS='1',
                MKL_NUM_THREADS='1', SPRIG_TRANSPORT='gloo')  # else it finds both on one machine, and shares memory


class Sprig:
    """`sprig train --strategy data`, batch norms with each rank's statistics as PyTorch has them."""
    def __init__(self, program, flags):
        self.program, self.flags = program, flags

    def command(self, task, steps, out, rank):
        return [self.program, 'train', str(task / 'model.onnx'), '--config', str(task / 'config.json'), '--x',
                str(out / 'x.npy'), '--y', str(out / 'y.npy'), '--steps', str(steps), '--threads', '1', '-q',
                '--metrics', str(out / f'metrics{rank}.jsonl'), '-o', str(out / f'w{rank}.safetensors'), *self.flags]

    def read(self, out, text):
        lines = [json.loads(line) for line in (out / 'metrics0.jsonl').read_text().splitlines()]
        at = [line['seconds'] for line in lines]
        return [b - a for a, b in zip(at, at[1:])], lines[WARM_UP]['loss']


class Python:
    """distributed_peer.py: prints the seconds of each step, then the loss of step WARM_UP."""
    def __init__(self, kind):
        self.kind = kind

    def command(self, task, steps, out, rank):
        return [sys.executable, str(harness.HERE / 'distributed_peer.py'), self.kind, task.name, str(steps), str(WARM_UP)]

    def read(self, out, text):
        words = text.split()
        return [float(word) for word in words[:-1]], float(words[-1])


def write_data(task, steps, out):
    """The task's batch again and again."""
    import numpy as np
    for line in (task / 'shapes.txt').read_text().splitlines()[:2]:
        file, dtype, *dims = line.split()
        batch = np.fromfile(task / file, {'f32': np.float32, 'i64': np.int64}[dtype]).reshape([int(d) for d in dims])
        np.save(out / f'{file[0]}.npy', np.concatenate([batch] * steps))


def run(peer, task, steps, out, port):
    """(median seconds of a step, loss), both ranks' processes ended."""
    processes = []
    for rank in range(2):
        where = ['ip', 'netns', 'exec', NAMES[rank]]
        processes.append(subprocess.Popen(where + peer.command(task, steps, out, rank), env=environment(rank, port),
                                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    texts = []
    try:
        for process in processes:
            texts.append(process.communicate(timeout=600))
    finally:
        for process in processes:
            process.kill()
    for process, (_, error) in zip(processes, texts):
        if process.returncode:
            raise RuntimeError(error.strip()[-300:] or f'exit code {process.returncode}')
    seconds, loss = peer.read(out, texts[0][0])
    return statistics.median(seconds[WARM_UP:]), loss


def measure(peers, task, steps, processes, out):
    """{peer: {median_ns, p10_ns, p90_ns, loss}} or {peer: {failed}}; peers go in turn, A B C A B C ..."""
    times, losses, failed = {name: [] for name in peers}, {}, {}
    for i in range(processes):
        for number, (name, peer) in enumerate(peers.items()):
            if name in failed:
                continue
            try:
                seconds, losses[name] = run(peer, task, steps, out, 29600 + i * len(peers) + number)
                times[name].append(seconds * 1e9)
            except (RuntimeError, subprocess.TimeoutExpired) as e:
                failed[name] = {'failed': str(e)}
    result = dict(failed)
    for name, own in times.items():
        if name in failed:
            continue
        tenths = statistics.quantiles(own, n=10, method='inclusive') if len(own) > 1 else own
        result[name] = {'median_ns': statistics.median(own), 'p10_ns': tenths[0], 'p90_ns': tenths[-1],
                        'loss': losses[name], 'processes': processes}
    return result


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--sprig', required=True, help='the program')
    p.add_argument('--flags', default='--strategy data --batch-norm replica', help='of sprig train')
    p.add_argument('--peers', default='ddp,ddp-compile')
    p.add_argument('--tasks', default=','.join(TASKS))
    p.add_argument('--rates', default='1gbit,10gbit', help='as tc writes them; none: as fast as it goes')
    p.add_argument('--processes', type=int, default=20)
    p.add_argument('--steps', type=int, default=60)
    a = p.parse_args()
    sprig = Sprig(str(pathlib.Path(a.sprig).resolve()), a.flags.split())
    peers = {'sprig': sprig, **{name: Python(name) for name in a.peers.split(',') if name}}
    for rate in a.rates.split(','):
        with link(rate), tempfile.TemporaryDirectory() as folder:
            for name in a.tasks.split(','):
                task, out = nets.DATA / 'train' / name.replace(' ', '_'), pathlib.Path(folder)
                write_data(task, a.steps, out)
                cells = measure(peers, task, a.steps, a.processes, out)
                harness.save('distributed', {f'{name} {rate}': cells})
                print(f'{name} {rate}:', '; '.join(
                    f"{n} {v['median_ns'] / 1e3:.0f} us{harness.spread(v, 1e3)} loss {v['loss']:.5f}"
                    if 'median_ns' in v else f"{n} FAILED({v['failed'][:200]})" for n, v in cells.items()), flush=True)


main()
