# help2man makes manual pages of the texts of --help-all: zerorun(1), zerorun-encode(1), ...
find_program(ZERORUN_HELP2MAN help2man)
mark_as_advanced(ZERORUN_HELP2MAN)
if(NOT ZERORUN_HELP2MAN)
  message(STATUS "zerorun: no help2man, no manual pages are made")
  return()
endif()
set(manual_dir ${PROJECT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual_dir}/made
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual_dir}
  COMMAND ${PROJECT_SOURCE_DIR}/.cmake/manual.sh $<TARGET_FILE:zerorun_program>
    ${ZERORUN_HELP2MAN} ${PROJECT_VERSION} ${manual_dir}/man1
  COMMAND ${CMAKE_COMMAND} -E touch ${manual_dir}/made
  DEPENDS zerorun_program .cmake/manual.sh
  VERBATIM)
add_custom_target(zerorun_manual ALL DEPENDS ${manual_dir}/made)
install(DIRECTORY ${manual_dir}/man1 TYPE MAN COMPONENT program)
