# `cmake --install` installs headers, libraries, CMake package, pkg-config files, program, manual, completions.
include(CMakePackageConfigHelpers)

foreach(folder codec cuda io)
  if(folder STREQUAL "cuda" AND NOT zerorun_have_cuda)
    continue()
  endif()
  install(DIRECTORY ${folder}/include/zerorun TYPE INCLUDE COMPONENT development)
endforeach()

set_target_properties(zerorun PROPERTIES EXPORT_NAME zerorun_static)
set_target_properties(zerorun_io_shared PROPERTIES EXPORT_NAME io_shared)
install(TARGETS zerorun_shared EXPORT zerorunSharedTargets
  LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS zerorun_io_shared EXPORT zerorunSharedTargets
  LIBRARY COMPONENT io NAMELINK_COMPONENT development)
install(TARGETS zerorun EXPORT zerorunStaticTargets ARCHIVE COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/zerorun)
foreach(kind Shared Static)
  install(EXPORT zerorun${kind}Targets NAMESPACE zerorun:: DESTINATION ${package_dir}
    COMPONENT development)
endforeach()
configure_package_config_file(.cmake/zerorunConfig.cmake.in zerorunConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(zerorunConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/zerorunConfig.cmake
              ${PROJECT_BINARY_DIR}/zerorunConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT development)

# The prefix relative to the folder of the .pc file, so that the whole tree can be moved.
file(RELATIVE_PATH pc_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
set(pc_private "-pthread")
if(zerorun_have_cuda)
  string(APPEND pc_private " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
foreach(name zerorun zerorun-io)
  configure_file(.cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT development)
endforeach()

if(TARGET zerorun_gstreamer)
  install(TARGETS zerorun_gstreamer
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/gstreamer-1.0 COMPONENT gstreamer)
  # Debian's GStreamer looks in one folder only; cpack takes this component instead of the other.
  install(TARGETS zerorun_gstreamer EXCLUDE_FROM_ALL
    LIBRARY DESTINATION lib/${CMAKE_LIBRARY_ARCHITECTURE}/gstreamer-1.0 COMPONENT debian_gstreamer)
endif()

if(ZERORUN_PROGRAM)
  install(TARGETS zerorun_program RUNTIME COMPONENT program)
  include(.cmake/manual.cmake)
  set(share ${CMAKE_INSTALL_DATAROOTDIR})
  set(completions ${PROJECT_BINARY_DIR}/completions)
  file(GLOB completion_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/apps/completions/*)
  add_custom_command(OUTPUT ${completions}/made
    COMMAND ${PROJECT_SOURCE_DIR}/.cmake/completions.sh $<TARGET_FILE:zerorun_program>
      ${PROJECT_SOURCE_DIR}/apps/completions ${completions}
    COMMAND ${CMAKE_COMMAND} -E touch ${completions}/made
    DEPENDS zerorun_program .cmake/completions.sh ${completion_sources}
    VERBATIM)
  add_custom_target(zerorun_completions ALL DEPENDS ${completions}/made)
  install(FILES ${completions}/zerorun.bash RENAME zerorun
    DESTINATION ${share}/bash-completion/completions COMPONENT program)
  install(FILES ${completions}/_zerorun
    DESTINATION ${share}/zsh/vendor-completions COMPONENT program)
  install(FILES ${completions}/zerorun.fish
    DESTINATION ${share}/fish/vendor_completions.d COMPONENT program)
endif()
# Debian wants one folder for each package.
foreach(component library:libzerorun${version_ABI} io:libzerorun-io${version_ABI}
        development:libzerorun-dev program:zerorun debian_gstreamer:gstreamer1.0-zerorun)
  string(REPLACE ":" ";" component ${component})
  list(POP_FRONT component name)
  if((NOT name STREQUAL "program" OR ZERORUN_PROGRAM) AND
     (NOT name STREQUAL "debian_gstreamer" OR TARGET zerorun_gstreamer))
    install(FILES LICENSE RENAME copyright COMPONENT ${name}
      DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${component})
  endif()
endforeach()
