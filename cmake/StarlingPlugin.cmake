# SPDX-License-Identifier: BSD-3-Clause
# starling_add_plugin(<framework> <name> SOURCES <file>... [LIBS <library>...] [VERSION <text>]): a plugin outside of
# Starling's tree, as <framework>_<name>.so in the build folder; put that folder into the parameter plugin_path, or
# install the target <framework>_<name> into ${Starling_PLUGIN_DIRECTORY}.
function(starling_add_plugin framework name)
  cmake_parse_arguments(ARG "" "VERSION" "SOURCES;LIBS" ${ARGN})
  if(NOT ARG_VERSION)
    set(ARG_VERSION 0)
  endif()
  set(target ${framework}_${name})
  add_library(${target} MODULE ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${framework}_${name} POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_definitions(${target} PRIVATE STARLING_PLUGIN_VERSION="${ARG_VERSION}")
  target_link_libraries(${target} PRIVATE Starling::starling ${ARG_LIBS})
  # What is not defined anywhere is an error of this build, and not of the job that loads the plugin. A sanitizer's
  # runtime comes with the program.
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()
