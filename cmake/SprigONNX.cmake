# Finds the ONNX library in the prefix that scripts/onnx-prefix builds: targets SprigONNXLib and SprigONNXProto.

set(SPRIG_ONNX_VERSION 1.23.2)
if(DEFINED ENV{SPRIG_DEPS})
  set(SPRIG_DEPS "$ENV{SPRIG_DEPS}" CACHE PATH "Folder of cached dependencies")
else()
  set(SPRIG_DEPS "$ENV{HOME}/.cache/sprig" CACHE PATH "Folder of cached dependencies")
endif()
set(SPRIG_ONNX_PREFIX "${SPRIG_DEPS}/onnx-${SPRIG_ONNX_VERSION}")
if(NOT EXISTS "${SPRIG_ONNX_PREFIX}/complete")
  message(FATAL_ERROR "ONNX ${SPRIG_ONNX_VERSION} is not in ${SPRIG_ONNX_PREFIX}: run scripts/onnx-prefix, which builds it there")
endif()
find_package(Protobuf REQUIRED)
# The shared library: Debian's static one is not position-independent, so libsprig_jit could not hold it.
find_library(SPRIG_PROTOBUF NAMES protobuf REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

# The messages alone, for reading and writing files.
add_library(SprigONNXProto INTERFACE)
target_include_directories(SprigONNXProto SYSTEM INTERFACE "${SPRIG_ONNX_PREFIX}/include" ${Protobuf_INCLUDE_DIRS})
target_compile_definitions(SprigONNXProto INTERFACE ONNX_ML=1 ONNX_NAMESPACE=onnx)
target_link_libraries(SprigONNXProto INTERFACE "${SPRIG_ONNX_PREFIX}/lib/libonnx_proto.a" "${SPRIG_PROTOBUF}"
  ZLIB::ZLIB Threads::Threads)

# Schemas, checker, shape inference, function bodies.
add_library(SprigONNXLib INTERFACE)
target_link_libraries(SprigONNXLib INTERFACE "${SPRIG_ONNX_PREFIX}/lib/libonnx.a" SprigONNXProto)
