# sprig_fingerprint(FILE folders...): FILE gets a string literal with a hash over the sources in these folders of the
# project. Objects in the cache are filed under it, so that none outlives a change of the code that made it.
if(CMAKE_SCRIPT_MODE_FILE)
  # cmake -DLIST=... -DROOT=... -DOUTPUT=... -P SprigFingerprint.cmake
  file(STRINGS "${LIST}" sources)
  set(all "")
  foreach(source IN LISTS sources)
    file(SHA256 "${ROOT}/${source}" hash)
    string(APPEND all "${source} ${hash}\n")
  endforeach()
  string(SHA256 hash "${all}")
  file(WRITE "${OUTPUT}" "\"${hash}\"\n")
  return()
endif()

set(SPRIG_FINGERPRINT_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")
function(sprig_fingerprint output)
  set(patterns "")
  foreach(folder IN LISTS ARGN)
    foreach(kind cpp h td def)
      list(APPEND patterns "${PROJECT_SOURCE_DIR}/${folder}/*.${kind}")
    endforeach()
  endforeach()
  file(GLOB_RECURSE sources RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS ${patterns})
  list(SORT sources)
  string(REPLACE ";" "\n" lines "${sources}")
  file(CONFIGURE OUTPUT "${output}.list" CONTENT "${lines}\n" @ONLY)
  list(TRANSFORM sources PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE paths)
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DLIST=${output}.list" "-DROOT=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${output}"
      -P "${SPRIG_FINGERPRINT_SCRIPT}"
    DEPENDS ${paths} "${output}.list" VERBATIM)
endfunction()
