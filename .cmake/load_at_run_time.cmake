# Libraries that few runs need are opened when their first function is called, instead of at the start
# of every program: FFmpeg, OpenCV and SDL stand on about 240 libraries, whose loading takes 0.15 s.
option(ZERORUN_LOAD_AT_RUN_TIME "Open FFmpeg, OpenCV and SDL when an input needs them" ON)
mark_as_advanced(ZERORUN_LOAD_AT_RUN_TIME)

# The files of libraries that are named as files, as imported libraries, or as a target that stands for
# several.
function(zerorun_library_files out)
  set(files)
  foreach(library IN LISTS ARGN)
    if(TARGET ${library})
      get_target_property(type ${library} TYPE)
      if(type STREQUAL "INTERFACE_LIBRARY")
        get_target_property(members ${library} INTERFACE_LINK_LIBRARIES)
        zerorun_library_files(library ${members})
      else()
        get_target_property(library ${library} LOCATION)
      endif()
    endif()
    list(APPEND files ${library})
  endforeach()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# zerorun_use_libraries(TARGET OBJECTS NAME LIBRARY...): the sources of the OBJECT library OBJECTS, which
# call LIBRARY..., become part of TARGET. TARGET is linked with a jump for each function that OBJECTS
# calls; the first call of any of them opens all libraries, and so does zerorun_load_NAME() (C linkage),
# which returns what went wrong, or nullptr. Where that cannot be, TARGET is linked with the libraries.
function(zerorun_use_libraries target objects name)
  zerorun_library_files(files ${ARGN})
  set(others ${files})
  list(FILTER others EXCLUDE REGEX "\\.so(\\.[0-9]+)*$")
  set(jumps ON)
  if(NOT ZERORUN_LOAD_AT_RUN_TIME OR others OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|aarch64)$")
    set(jumps OFF)
  endif()
  set(loader ${CMAKE_CURRENT_BINARY_DIR}/load_${name}.cpp)
  set(script ${zerorun_SOURCE_DIR}/.cmake/load_at_run_time.sh)
  add_custom_command(OUTPUT ${loader}
    COMMAND ${CMAKE_COMMAND} -E env NM=${CMAKE_NM} READELF=${CMAKE_READELF} ${script} ${name} ${jumps} ${loader}
      "$<JOIN:${files},;>" "$<JOIN:$<TARGET_OBJECTS:${objects}>,;>"
    DEPENDS ${script} $<TARGET_OBJECTS:${objects}>
    COMMENT "Jumps to the functions of ${name}"
    VERBATIM)
  add_library(${objects}_loader OBJECT ${loader})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}> $<TARGET_OBJECTS:${objects}_loader>)
  set_property(TARGET ${target} APPEND PROPERTY zerorun_objects ${objects} ${objects}_loader)
  if(jumps)
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
    set_property(GLOBAL APPEND PROPERTY zerorun_opened_${name} ${files})
  else()
    target_link_libraries(${target} PRIVATE ${files})
  endif()
endfunction()

# The Debian packages of the libraries that are opened for NAME..., for the lines of our packages that
# dpkg-shlibdeps cannot write: "libavformat59, libswscale6". Empty where dpkg knows no such file.
function(zerorun_debian_packages out)
  set(packages)
  find_program(ZERORUN_DPKG_QUERY dpkg-query)
  mark_as_advanced(ZERORUN_DPKG_QUERY)
  foreach(name IN LISTS ARGN)
    get_property(files GLOBAL PROPERTY zerorun_opened_${name})
    foreach(file IN LISTS files)
      file(REAL_PATH ${file} file)
      if(ZERORUN_DPKG_QUERY)
        execute_process(COMMAND ${ZERORUN_DPKG_QUERY} -S ${file} OUTPUT_VARIABLE owner RESULT_VARIABLE failed ERROR_QUIET)
        if(NOT failed)
          string(REGEX MATCH "^[^:]+" owner "${owner}")
          list(APPEND packages ${owner})
        endif()
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES packages)
  list(JOIN packages ", " packages)
  set(${out} "${packages}" PARENT_SCOPE)
endfunction()
