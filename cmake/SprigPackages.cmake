# Packages for machines that do not build Sprig: `cpack --config build/CPackConfig.cmake` makes three of Debian's and one
# archive. LLVM is a dependency of sprig-tools alone:
#   sprig-runtime   libsprig_rt, which loads and runs packages, libsprig_rt_processes and libsprig_rt_cuda, which it loads
#                   for ranks and for GPUs
#   sprig-dev       its headers and CMake files
#   sprig-tools     sprig, sprig-opt, and the JIT with its headers; libsprig_events, which both load for event files
# scripts/try-packages installs them on a bare Debian.
set(CPACK_PACKAGE_NAME sprig)
set(CPACK_PACKAGE_VENDOR "Sprig")
set(CPACK_PACKAGE_CONTACT "The Sprig developers <maintainers@sprig.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_GENERATOR DEB TXZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_THREADS 0)

# A Debian package for each group; one archive with everything.
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_ARCHIVE_FILE_NAME "sprig-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_COMPONENT_RUNTIME_GROUP runtime)
set(CPACK_COMPONENT_RUNTIMEDEVELOPMENT_GROUP dev)
set(CPACK_COMPONENT_JIT_GROUP tools)
set(CPACK_COMPONENT_JITDEVELOPMENT_GROUP tools)
set(CPACK_COMPONENT_EVENTS_GROUP tools)
set(CPACK_COMPONENT_TOOLS_GROUP tools)
set(CPACK_COMPONENTS_ALL Runtime RuntimeDevelopment)
if(SPRIG_GLOO)
  set(CPACK_COMPONENT_GLOO_GROUP gloo)
  list(APPEND CPACK_COMPONENTS_ALL Gloo)
endif()
if(TARGET SprigRuntimeMpi)
  set(CPACK_COMPONENT_MPI_GROUP mpi)
  list(APPEND CPACK_COMPONENTS_ALL Mpi)
endif()
if(SPRIG_ENABLE_COMPILER)
  list(APPEND CPACK_COMPONENTS_ALL JIT JITDevelopment Events Tools)
endif()

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# Libraries that a package needs become its dependencies; those of this build come in sprig-runtime.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME sprig-runtime)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME sprig-dev)
set(CPACK_DEBIAN_GLOO_PACKAGE_NAME sprig-gloo)
set(CPACK_DEBIAN_MPI_PACKAGE_NAME sprig-mpi)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME sprig-tools)
set(runtime_of_this_version "sprig-runtime (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${runtime_of_this_version}")
set(CPACK_DEBIAN_GLOO_PACKAGE_DEPENDS "${runtime_of_this_version}")
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "${runtime_of_this_version}")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${runtime_of_this_version}")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "sprig-gloo, sprig-mpi")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS sprig-dev)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "Sprig's runtime
 Loads packages of compiled neural networks and runs them; needs no compiler.")
set(CPACK_DEBIAN_DEV_DESCRIPTION "Headers and CMake files of Sprig's runtime
 For C and C++ programs that load and run packages of compiled neural networks.")
set(CPACK_DEBIAN_GLOO_DESCRIPTION "Ranks of several machines for Sprig
 Moves messages between machines that train together, by Gloo.")
set(CPACK_DEBIAN_MPI_DESCRIPTION "Ranks by MPI for Sprig
 Moves messages between processes that train together by the MPI that has started them.")
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "Sprig's compiler
 The commands sprig and sprig-opt, and the JIT for C++ programs with its headers.")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
include(CPack)
