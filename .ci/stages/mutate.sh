# SPDX-License-Identifier: BSD-3-Clause
# Random changes of files that the last commits changed: do the tests see them (tests/mutate)? CI tries a few in
# minutes, which show that the tests see anything at all; --full tries twenty and asks for what a sample of code with
# 85 % misses by chance once in 200 times. The commit is the seed, so that a result can be had again.
configure release -DSTARLING_TESTS=ON -DSTARLING_BENCH=ON
build release
mutate_since=HEAD~5 mutate_size="--count;6;--seconds;240;--at-least;17"
if [ -n "${STARLING_TESTS_FULL:-}" ]; then
  mutate_since=HEAD~50 mutate_size="--count;20;--at-least;65"
fi
mutate_seed=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo 1)
mkdir -p "$root/build/mutate/ctest"
cat >"$root/build/mutate/ctest/CTestTestfile.cmake" <<END
add_test(sample "$(command -v python3)" "-B" "$root/tests/mutate/mutate" "--seed" "$mutate_seed"
  "--changed-since" "$mutate_since" ${mutate_size//;/ })
set_tests_properties(sample PROPERTIES RUN_SERIAL TRUE TIMEOUT 7200)
END
parts+=("mutate=$root/build/mutate/ctest")
