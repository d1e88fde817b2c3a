# SPDX-License-Identifier: BSD-3-Clause
# What plugin authors find in an installation: headers under include/starling and the package for find_package(Starling).
# All paths in it are relative to its own place, so the prefix can be moved.
include(CMakePackageConfigHelpers)

set(package_directory lib/cmake/Starling)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/StarlingConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/StarlingConfig.cmake INSTALL_DESTINATION ${package_directory}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/StarlingConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/StarlingConfig.cmake ${PROJECT_BINARY_DIR}/package/StarlingConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/StarlingPlugin.cmake ${PROJECT_SOURCE_DIR}/cmake/StarlingConformance.cmake DESTINATION ${package_directory})
install(TARGETS starling_pml_engine starling_btl_net ARCHIVE DESTINATION lib)
install(DIRECTORY core params frameworks DESTINATION include/starling FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY tests/conformance DESTINATION share/starling/conformance/tests
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cpp" PATTERN "README.md")
install(DIRECTORY examples/site-plugin examples/pml-plugin DESTINATION share/starling/examples
  USE_SOURCE_PERMISSIONS PATTERN build EXCLUDE)
