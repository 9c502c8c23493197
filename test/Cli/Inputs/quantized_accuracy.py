# That what quantisation-aware training wrote is as right, on integers, as the training said of its fake-quantised form,
# and about as right as floats, or as weights that were rounded afterwards: SPRIG MODEL SAMPLES POST.json EIGHT.json METRICS.jsonl
import array, json, struct, subprocess, sys, tempfile

sprig, model, samples, post, eight, metrics = sys.argv[1:]


def numbers(path, kind):
    data = open(path, "rb").read()
    values = array.array(kind)
    values.frombytes(data[10 + struct.unpack("<H", data[8:10])[0] :])
    return values


folder = tempfile.mkdtemp()
subprocess.run([sprig, "run", model, "--input", f"image={samples}/input_0.npy", "--output-dir", folder], check=True, stdout=subprocess.DEVNULL)
logits, labels = numbers(f"{folder}/logits.npy", "f"), numbers(f"{samples}/labels.npy", "q")
right = sum(max(range(10), key=lambda c: logits[10 * i + c]) == label for i, label in enumerate(labels)) / len(labels)
said = [json.loads(line) for line in open(metrics)]
said = [line["eval_accuracy"] for line in said if "eval_accuracy" in line][-1]
# A sample whose sum is about between two steps of a quantiser may go the other way.
assert abs(right - said) <= 2.5 / len(labels), (right, said)
before = json.load(open(post))
assert right > max(before["accuracy_after"], before["accuracy_before"]) - 0.01, (right, before)
assert json.load(open(eight))["accuracy_after"] > before["accuracy_before"] - 0.01
