"""The largest batch within a limit: it fits, one more does not. `memory_batch.py SPRIG MODEL LIMIT`."""
import json
import subprocess
import sys

sprig, model, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])


def memory(*arguments):
    done = subprocess.run([sprig, "inspect", model, "--memory", "--format", "json", *arguments], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


found = memory("--batch", "auto", "--limit", str(limit))
batch = found["dims"]["batch"]
assert found["memory"]["total_bytes"] <= limit, found
assert memory("--batch", str(batch))["memory"]["total_bytes"] == found["memory"]["total_bytes"]
assert memory("--batch", str(batch + 1))["memory"]["total_bytes"] > limit
print("largest batch", batch)
