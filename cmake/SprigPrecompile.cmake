# Precompiled headers. Most of the time of a compiler's source file goes into MLIR's headers, so they are parsed once for
# each set of flags. System headers only: what is in this tree changes too often, and a source file includes what it
# uses (a build with SPRIG_PRECOMPILE_HEADERS=OFF checks that; docs/testing.md).
option(SPRIG_PRECOMPILE_HEADERS "Parse the headers of the standard library and of LLVM once" ON)

set(SPRIG_INLINE_LITTLE "") # a fifth quicker to compile, and smaller
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(SPRIG_INLINE_LITTLE -mllvm -inline-threshold=20)
  # CMake's own flags name the file twice, once in a form whose path the object cache does not know for one.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Winvalid-pch -include-pch <PCH_FILE>)
  # Dates in precompiled headers would make every object new to the cache.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# sprig_header_set(NAME [RELEASE flags...] [INCLUDE folders...] [LINK libraries...] HEADERS headers...): declares a set, as
# sprig_precompiled takes it. HEADERS are written as between angle brackets. RELEASE: what compiles the set and what starts
# from it in releases. Command line and tests, whose own code computes little, are optimised less: they take half the time.
function(sprig_header_set name)
  if(NOT SPRIG_PRECOMPILE_HEADERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "RELEASE;INCLUDE;LINK;HEADERS" ${ARGN})
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/headers/${name}.cpp" CONTENT "// Owns precompiled headers.\n" @ONLY)
  add_library(${name} OBJECT "${PROJECT_BINARY_DIR}/headers/${name}.cpp")
  target_include_directories(${name} SYSTEM PRIVATE ${ARG_INCLUDE})
  target_link_libraries(${name} PRIVATE ${ARG_LINK}) # for their definitions
  set(headers ${ARG_HEADERS})
  list(TRANSFORM headers PREPEND "<")
  list(TRANSFORM headers APPEND ">")
  target_precompile_headers(${name} PRIVATE ${headers})
  list(TRANSFORM ARG_RELEASE REPLACE "(.+)" "$<$<CONFIG:Release>:\\1>")
  set_target_properties(${name} PROPERTIES SPRIG_OPTIONS "${ARG_RELEASE}")
  target_compile_options(${name} PRIVATE "${ARG_RELEASE}")
  # A precompiled header names files by absolute paths: it can be reused in the folder that it was made in, no other.
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "")
  sprig_header_checksum(${name} "${ARG_INCLUDE}" "${ARG_HEADERS}")
endfunction()

# What the object cache takes for a set's content, so that checkouts share objects though their precompiled files
# differ by paths: compiler, flags, and the headers with size and date, which change with the package they come in.
function(sprig_header_checksum name folders headers)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  get_directory_property(options COMPILE_OPTIONS)
  set(content "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${options}\n")
  foreach(header IN LISTS headers)
    string(APPEND content "${header}")
    foreach(folder IN LISTS folders CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
      if(EXISTS "${folder}/${header}")
        file(SIZE "${folder}/${header}" size)
        file(TIMESTAMP "${folder}/${header}" date UTC)
        string(APPEND content " ${size} ${date}")
        break()
      endif()
    endforeach()
    string(APPEND content "\n")
  endforeach()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch.sum" CONTENT "${content}" @ONLY)
endfunction()

# sprig_precompiled(TARGET SET): the target's sources start from the set's headers.
function(sprig_precompiled target set)
  if(SPRIG_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${set})
    get_target_property(options ${set} SPRIG_OPTIONS)
    if(options)
      target_compile_options(${target} PRIVATE "${options}")
    endif()
  endif()
endfunction()
