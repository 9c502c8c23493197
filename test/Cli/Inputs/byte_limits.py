# Of a profile of a quantised network on one thread: each row's limit is at least its flops at the rates that calibration
# has measured, where products (kernel.*) are of bytes; and that is what binds the largest of them. PROFILE DEVICES
import json, sys

rows = json.load(open(sys.argv[1]))["profiles"][0]["rows"]
measured = json.load(open(sys.argv[2]))["cpu"]["measured"]
f32, of_bytes = measured["f32_flops_per_second"], measured["byte_products_per_second"]
products = 0
for row in rows:
    parts = row.get("inside", [])
    if not any(part["kind"].startswith("kernel.") for part in parts):
        continue
    products += 1
    seconds = sum(part["flops"] / (of_bytes if part["kind"].startswith("kernel.") else f32) for part in parts)
    # The profile may have been limited by an earlier calibration.
    assert row["limit_ns"] * 1e-9 > 0.7 * seconds, (row["name"], row["limit_ns"], seconds)
    if row["name"] == "conv2":
        assert row["limit_ns"] * 1e-9 < 1.4 * seconds, (row["name"], row["limit_ns"], seconds)
        if of_bytes > 3 * f32:
            assert row["limit_ns"] * 1e-9 < 0.6 * row["flops"] / f32, (row["name"], row["limit_ns"], row["flops"])
assert products == 3, products
