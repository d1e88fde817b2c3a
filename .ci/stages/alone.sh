# SPDX-License-Identifier: BSD-3-Clause
# Sources compile by themselves. The builds of CI give the compiler several at a time, where one may live on what its
# neighbour includes; here are those that the last commits changed, 24 of them, as a user's build compiles them. --full
# does so with all.
alone=$root/build/alone
run_step configure-alone cmake --preset release -B "$alone" -DSTARLING_TESTS=ON -DSTARLING_BENCH=ON
alone_sources() {
  local known file
  known=$(ninja -C "$alone" -t targets all)
  git -C "$root" log --format= --name-only --diff-filter=d -- '*.cpp' 2>/dev/null | awk '!seen[$0]++' | while read -r file; do
    # A model or a fuzzer is no part of this build's objects, and a file may be gone since.
    case $known in *"/${file##*/}.o: "*) if [ -f "$root/$file" ]; then printf '%s^\n' "$root/$file"; fi ;; esac
  done | head -24
}
mapfile -t alone_targets < <(alone_sources)
if [ ${#alone_targets[@]} != 0 ]; then
  run_step build-alone ninja -C "$alone" "-j$jobs" "${alone_targets[@]}"
fi
