"""Ctrl-C under `sprig launch`: the ranks of a training run end behind the same step, with a checkpoint that a run goes on
from as if nothing had been; a second one ends them at once, and a while after SIGTERM who ignores it; nothing is left running where the launcher is killed.

    launch_signals.py SPRIG FOLDER [AGENT]      with AGENT on two hosts that it stands for
FOLDER has plain.onnx, train.json, x.csv and y.csv.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sprig, folder = sys.argv[1], pathlib.Path(sys.argv[2])
launch = [sprig, 'launch', '-n', '2', '--']
if len(sys.argv) > 3:
    os.environ['AGENT_LOG'] = str(folder / 'log')
    launch = [sprig, 'launch', '--hosts', 'a,b', '--at', '127.0.0.1:0', '--launch-agent', sys.argv[3], '--']
EPOCHS = 100000  # of two steps


def train(name, epochs, *more):
    return ['train', folder / 'plain.onnx', '--config', folder / 'train.json', '--x', folder / 'x.csv', '--y',
            folder / 'y.csv', '--strategy', 'data', '-q', '--epochs', epochs, '--metrics', folder / f'{name}.jsonl', *more]


def start(command):
    return subprocess.Popen(list(map(str, launch + command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(process, expected):
    output, errors = process.communicate(timeout=60)
    assert process.returncode == expected, f'exit code {process.returncode}, expected {expected}: {errors}'
    return errors


def losses(name):
    return [(line['step'], line['loss']) for line in map(json.loads, open(folder / f'{name}.jsonl'))]


def wait_for(condition, what):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until, f'never: {what}'
        time.sleep(0.002)


def alive(mark):
    return [each.name for each in pathlib.Path('/proc').iterdir() if each.name.isdigit() and reads(each, mark)]


def reads(process, mark):
    try:
        return mark.encode() in (process / 'environ').read_bytes() and (process / 'stat').read_text().rsplit(')', 1)[1].split()[0] != 'Z'
    except OSError:
        return False


def rank_with(mark, rank):
    found = [int(name) for name in alive(mark) if f'RANK={rank}'.encode() in
             (pathlib.Path('/proc') / name / 'environ').read_bytes().split(b'\0')]
    assert len(found) == 1, f'rank {rank} is {found}'
    return found[0]


# Behind a step, with a checkpoint of it.
metrics = folder / 'cut.jsonl'
metrics.unlink(missing_ok=True)
shutil.rmtree(folder / 'run', ignore_errors=True)
checkpoints = ['--checkpoint', folder / 'run', '--every', 1000000]
process = start(train('cut', EPOCHS, *checkpoints))
wait_for(lambda: metrics.exists() and metrics.stat().st_size > 0, 'a first step')
process.send_signal(signal.SIGINT)
errors = end(process, 130)
assert 'Ctrl-C again ends them at once' in errors and 'error' not in errors, errors
done = len(losses('cut'))
assert 0 < done < 2 * EPOCHS, done
assert (folder / 'run' / f'step-{done}').is_dir(), f'no checkpoint of step {done}'
epochs = done // 2 + 5
end(start(train('cut', epochs, '--resume', *checkpoints)), 0)
end(start(train('whole', epochs)), 0)
assert losses('cut') == losses('whole'), 'the run that went on is another'

# Each rank has its own, and the first that comes is all ranks': another's that comes when that one has left the loop, and
# waits for the first rank to write the checkpoint, is no second one.
for attempt in range(3):
    metrics.unlink(missing_ok=True)
    shutil.rmtree(folder / 'run', ignore_errors=True)
    os.environ['LAUNCH_SIGNALS'] = f'{os.getpid()}.{attempt}'
    process = start(train('cut', EPOCHS, *checkpoints))
    wait_for(lambda: metrics.exists() and metrics.stat().st_size > 0, 'a first step')
    first, second = (rank_with(f'LAUNCH_SIGNALS={os.getpid()}.{attempt}', rank) for rank in (0, 1))
    os.kill(first, signal.SIGINT)
    wait_for(lambda: (folder / 'run').is_dir() and any((folder / 'run').iterdir()), 'a checkpoint')
    try:
        os.kill(second, signal.SIGINT)
    except ProcessLookupError:
        pass  # it has ended already
    errors = end(process, 130)
    assert "'states'" not in errors and 'is gone' not in errors, errors

# A second one does not wait, and ends what ranks have started, too.
os.environ['LAUNCH_SIGNALS'] = f'{os.getpid()}.second'
process = start(['sh', '-c', 'trap "" INT; sleep 600 & wait; wait'])
time.sleep(0.5)
process.send_signal(signal.SIGINT)
time.sleep(0.3)
assert process.poll() is None, 'a rank that does not hear the first ended'
begin = time.monotonic()
process.send_signal(signal.SIGINT)
end(process, 130)
assert time.monotonic() - begin < 5, 'the second did not end it at once'
wait_for(lambda: not alive(f'LAUNCH_SIGNALS={os.getpid()}.second'), 'the end of what ranks have started')

# Who does not hear SIGTERM is killed a while after it, and what it has started.
grace = launch.index('--')
launch[grace:grace] = ['--grace', '0.5']
process = start(['sh', '-c', 'trap "" TERM; echo "rank $RANK"; while :; do sleep 1; done'])
assert process.stdout.readline() and process.stdout.readline()
begin = time.monotonic()
process.send_signal(signal.SIGTERM)
errors = end(process, 143)
assert time.monotonic() - begin < 10, 'it was not ended'
for rank in (0, 1):
    assert f'rank {rank} has not ended 0.5 s after signal 15 (Terminated), and is killed' in errors, errors

# Without its launcher no rank goes on, nor what ranks have started: in their process group, in a session of its own, or
# under a launcher of theirs.
mark = f'LAUNCH_SIGNALS={os.getpid()}'
os.environ['LAUNCH_SIGNALS'] = str(os.getpid())
inner = f'{sprig} launch -n 1 -- setsid -w sleep 600'
process = start(['sh', '-c', f'setsid sleep 600 & sleep 600 & {inner} & sleep 600; true'])
wait_for(lambda: len(alive(mark)) >= 18, 'ranks that run')
process.kill()
process.communicate(timeout=60)
wait_for(lambda: not alive(mark), 'the end of all')
