"""What tests in Python know of packages that run: the arrays that `sprig run --output-dir` writes, how far two of them are
apart, and the layers that `--place` knows."""
import array
import math
import subprocess


def outputs(folder):
    """The arrays of f32 in a folder of .npy files of version 1, by name."""
    arrays = {}
    for file in sorted(folder.glob('*.npy')):
        data = file.read_bytes()
        arrays[file.name] = array.array('f', data[10 + int.from_bytes(data[8:10], 'little'):])
    return arrays


def apart(found, right):
    """The largest difference of two arrays, in parts of the largest value of the second; infinite where one is no number."""
    differences = [abs(a - b) for a, b in zip(found, right, strict=True)]
    if any(map(math.isnan, differences)):
        return float('inf')
    return max(differences, default=0) / (max(map(abs, right), default=0) or 1)


def distance(found, right):
    """The largest difference of two folders' arrays, in parts of the largest value of each; infinite where others are there, and
    where one is no number."""
    if not right or list(found) != list(right):
        return float('inf')
    return max(apart(found[output], values) for output, values in right.items())


def layers(sprig, model, *flags, scratch):
    """The names by which --place knows the layers of a model."""
    told = subprocess.run([sprig, 'compile', model, *flags, '--devices', 'null:0,1', '--explain-placement', '-q', '-o',
                           scratch / 'explained.sprig'], capture_output=True, text=True, check=True).stderr
    rows = told[told.find('\nlayer '):].splitlines()[2:]
    return [row.split('  ')[0] for row in rows if '  ' in row]


def dealt(names, count):
    """Neighbouring layers on different ones of so many GPUs."""
    return [f'--place={name}=cuda:{i % count}' for i, name in enumerate(names) if count > 1]
