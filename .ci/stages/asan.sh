# SPDX-License-Identifier: BSD-3-Clause
# Addresses, leaks and undefined behaviour. `large` tests (64 ranks) are left to the release build.
configure asan -DSTARLING_BENCH=OFF -DSTARLING_FAST_TESTS=ON -DSTARLING_PRECOMPILE=ON
build_tested asan
parts+=("asan=$root/build/asan")
