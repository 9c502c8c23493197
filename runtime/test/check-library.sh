#!/bin/sh
# check-library.sh LIBRARY: the shared runtime is small, needs nothing but the system, and shows nothing but its C ABI.
set -eu
library=$1
fail() { echo "FAIL: $*" >&2; exit 1; }

stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$library"
size=$(wc -c < "$stripped")
[ "$size" -lt 600000 ] || fail "expected less than 600000 bytes stripped, found $size"

soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p')
[ "$soname" = libsprig_rt.so.1 ] || fail "expected soname libsprig_rt.so.1, found $soname"

# What was added since a version of the ABI says so.
headers=$(dirname "$0")/../include/sprig/rt
minor=$(sed -n 's/.*define SPRIG_RT_ABI_MINOR //p' "$headers/sprig_rt.h")
newest=$(grep -ho 'Since 1\.[0-9]*' "$headers"/*.h | sed 's/.*\.//' | sort -n | tail -1)
[ "$minor" = "$newest" ] || fail "expected the ABI's minor version to be that of its newest part, $newest, found $minor"

needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\].*/\1/p')
for name in $needed; do
  case $name in
    libc.so.*|libm.so.*|libstdc++.so.*|libgcc_s.so.*|libpthread.so.*|libdl.so.*|ld-linux*) ;;
    *) fail "expected system libraries only, found $name" ;;
  esac
done

shown=$(nm -D --defined-only "$library" | awk '$2 != "A" {print $3}')
for symbol in $shown; do
  case $symbol in
    sprig_rt_*) ;;
    *) fail "expected symbols sprig_rt_* only, found $symbol" ;;
  esac
done
[ "$(echo "$shown" | wc -l)" -gt 40 ] || fail "expected the C ABI, found few symbols: $shown"
if nm -D "$library" | grep -E 'llvm|mlir|protobuf|onnx'; then
  fail "found symbols of the compiler"
fi
echo "$size bytes stripped, needs" $needed
