# Chooses CMAKE_CUDA_ARCHITECTURES, unless it is given.
#
# AUTO: what the GPUs of this machine are, so that a build takes no longer than it must. Where there
# is none, PTX of the oldest architecture: such a build runs on every GPU, but the driver compiles the
# kernels when they are first used, and they do without what newer GPUs can.
# RELEASE: machine code for every architecture, which also runs on those that differ from it in the
# last digit (8.7, 10.3, 12.1), and PTX for the others and for those to come. Compiled with an older
# CUDA it has what that knows.

# The compute capabilities of this machine's GPUs, like "86;90".
function(zerorun_find_gpus out)
  set(found)
  find_program(ZERORUN_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(ZERORUN_NVIDIA_SMI)
  if(ZERORUN_NVIDIA_SMI)
    execute_process(COMMAND ${ZERORUN_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE lines RESULT_VARIABLE result ERROR_QUIET TIMEOUT 30)
    if(result EQUAL 0)
      string(REGEX MATCHALL "[0-9]+\\.[0-9]" found "${lines}")
      list(TRANSFORM found REPLACE "\\." "")
      list(REMOVE_DUPLICATES found)
      list(SORT found COMPARE NATURAL)
    endif()
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# Those of the architectures that nvcc can compile for.
function(zerorun_known_architectures out)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE codes)
  set(known)
  foreach(architecture IN LISTS ARGN)
    if(codes MATCHES "sm_${architecture}[ \n]")
      list(APPEND known ${architecture})
    endif()
  endforeach()
  set(${out} "${known}" PARENT_SCOPE)
endfunction()

if(ZERORUN_CUDA_ARCHITECTURES STREQUAL "RELEASE")
  zerorun_known_architectures(architectures 75 80 86 89 90 100 120)
  list(TRANSFORM architectures APPEND "-real")
  set(CMAKE_CUDA_ARCHITECTURES ${architectures} 90-virtual)
else()
  zerorun_find_gpus(gpus)
  zerorun_known_architectures(architectures ${gpus})
  if(architectures AND architectures STREQUAL gpus)
    list(TRANSFORM architectures APPEND "-real")
    set(CMAKE_CUDA_ARCHITECTURES ${architectures})
  else()
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual)
  endif()
endif()
