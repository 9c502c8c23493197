"""fresh_memory.py MODEL MOST COMMAND...: runs the command and checks that it touches no more fresh memory than MOST times
the model's bytes: each copy of the weights counts once."""
import os
import resource
import subprocess
import sys

model, most, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
subprocess.run(command, check=True)
faults = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
size = os.path.getsize(model)
touched = faults * resource.getpagesize() / size
assert touched <= most, f"{faults} pages are {touched:.2f} times the {size} bytes of {model}, expected {most} at most"
