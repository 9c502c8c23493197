# Finds LLVM/MLIR 22 and makes the functions that the compiler's targets use.

find_package(MLIR 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/mlir)
message(STATUS "Using MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
# mlir_tablegen searches the directory's include path; dialects include one another from the project's root.
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
include_directories("${PROJECT_SOURCE_DIR}")
# Development links the two shared libraries: a link takes a fraction of a second.
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_LINK_LLVM_DYLIB ON)

# sprig_compiler_library(NAME sources... [LINK libraries...]): a library of the compiler, on libMLIR and libLLVM.
function(sprig_compiler_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  sprig_library(${name} ${ARG_UNPARSED_ARGUMENTS} LINK ${ARG_LINK} MLIR LLVM)
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
