# SPDX-License-Identifier: BSD-3-Clause
# starling_add_conformance_tests(TARGET <plugin> FRAMEWORK <framework> [SET <parameter>=<value>...]
#                                [LAUNCHER <command>...] [PLUGIN <file or framework/name>] [TIMEOUT <seconds>]):
# adds the test conformance/<plugin>, which holds that plugin to what its framework's interface header promises. The suite
# is built once for each framework, with the GoogleTest of this machine. pmi: the suite is one process of a job, so it needs
# what starts one: LAUNCHER, or Starling's mpiexec with 3 processes.
set(STARLING_CONFORMANCE_btl messages.cpp facts.cpp)

function(starling_conformance_suite framework)
  set(suite starling_conformance_${framework})
  if(TARGET ${suite})
    return()
  endif()
  if(NOT STARLING_CONFORMANCE_${framework})
    message(FATAL_ERROR "There is no conformance suite for framework '${framework}', expected one of btl")
  endif()
  find_package(GTest QUIET)
  if(NOT TARGET GTest::gtest)
    message(FATAL_ERROR "The conformance suites need GoogleTest (on Debian: apt install libgtest-dev)")
  endif()
  set(folder ${STARLING_CONFORMANCE_ROOT}/tests/conformance)
  list(TRANSFORM STARLING_CONFORMANCE_${framework} PREPEND ${folder}/${framework}/ OUTPUT_VARIABLE sources)
  add_executable(${suite} ${folder}/main.cpp ${folder}/plugin.cpp ${sources})
  target_include_directories(${suite} PRIVATE ${STARLING_CONFORMANCE_ROOT})
  target_compile_definitions(${suite} PRIVATE STARLING_CONFORMANCE_FRAMEWORK="${framework}")
  target_link_libraries(${suite} PRIVATE Starling::starling GTest::gtest)
endfunction()

function(starling_add_conformance_tests)
  cmake_parse_arguments(ARG "" "TARGET;FRAMEWORK;PLUGIN;TIMEOUT" "SET;LAUNCHER" ${ARGN})
  if(NOT ARG_TARGET OR NOT ARG_FRAMEWORK)
    message(FATAL_ERROR "starling_add_conformance_tests: expected TARGET <plugin> FRAMEWORK <framework>")
  endif()
  starling_conformance_suite(${ARG_FRAMEWORK})
  if(NOT ARG_PLUGIN)
    set(ARG_PLUGIN $<TARGET_FILE:${ARG_TARGET}>)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  list(TRANSFORM ARG_SET PREPEND "--set;" OUTPUT_VARIABLE settings)
  add_test(NAME conformance/${ARG_TARGET}
    COMMAND ${ARG_LAUNCHER} $<TARGET_FILE:starling_conformance_${ARG_FRAMEWORK}> ${ARG_PLUGIN} ${settings})
  set_tests_properties(conformance/${ARG_TARGET} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()
