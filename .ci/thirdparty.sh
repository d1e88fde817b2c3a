# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the stages of third-party programs: installs the release build aside and hands over the tests.

# What is installed: a shard that is run by itself compiles no tests for it.
make_product() {
  local targets
  targets=$("$root/.ci/combine-tests" --product "$root/build/release") || return
  # shellcheck disable=SC2086  # the list is split on purpose
  ninja -C "$root/build/release" "-j$jobs" $targets
}

# thirdparty <program>: builds tests/thirdparty/<program> with every MPI that is here, as a part of the tests.
thirdparty() {
  install_packages thirdparty
  configure release -DSTARLING_TESTS=ON -DSTARLING_BENCH=ON
  run_step build-release make_product
  local prefix=$root/build/thirdparty/prefix folder=$root/build/thirdparty/ctest/$1 status=0
  run_step "install-thirdparty" cmake --install "$root/build/release" --prefix "$prefix"
  say "build-$1: $root/tests/thirdparty/$1 --build-only"
  mkdir -p "$logs"
  "$root/tests/thirdparty/$1" --prefix "$prefix" --build-only >"$logs/build-$1.log" 2>&1 || status=$?
  # 77: not possible here. Its tests find that again and are listed as skipped.
  if [ "$status" != 0 ] && [ "$status" != 77 ]; then
    tail -25 "$logs/build-$1.log"
    stop "$1 was not built; the cause is above" "by hand: tests/thirdparty/$1 --build-only"
  fi
  "$root/tests/thirdparty/$1" --prefix "$prefix" --ctest "$folder"
  parts+=("thirdparty=$folder")
}
