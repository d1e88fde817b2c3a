# SPDX-License-Identifier: BSD-3-Clause
# The same sources with the plugins linked in.
configure builtin -DSTARLING_FAST_TESTS=ON -DSTARLING_PRECOMPILE=ON
build_tested builtin
parts+=("builtin=$root/build/builtin")
