#!/bin/sh
# Builds the C++ peers against the libraries inside the Python wheels of the active environment.
# ORT_INCLUDE: the folder with onnxruntime_c_api.h and the headers it includes (from the ONNX Runtime sources).
# BIN: where the programs go (default ./bin).
set -e
cd "$(dirname "$0")"
bin=${BIN:-bin}
mkdir -p "$bin"
site=$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
flags="-std=c++20 -O2 -Icpp"
want() { [ -z "$only" ] || [ "$only" = "$1" ]; }
only=$1
if want roofline; then g++ -std=c++20 -O3 -march=native -pthread cpp/roofline.cpp -o "$bin/roofline"; fi
if want ort; then
  lib=$(ls "$site"/onnxruntime/capi/libonnxruntime.so.*.*)
  g++ $flags -I"$ORT_INCLUDE" cpp/ort.cpp "$lib" -Wl,-rpath,"$(readlink -f "$bin")" -o "$bin/ort"
  ln -sf "$lib" "$bin/libonnxruntime.so.1"
fi
if want openvino; then
  lib=$(ls "$site"/openvino/libs/libopenvino.so.*)
  g++ $flags -I"$site/openvino/include" cpp/openvino.cpp "$lib" -Wl,-rpath,"$(dirname "$lib")" -o "$bin/openvino"
fi
torch="$flags -I$site/torch/include -I$site/torch/include/torch/csrc/api/include"
link="-L$site/torch/lib -Wl,-rpath,$site/torch/lib -ltorch_cpu -lc10"
if want torchscript; then g++ $torch cpp/torch.cpp $link -o "$bin/torchscript"; fi
# A package names libtorch.so, which in a CUDA wheel pulls in the CUDA libraries; an empty one stands in, as in a CPU wheel.
if want aoti; then
  g++ $torch -DAOTI cpp/torch.cpp $link -o "$bin/aoti" -Wl,--disable-new-dtags,-rpath,"$(readlink -f "$bin")"
  g++ -shared -x c++ /dev/null -Wl,-soname,libtorch.so -o "$bin/libtorch.so"
fi
if want executorch; then
  lib="$site/executorch/lib"
  g++ $flags -DC10_USING_CUSTOM_GENERATED_MACROS -I"$site/executorch/include" -I"$site/executorch/include/executorch/runtime/core/portable_type/c10" cpp/executorch.cpp \
    -L"$lib" -Wl,-rpath,"$lib" -Wl,--no-as-needed -lexecutorch -lexecutorch_threadpool -lexecutorch_backend_xnnpack \
    -lexecutorch_kernels_optimized -o "$bin/executorch"
fi
