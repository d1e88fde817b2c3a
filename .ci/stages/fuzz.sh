# SPDX-License-Identifier: BSD-3-Clause
# Every fuzzer for 30 seconds; clang only, because g++ has no fuzzing engine.
configure fuzz -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=32 -DSTARLING_PRECOMPILE=ON
if ninja -C "$root/build/fuzz" -t targets all | grep '^fuzzers: ' >/dev/null; then
  run_step build-fuzz ninja -C "$root/build/fuzz" "-j$jobs" fuzzers
fi
for fuzzer in "$root"/build/fuzz/fuzz/*; do
  if [ -f "$fuzzer" ] && [ -x "$fuzzer" ]; then
    parts+=("fuzz:${fuzzer##*/}=$fuzzer")
  fi
done
