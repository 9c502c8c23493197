# What `cmake --install` puts into a prefix: the runtime with its C and C++ headers, and, where the compiler is built,
# the tools and the JIT library. find_package(Sprig COMPONENTS Runtime JIT) finds them there. Components: Runtime, Gloo
# (ranks of several machines), Mpi (ranks by MPI), JIT, Events (event files, for JIT and Tools), Tools, and RuntimeDevelopment, JITDevelopment with headers, CMake files and the names that linkers look for.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(sprig_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Sprig")

# Debian keeps libMLIR and libLLVM outside of the loader's path, hence the link path in the run path.
function(sprig_install_component component target name)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH TRUE)
  target_compile_features(${target} INTERFACE cxx_std_20) # what the headers are written in
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS ${target} EXPORT Sprig${component}Targets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component} NAMELINK_COMPONENT ${component}Development)
  install(EXPORT Sprig${component}Targets NAMESPACE Sprig:: DESTINATION "${sprig_config_dir}"
    COMPONENT ${component}Development)
endfunction()

sprig_install_component(Runtime SprigRuntimeShared Runtime)
set_target_properties(SprigRuntimeProcesses PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS SprigRuntimeProcesses LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Runtime)
if(TARGET SprigRuntimeCuda)
  set_target_properties(SprigRuntimeCuda PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS SprigRuntimeCuda LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Runtime)
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime/include/sprig/rt" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sprig"
  COMPONENT RuntimeDevelopment)

if(SPRIG_GLOO)
  set_target_properties(SprigRuntimeGloo PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS SprigRuntimeGloo LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Gloo)
endif()

if(TARGET SprigRuntimeMpi)
  set_target_properties(SprigRuntimeMpi PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS SprigRuntimeMpi LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Mpi)
endif()

if(SPRIG_ENABLE_COMPILER)
  sprig_install_component(JIT SprigJITShared JIT)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/sprig" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT JITDevelopment)
  set_target_properties(SprigEventsModule PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS SprigEventsModule LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Events)
  set(sprig_tools sprig-opt)
  if(TARGET sprig)
    list(APPEND sprig_tools sprig)
    set_target_properties(SprigCompilerShared PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH TRUE)
    install(TARGETS SprigCompilerShared LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Tools)
  endif()
  set_target_properties(${sprig_tools} PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}"
    INSTALL_RPATH_USE_LINK_PATH TRUE)
  install(TARGETS ${sprig_tools} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT Tools)
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/SprigConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/SprigConfig.cmake" INSTALL_DESTINATION "${sprig_config_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/SprigConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/SprigConfig.cmake" "${PROJECT_BINARY_DIR}/SprigConfigVersion.cmake"
  DESTINATION "${sprig_config_dir}" COMPONENT RuntimeDevelopment)
install(FILES LICENSE THIRD_PARTY_NOTICES DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/sprig" COMPONENT Runtime)

# Everything that an installation holds, without the tests.
add_custom_target(install-parts DEPENDS SprigRuntimeShared SprigRuntimeProcesses ${sprig_tools})
if(SPRIG_GLOO)
  add_dependencies(install-parts SprigRuntimeGloo)
endif()
if(TARGET SprigRuntimeMpi)
  add_dependencies(install-parts SprigRuntimeMpi)
endif()
if(SPRIG_ENABLE_COMPILER)
  add_dependencies(install-parts SprigJITShared SprigEventsModule)
endif()
