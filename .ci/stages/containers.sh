# SPDX-License-Identifier: BSD-3-Clause
# Ranks in a minimal Debian that has nothing of Starling's installed (tests/np/servers/containers.py).
install_packages containers
configure release -DSTARLING_TESTS=ON -DSTARLING_BENCH=ON
build release
system=$root/build/containers/system
if [ "$(id -u)" = 0 ] && [ ! -f "$system.made" ]; then
  rm -rf "$system"
  mkdir -p "$system"
  run_step minimal-system debootstrap --variant=minbase bookworm "$system" http://deb.debian.org/debian
  touch "$system.made"
fi
mkdir -p "$root/build/containers/ctest"
cat >"$root/build/containers/ctest/CTestTestfile.cmake" <<END
add_test(minimal_system "$(command -v python3)" "-B" "$root/tests/np/servers/containers.py" "$root/build/release" "-v")
set_tests_properties(minimal_system PROPERTIES TIMEOUT 600 ENVIRONMENT "STARLING_TESTS_SYSTEM=$system")
END
parts+=("containers=$root/build/containers/ctest")
