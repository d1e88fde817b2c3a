# SPDX-License-Identifier: BSD-3-Clause
# Random changes of files that the last commits changed: do the tests see them (tests/mutate)? The range goes back until
# there is code enough. CI tries as many as fit in two minutes, --full twenty; what is asked for is what tests that
# catch 60 % (--full: 80 %) would miss by chance once in a thousand times. The commit is the seed, so that a result can
# be had again.
configure_release
build release
mutate_size="--recent;1000;--count;12;--jobs;2;--seconds;120;--test-seconds;30;--at-least;60;--by-chance;0.001"
if [ -n "${STARLING_TESTS_FULL:-}" ]; then
  mutate_size="--recent;5000;--count;20;--at-least;80;--by-chance;0.001"
fi
mutate_seed=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo 1)
mkdir -p "$root/build/mutate/ctest"
cat >"$root/build/mutate/ctest/CTestTestfile.cmake" <<END
add_test(sample "$(command -v python3)" "-B" "$root/tests/mutate/mutate" "--seed" "$mutate_seed"
  ${mutate_size//;/ })
set_tests_properties(sample PROPERTIES RUN_SERIAL TRUE TIMEOUT 7200)
END
parts+=("mutate=$root/build/mutate/ctest")
