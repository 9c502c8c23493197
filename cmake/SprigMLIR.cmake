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

set(mlir_headers
  llvm/ADT/DenseMap.h llvm/ADT/DenseSet.h llvm/ADT/MapVector.h llvm/ADT/STLExtras.h llvm/ADT/SetVector.h
  llvm/ADT/SmallVector.h llvm/ADT/StringExtras.h llvm/ADT/StringMap.h llvm/ADT/TypeSwitch.h llvm/Support/FormatVariadic.h
  llvm/Support/MathExtras.h llvm/Support/raw_ostream.h
  mlir/Bytecode/BytecodeOpInterface.h
  mlir/Dialect/Arith/IR/Arith.h mlir/Dialect/Func/IR/FuncOps.h mlir/Dialect/LLVMIR/LLVMDialect.h
  mlir/Dialect/Math/IR/Math.h mlir/Dialect/MemRef/IR/MemRef.h mlir/Dialect/SCF/IR/SCF.h mlir/Dialect/Vector/IR/VectorOps.h
  mlir/IR/Builders.h mlir/IR/BuiltinAttributes.h mlir/IR/BuiltinOps.h mlir/IR/BuiltinTypes.h mlir/IR/Dialect.h
  mlir/IR/DialectImplementation.h mlir/IR/IRMapping.h mlir/IR/Matchers.h mlir/IR/OpImplementation.h mlir/IR/OwningOpRef.h
  mlir/IR/PatternMatch.h mlir/IR/Remarks.h mlir/IR/SymbolTable.h mlir/IR/TypeUtilities.h mlir/IR/Verifier.h
  mlir/Interfaces/ControlFlowInterfaces.h mlir/Interfaces/InferTypeOpInterface.h mlir/Interfaces/SideEffectInterfaces.h
  mlir/Parser/Parser.h mlir/Pass/Pass.h mlir/Pass/PassManager.h mlir/Transforms/GreedyPatternRewriteDriver.h)
sprig_header_set(SprigMLIRHeaders INCLUDE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS} HEADERS ${standard_headers} ${mlir_headers})
if(SPRIG_ENABLE_TESTS)
  sprig_header_set(SprigMLIRTestHeaders RELEASE -O0 INCLUDE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS} LINK GTest::gmock
    HEADERS ${standard_headers} ${mlir_headers} gmock/gmock.h gtest/gtest.h)
endif()

# sprig_compiler_library(NAME sources... [LINK libraries...]): a library of the compiler, on libMLIR and libLLVM.
function(sprig_compiler_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  sprig_library(${name} ${ARG_UNPARSED_ARGUMENTS} LINK ${ARG_LINK} MLIR LLVM HEADERS SprigMLIRHeaders)
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
