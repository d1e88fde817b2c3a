# SPDX-License-Identifier: BSD-3-Clause
# Nodes made of namespaces: the programs of tests/mpi over each network and each bootstrap (tests/cluster).
configure release -DSTARLING_TESTS=ON -DSTARLING_BENCH=ON
build release
mkdir -p "$root/build/cluster"
cat >"$root/build/cluster/CTestTestfile.cmake" <<END
add_test(cluster "$(command -v python3)" "-B" "$root/tests/cluster/run.py" "$root/build/release" "--full" "-v")
set_tests_properties(cluster PROPERTIES TIMEOUT 14400)
END
parts+=("full=$root/build/cluster")
