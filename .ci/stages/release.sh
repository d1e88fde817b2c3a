# SPDX-License-Identifier: BSD-3-Clause
# The build that users get, plugins as .so files.
configure release -DSTARLING_TESTS=ON -DSTARLING_BENCH=ON -DSTARLING_FAST_TESTS=ON
build release
parts+=("release=$root/build/release")
