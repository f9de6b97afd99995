# Which GPUs the CUDA backend is compiled for.

# gpus_here(OUT): the compute capabilities of this machine's GPUs, each once, e.g. "8.9;9.0".
function(gpus_here out)
  find_program(KVEVAL_NVIDIA_SMI nvidia-smi)
  set(found)
  if(KVEVAL_NVIDIA_SMI)
    execute_process(COMMAND ${KVEVAL_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE says RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed)
      string(REGEX MATCHALL "[0-9]+[.][0-9]+" found "${says}")
      list(REMOVE_DUPLICATES found)
    endif()
  endif()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# nvcc_knows(OUT): the compute capabilities for which this nvcc compiles; empty if it does not say.
function(nvcc_knows out)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE says ERROR_QUIET)
  string(REGEX MATCHALL "compute_[0-9]+" known "${says}")
  list(TRANSFORM known REPLACE "compute_([0-9]+)([0-9])$" "\\1.\\2")
  set(${out} ${known} PARENT_SCOPE)
endfunction()

# archs_here(OUT WHY): the compute capabilities of the GPUs here that are new enough and that nvcc knows, else 9.0, so that
# a build that nobody asked a capability of does not fail for one; and a word on where they are from.
function(archs_here out why)
  gpus_here(here)
  nvcc_knows(known)
  set(found)
  foreach(arch IN LISTS here)
    if(NOT arch MATCHES "^([89]|[1-9][0-9])[.]")
      message(STATUS "CUDA backend: not for the GPU of compute capability ${arch} here, 8.0 or above is needed")
    elseif(known AND NOT arch IN_LIST known)
      message(STATUS "CUDA backend: not for the GPU of compute capability ${arch} here, which this nvcc does not know")
    else()
      list(APPEND found ${arch})
    endif()
  endforeach()
  set(${why} "the GPUs here" PARENT_SCOPE)
  if(NOT found)
    set(found 9.0)
    set(${why} "the default, as there is no GPU here that it could be for" PARENT_SCOPE)
  endif()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# refuse_cmake_archs(): CMake's own variable would be overwritten. Before enable_language, which sets it too.
function(refuse_cmake_archs)
  get_property(help CACHE CMAKE_CUDA_ARCHITECTURES PROPERTY HELPSTRING)
  if(help MATCHES "specified on the command line")
    message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES is not read here; give -UCMAKE_CUDA_ARCHITECTURES and for example "
      "-DKVEVAL_CUDA_ARCHS=\"8.0 8.9 9.0\"")
  endif()
endfunction()

# cuda_archs(WANTED OUT): "8.0 8.9 9.0" (or with commas, or semicolons) as nvcc's numbers, "80-real;89-real;90". The
# newest one is kept in a form that later GPUs can translate too. WANTED empty: archs_here.
function(cuda_archs wanted out)
  string(REGEX REPLACE "[ ,;]+" ";" wanted "${wanted}")
  list(REMOVE_ITEM wanted "")
  set(why "KVEVAL_CUDA_ARCHS")
  if(NOT wanted)
    archs_here(wanted why)
  endif()
  nvcc_knows(known)
  set(numbers)
  foreach(arch IN LISTS wanted)
    if(NOT arch MATCHES "^([89]|[1-9][0-9])[.][0-9]$")
      message(FATAL_ERROR "KVEVAL_CUDA_ARCHS: \"${arch}\" is no compute capability of 8.0 or above; give for example "
        "\"8.0 8.9 9.0\"")
    endif()
    if(known AND NOT arch IN_LIST known)
      message(FATAL_ERROR "KVEVAL_CUDA_ARCHS: this nvcc does not know compute capability ${arch}; leave it out, or use a "
        "CUDA toolkit that does")
    endif()
    string(REPLACE "." "" number "${arch}")
    list(APPEND numbers ${number})
  endforeach()
  list(REMOVE_DUPLICATES numbers)
  list(SORT numbers COMPARE NATURAL)
  list(POP_BACK numbers newest)
  list(TRANSFORM numbers APPEND -real)
  string(REPLACE ";" " " said "${wanted}")
  message(STATUS "CUDA backend: for compute capability ${said} (${why})")
  set(${out} ${numbers} ${newest} PARENT_SCOPE)
endfunction()
