# SPDX-License-Identifier: BSD-3-Clause
# Fortran with another compiler: its modules, its array descriptors, its runtime.
install_packages flang
configure flang
run_step build-flang cmake --build --preset flang "-j$jobs"
parts+=("flang:^mpi/fortran/=$root/build/flang")
