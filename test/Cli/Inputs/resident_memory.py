"""resident_memory.py MODEL MOST COMMAND...: runs the command and checks that it holds no more memory of its own than MOST
times the model's bytes in the last third of the time: what it still has once the model is compiled."""
import os
import re
import subprocess
import sys
import time

model, most, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
process = subprocess.Popen(command)
samples = []
while process.poll() is None:
    with open(f"/proc/{process.pid}/status") as status:
        found = re.search(r"RssAnon:\s+(\d+) kB", status.read())
    if found:  # not of one that has ended
        samples.append(int(found.group(1)) * 1024)
    time.sleep(0.005)
assert process.returncode == 0, process.returncode
last = sorted(samples[len(samples) * 2 // 3 :])
size = os.path.getsize(model)
held = last[len(last) // 2] / size
assert held <= most, f"{held:.2f} times the {size} bytes of {model}, expected {most} at most"
