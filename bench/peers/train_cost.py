"""What training costs beside its steps: train_cost.py SPRIG_TRAIN SPRIG: for each task, the time from the start of the
process to the end of the first step, and the memory that ten steps take above what the process has before it loads the
network; of Sprig, which compiles in the process without an object cache, also the peak of a whole process that runs a
package. PyTorch is eager, on one thread, without torch.compile."""
import json
import subprocess
import sys
import tempfile
import time

import nets
import tasks

TORCH = '''
import os, sys, time, torch, tasks
def memory(key):
    return next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith(key))
torch.set_num_threads(1)
before = memory("VmRSS")
module, x, y, f, name = tasks.setup(sys.argv[1])
kind = {"sgd": torch.optim.SGD, "momentum": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
optimizer = kind[name](module.parameters(), **tasks.OPTIMIZERS[name])
for step in range(10):
    optimizer.zero_grad()
    f(module(x), y).backward()
    optimizer.step()
    if step == 0:
        print("first", flush=True)
print(memory("VmHWM") - before, flush=True)
'''


def memory(pid, key):
    with open(f'/proc/{pid}/status') as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key))


def torch_cost(task):
    start = time.perf_counter()
    p = subprocess.Popen([sys.executable, '-c', TORCH, task], stdout=subprocess.PIPE, text=True)
    p.stdout.readline()
    first = time.perf_counter() - start
    kb = int(p.stdout.readline())
    p.wait()
    return first, kb / 1024


def sprig_cost(program, folder):
    p = subprocess.Popen([program, '--serve', '1'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    time.sleep(.05)  # it waits for its first line: what it has by then is its baseline
    before = memory(p.pid, 'VmRSS')
    began = time.perf_counter()
    p.stdin.write(f'load {folder} 0\n')
    p.stdin.flush()
    answer = p.stdout.readline().split()
    if answer[0] != 'ready':
        sys.exit(' '.join(answer))
    whole = time.perf_counter() - began
    kb = memory(p.pid, 'VmHWM') - before
    p.stdin.close()
    p.wait()
    return whole, kb / 1024


def package_cost(sprig, folder):
    """Peak of a whole process that runs a package."""
    with tempfile.TemporaryDirectory() as out:
        package = f'{out}/task.sprig'
        subprocess.run([sprig, 'compile', f'{folder}/model.onnx', '--train', f'{folder}/config.json', '--cpu', 'native',
                        '-o', package, '-q'], check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run([sprig, 'bench', package, '--threads', '1', '--seconds', '0.2', '--format', 'json', '-q'],
                              check=True, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)['peak_memory_bytes'] / 2**20


def main():
    program, sprig = sys.argv[1:3]
    print('| task | first step, s: PyTorch | Sprig | MB above the start: PyTorch | Sprig, compiling | whole process with a package, MB |\n'
          '|---|---|---|---|---|---|')
    for task in tasks.TASKS:
        folder = nets.DATA / 'train' / tasks.SLUG[task]
        torch_first, torch_mb = min(torch_cost(task) for _ in range(3))
        sprig_first, sprig_mb = min(sprig_cost(program, folder) for _ in range(3))
        print(f'| {task} | {torch_first:.2f} | {sprig_first:.3f} | {torch_mb:.1f} | {sprig_mb:.1f} | '
              f'{package_cost(sprig, folder):.1f} |', flush=True)


main()
