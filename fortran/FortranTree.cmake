# SPDX-License-Identifier: BSD-3-Clause
# starling_fortran_tree(<variable>): the name of the folder for this compiler's modules. tools/mpicc/mpicc.in finds the
# same name by asking the compiler.
function(starling_fortran_tree variable)
  string(REGEX MATCH "^[0-9]+" major "${CMAKE_Fortran_COMPILER_VERSION}")
  if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
    set(name gfortran-15) # the version of the modules' format
    if(major GREATER_EQUAL 15)
      set(name gfortran-16)
    elseif(major LESS 9)
      message(FATAL_ERROR "gfortran ${CMAKE_Fortran_COMPILER_VERSION} is too old for mpi_f08: 9 or later is needed; "
        "name another compiler with -DCMAKE_Fortran_COMPILER, or build without Fortran: -DSTARLING_FORTRAN=OFF")
    endif()
  elseif(CMAKE_Fortran_COMPILER_ID STREQUAL "LLVMFlang")
    set(name flang-${major})
  else()
    string(TOLOWER "${CMAKE_Fortran_COMPILER_ID}-${major}" name)
  endif()
  set(${variable} ${name} PARENT_SCOPE)
endfunction()
