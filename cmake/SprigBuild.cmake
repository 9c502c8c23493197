# Settings and helper functions that every target of the project shares.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Paths below the source folder are hashed relative to it, so that several checkouts share one object cache.
find_program(SPRIG_CCACHE ccache)
if(SPRIG_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_BASEDIR=${PROJECT_SOURCE_DIR};CCACHE_NOHASHDIR=1;CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime;CCACHE_PCH_EXTSUM=1;${SPRIG_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")
endif()

# Debian's plain ld.lld is an older one; name the folder of version 22.
if(EXISTS /usr/lib/llvm-22/bin/ld.lld AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(SPRIG_LLD ON)
  add_link_options(-B/usr/lib/llvm-22/bin -fuse-ld=lld)
endif()

# One code model for libraries and programs, so that both can start from the same precompiled headers.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE ${CMAKE_CXX_COMPILE_OPTIONS_PIC})

# The standard library uses what it has deprecated, and precompiled its headers no longer count as the system's.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-deprecated-declarations -Wno-missing-designated-field-initializers)
if(SPRIG_SANITIZE)
  add_compile_options(-fsanitize=${SPRIG_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SPRIG_SANITIZE})
  if(SPRIG_SANITIZE MATCHES undefined AND SPRIG_SANITIZE MATCHES address)
    add_compile_options(-fno-sanitize=null,object-size,vptr) # the address sanitizer sees these; a tenth of compile time
  endif()
endif()
# What the fuzzers run tells them where it has been (test/fuzz).
set(SPRIG_FUZZ OFF)
if(SPRIG_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(SPRIG_FUZZ ON)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

include(SprigPrecompile)
if(SPRIG_SANITIZE)
  add_compile_options(${SPRIG_INLINE_LITTLE})
endif()
set(standard_headers algorithm array atomic bit cassert cctype charconv chrono cmath condition_variable cstddef cstdint cstdio cstdlib
  cstring deque filesystem fstream functional iostream limits map memory mutex new numbers numeric optional ostream set
  span sstream stdexcept string string_view thread tuple type_traits unordered_map unordered_set utility variant vector)
sprig_header_set(SprigStandardHeaders HEADERS ${standard_headers})

# sprig_library(NAME sources... [LINK libraries...] [HEADERS set]): a static library whose private headers lie beside its sources;
# includes are written from the project's root ("lib/Pipeline/Phases.h", "dialects/NN/NNOps.h").
function(sprig_library name)
  cmake_parse_arguments(ARG "" "HEADERS" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(NOT ARG_HEADERS)
    set(ARG_HEADERS SprigStandardHeaders)
  endif()
  sprig_precompiled(${name} ${ARG_HEADERS})
endfunction()

# sprig_module(TARGET NAME sources... LINK libraries...): libNAME.so, which is loaded on demand (runtime/comm/Library.h).
function(sprig_module target name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" LINK)
  add_library(${target} MODULE ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_compile_definitions(${target} PRIVATE SPRIG_RT_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${target} PRIVATE ${arg_LINK})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} PREFIX lib)
  target_link_options(${target} PRIVATE "LINKER:--exclude-libs,ALL" "LINKER:--gc-sections")
  if(NOT SPRIG_SANITIZE)
    target_link_options(${target} PRIVATE "LINKER:-z,defs")
  endif()
endfunction()
