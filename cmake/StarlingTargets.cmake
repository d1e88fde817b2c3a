# SPDX-License-Identifier: BSD-3-Clause
# How Starling's own targets are made: one OBJECT library per folder, one MODULE per plugin, one program per test.

# starling_shares_headers(<target> [<option>...]): with STARLING_PRECOMPILE the standard headers that most files include
# are read once for all targets with these compiler options, instead of once per file. Warnings are off then: those of
# gcc 12 about its own headers, false ones, come back with precompiled headers. The build file by file has them on.
function(starling_shares_headers target)
  if(NOT STARLING_PRECOMPILE)
    return()
  endif()
  string(MAKE_C_IDENTIFIER "starling_headers${ARGN}" headers)
  if(NOT TARGET ${headers})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers.cpp CONTENT "")
    add_library(${headers} OBJECT ${PROJECT_BINARY_DIR}/headers.cpp)
    target_link_libraries(${headers} PRIVATE starling_flags)
    target_compile_options(${headers} PRIVATE ${ARGN} -w)
    target_precompile_headers(${headers} PRIVATE <algorithm> <array> <atomic> <charconv> <cstdint> <cstdio> <cstdlib>
      <cstring> <functional> <map> <memory> <mutex> <optional> <span> <string> <string_view> <unordered_map> <utility>
      <variant> <vector>)
  endif()
  target_compile_options(${target} PRIVATE -w)
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# starling_builds_fast(<target>): with STARLING_FAST_TESTS several sources of a test go into one compiler run, which has
# read GoogleTest and the standard headers before, and optimises less: most of the time of a build goes into tests. The
# checks that a sanitizer puts into a test's own code take more than half of that time where they are optimised.
function(starling_builds_fast target)
  if(NOT STARLING_FAST_TESTS)
    return()
  endif()
  set(optimised $<IF:$<BOOL:${STARLING_SANITIZED}>,-O0,-O1>)
  if(NOT TARGET starling_test_headers)
    # A program as the tests are: for a library the compiler makes another kind of code, and refuses the headers.
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "int main() {}")
    add_executable(starling_test_headers ${PROJECT_BINARY_DIR}/test_headers.cpp)
    target_link_libraries(starling_test_headers PRIVATE starling_flags GTest::gtest)
    target_compile_options(starling_test_headers PRIVATE ${optimised})
    target_precompile_headers(starling_test_headers PRIVATE <gtest/gtest.h> <algorithm> <array> <atomic> <chrono> <cstdint>
      <cstdio> <cstdlib> <cstring> <functional> <map> <memory> <mutex> <optional> <random> <set> <span> <string>
      <string_view> <thread> <unordered_map> <utility> <vector>)
  endif()
  target_compile_options(${target} PRIVATE ${optimised})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  target_precompile_headers(${target} REUSE_FROM starling_test_headers)
endfunction()

# starling_folder(<name> SOURCES ... [LIBS ...]): the objects of one folder of libstarling.
function(starling_folder name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_library(starling_${name} OBJECT ${ARG_SOURCES})
  target_link_libraries(starling_${name} PUBLIC starling_flags ${ARG_LIBS})
  starling_shares_headers(starling_${name})
  set_property(GLOBAL APPEND PROPERTY STARLING_CORE_FOLDERS starling_${name})
endfunction()

# starling_start_order(): what a start calls lies together in a library. The kernel maps 16 pages around one that is
# touched; scattered over a file, these functions would have nearly all of it mapped, and taken down again at exit.
# cmake/start_order has their names (bench/start-order writes it); a name that is no more has no effect. GNU ld takes an
# order only by its script, so that is asked for and gets the names. They stay in .text: valgrind knows no other section.
# Other linkers show no script, and do without. Sets STARLING_START_ORDER to the script.
function(starling_start_order)
  if(NOT STARLING_STATIC_RUNTIME)
    return()
  endif()
  file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/start_order names REGEX "^[^#]")
  list(TRANSFORM names REPLACE "(.+)" "    *(.text.\\1 .text.\\1.*)")
  list(JOIN names "\n" names)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -shared -nostdlib -Wl,-z,noseparate-code,--verbose -x c++ /dev/null
    -o /dev/null OUTPUT_VARIABLE script ERROR_QUIET)
  string(REGEX REPLACE ".*======\n(.*)\n======.*" "\\1" script "${script}")
  if(script MATCHES "\n  \\.text +:[^{]+{\n")
    string(REPLACE "${CMAKE_MATCH_0}" "${CMAKE_MATCH_0}${names}\n" script "${script}")
    set(STARLING_START_ORDER ${PROJECT_BINARY_DIR}/start_order.ld CACHE INTERNAL "")
    file(CONFIGURE OUTPUT ${STARLING_START_ORDER} @ONLY CONTENT "@script@")
  endif()
endfunction()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/start_order)
starling_start_order()

# starling_loads_fast(<target>): every process of a job loads this file, so what a load costs counts
# (docs/design/startup.md). Of the C++ runtime it takes the parts that it uses, hidden: opening the shared one and
# looking up its symbols takes longer than all of MPI_Init. Fewer segments are fewer mappings and page faults; what nobody
# calls is left out, for each pointer in it is a relocation and each page of such pointers a copy. The
# unwinder stays shared, opened when the first exception is thrown: one that a program's error handler throws passes
# through our frames, and two copies of the unwinder do not know each other's state.
function(starling_loads_fast target)
  if(NOT STARLING_STATIC_RUNTIME)
    return()
  endif()
  set(unwinder ${PROJECT_SOURCE_DIR}/core/late_unwinder.cpp)
  target_sources(${target} PRIVATE ${unwinder})
  set_source_files_properties(${unwinder} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL
    -Wl,-z,noseparate-code -Wl,-Bsymbolic-functions -Wl,--gc-sections)
  get_target_property(type ${target} TYPE)
  if(STARLING_START_ORDER AND type STREQUAL SHARED_LIBRARY)
    target_link_options(${target} PRIVATE -Wl,-T,${STARLING_START_ORDER})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${STARLING_START_ORDER})
  endif()
endfunction()

# starling_plugin(<framework> <name> SOURCES ... [LIBS ...] [USUAL] [ALWAYS_SHARED]): a component. A .so in lib/starling,
# or linked into libstarling: with STARLING_BUILTIN_PLUGINS all but those that are ALWAYS_SHARED (they have an outside
# dependency), with STARLING_BUILTIN_USUAL those that are USUAL (a job on one node takes them).
function(starling_plugin framework name)
  cmake_parse_arguments(ARG "USUAL;ALWAYS_SHARED" "" "SOURCES;LIBS" ${ARGN})
  set(target starling_${framework}_${name})
  if((STARLING_BUILTIN_PLUGINS AND NOT ARG_ALWAYS_SHARED) OR (STARLING_BUILTIN_USUAL AND ARG_USUAL))
    # A file of an earlier build would take this one's place.
    set(file lib/starling/${framework}_${name}.so)
    file(REMOVE ${PROJECT_BINARY_DIR}/${file})
    install(CODE "file(REMOVE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${file}\")")
    add_library(${target} OBJECT ${ARG_SOURCES})
    target_compile_definitions(${target} PRIVATE STARLING_PLUGIN_BUILTIN
      STARLING_BUILTIN_SYMBOL=starling_builtin_${framework}_${name})
    set_property(GLOBAL APPEND PROPERTY STARLING_BUILTIN_LIST ${framework}_${name})
  else()
    add_library(${target} MODULE ${ARG_SOURCES})
    set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${framework}_${name}
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/starling INSTALL_RPATH "$ORIGIN/..")
    target_link_libraries(${target} PRIVATE starling)
    starling_loads_fast(${target})
    install(TARGETS ${target} LIBRARY DESTINATION lib/starling)
    set_property(GLOBAL APPEND PROPERTY STARLING_SHARED_PLUGINS ${target})
  endif()
  target_compile_definitions(${target} PRIVATE STARLING_PLUGIN_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${target} PRIVATE starling_flags ${ARG_LIBS})
  target_compile_options(${target} PRIVATE -fvisibility=hidden -fno-semantic-interposition)
  starling_shares_headers(${target} -fvisibility=hidden -fno-semantic-interposition)
endfunction()

# starling_write_builtin_list(<file>): the source that lists the plugins which are linked in. Their symbols are
# extern "C", so that the list needs no namespaces.
function(starling_write_builtin_list file)
  get_property(plugins GLOBAL PROPERTY STARLING_BUILTIN_LIST)
  set(declared "")
  set(listed "")
  foreach(plugin IN LISTS plugins)
    string(APPEND declared "extern const starling::plugin::Exported starling_builtin_${plugin};\n")
    string(APPEND listed "      &starling_builtin_${plugin},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
"// SPDX-License-Identifier: BSD-3-Clause
// The plugins that are linked in. Written by CMake.

#include \"frameworks/builtin.hpp\"

extern \"C\" {
${declared}}

namespace starling::plugin {

std::vector<const Exported*> builtins() {
  return {
${listed}  };
}

}  // namespace starling::plugin
")
endfunction()

# starling_test(<name> SOURCES ... [LIBS ...] [LABELS ...]): a GoogleTest program named test_<name>, run by ctest as one test.
function(starling_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
    if(STARLING_SANITIZED)
      set(ARG_TIMEOUT 400)
    endif()
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  target_link_libraries(test_${name} PRIVATE starling starling_flags GTest::gtest GTest::gmock GTest::gtest_main ${ARG_LIBS})
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  starling_builds_fast(test_${name})
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "unit;${ARG_LABELS}")
endfunction()

# starling_fuzzer(<name> SOURCES ... [LIBS ...]): a libFuzzer program in <build>/fuzz, built by the target
# `fuzzers` where STARLING_FUZZ is on (preset fuzz: clang). `./run-tests --full` runs each for 30 seconds.
function(starling_fuzzer name)
  if(NOT STARLING_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE starling starling_flags ${ARG_LIBS})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers fuzz_${name})
endfunction()
