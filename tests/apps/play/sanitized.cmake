# The player under a sanitizer: a program with `play` alone, and those tests in which its threads meet.
# The whole program takes minutes to compile. It only makes the input of the tests, so another build's does.
set(ZERORUN_CODER "${PROJECT_BINARY_DIR}/../release/bin/zerorun" CACHE FILEPATH
  "The program that codes what the player plays in tests under a sanitizer")
mark_as_advanced(ZERORUN_CODER)

add_executable(zerorun_player
  play/player.cpp
  ${PROJECT_SOURCE_DIR}/apps/main.cpp
  ${PROJECT_SOURCE_DIR}/apps/play/play.cpp
  $<TARGET_OBJECTS:zerorun_window>
  $<TARGET_OBJECTS:zerorun_window_loader>
)
target_compile_definitions(zerorun_player PRIVATE ZERORUN_HAVE_SDL=1)
target_include_directories(zerorun_player PRIVATE ${PROJECT_SOURCE_DIR})
get_target_property(libraries zerorun_program LINK_LIBRARIES)
list(FILTER libraries EXCLUDE REGEX "^zerorun_(quality|sizes)")  # of `bench`
target_link_libraries(zerorun_player PRIVATE ${libraries})
zerorun_unity(zerorun_player)
target_compile_options(zerorun_player PRIVATE ${zerorun_test_level})
add_dependencies(zerorun_thread_tests zerorun_player)

find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  return()
endif()
# Drawn by the processor, because ThreadSanitizer does not know how the threads of Mesa wait for each other.
set(environment
  "ZERORUN_PROGRAM=${ZERORUN_CODER}"
  "ZERORUN_PLAYER=$<TARGET_FILE:zerorun_player>"
  "SDL_RENDER_DRIVER=software"
  "SDL_FRAMEBUFFER_ACCELERATION=0"
  "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1"
  "ASAN_OPTIONS=detect_stack_use_after_return=1"
  "LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/play/leaks.txt:print_suppressions=0"
  "UBSAN_OPTIONS=print_stacktrace=1")
function(zerorun_add_player_test name)  # NAME TEST...
  add_test(NAME player.${name}
    COMMAND ${Python3_EXECUTABLE} -B -m unittest -v ${ARGN}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(player.${name} PROPERTIES LABELS player TIMEOUT ${zerorun_hang_seconds} COST 100 REQUIRED_FILES "${ZERORUN_CODER}"
    ENVIRONMENT "${environment}")
endfunction()
set(headless compares damage_is_counted_and_not_the_end pipes ranges_and_start)
set(window begins_again_with_loop_and_stays_at_the_end_without closes_while_a_pipe_gives_nothing
  closes_while_it_decodes compares_two ends_by_a_signal files_are_dropped_on_the_window
  information_comes_and_goes steps_and_seeks)
set(sound no_device_is_no_error seeking_takes_the_sound_along)
list(TRANSFORM headless PREPEND play_test.PlayTest.test_)
list(TRANSFORM window PREPEND window_test.WindowTest.test_)
list(TRANSFORM sound PREPEND window_test.SoundTest.test_)
zerorun_add_player_test(headless ${headless})
zerorun_add_player_test(window ${window})
zerorun_add_player_test(sound ${sound})
