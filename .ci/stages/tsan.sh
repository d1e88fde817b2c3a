# SPDX-License-Identifier: BSD-3-Clause
# Data races between the threads of one process. `large` tests (64 ranks) are left to the release build.
configure tsan -DSTARLING_BENCH=OFF -DSTARLING_FAST_TESTS=ON -DSTARLING_PRECOMPILE=ON
build_tested tsan
parts+=("tsan=$root/build/tsan")
