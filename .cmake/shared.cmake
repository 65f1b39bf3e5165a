# The shared libraries are made of the same objects as the static libraries, which the tests use.
function(zerorun_add_shared name static_library)
  add_library(${name} SHARED $<TARGET_OBJECTS:${static_library}>)
  get_target_property(parts ${static_library} zerorun_objects)
  foreach(part IN LISTS parts)
    if(TARGET ${part})
      target_sources(${name} PRIVATE $<TARGET_OBJECTS:${part}>)
    endif()
  endforeach()
  get_target_property(libraries ${static_library} LINK_LIBRARIES)
  list(REMOVE_ITEM libraries zerorun)
  target_link_libraries(${name} PRIVATE ${libraries})
  target_link_options(${name} PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/.cmake/exports.map)
  # Clang's run-time library of ThreadSanitizer is in the programs alone.
  if(NOT (ZERORUN_TSAN AND CMAKE_CXX_COMPILER_ID STREQUAL Clang))
    target_link_options(${name} PRIVATE LINKER:--no-undefined)
  endif()
  set_target_properties(${name} PROPERTIES
    OUTPUT_NAME ${static_library}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${version_ABI}
    LINKER_LANGUAGE CXX
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/.cmake/exports.map)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_include_directories(${name}
    PUBLIC $<BUILD_INTERFACE:$<TARGET_PROPERTY:${static_library},INTERFACE_INCLUDE_DIRECTORIES>>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

zerorun_add_shared(zerorun_shared zerorun)
add_library(zerorun::zerorun_shared ALIAS zerorun_shared)
zerorun_add_shared(zerorun_io_shared zerorun_io)
target_link_libraries(zerorun_io_shared PUBLIC zerorun_shared)
add_library(zerorun::io_shared ALIAS zerorun_io_shared)
