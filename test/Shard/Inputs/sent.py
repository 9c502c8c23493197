"""Bytes of f32 that a rank sends in functions whose collectives are spelled out: sent.py FILE @name BYTES ..."""
import re
import sys

sent, name = {}, None
for line in open(sys.argv[1], encoding="utf-8"):
    if found := re.search(r"func\.func (@\w+)", line):
        name = found[1]
        sent[name] = 0
    elif found := re.search(r"dist\.send \[(\d+), (\d+)\)", line):
        sent[name] += 4 * (int(found[2]) - int(found[1]))
for name, expected in zip(sys.argv[2::2], sys.argv[3::2]):
    if sent[name] != int(expected):
        sys.exit(f"{name} sends {sent[name]} bytes, expected {expected}")
