#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Holds what the compiler wrappers print against what build systems ask for. Usage: wrappers_test.sh <bin>
set -u
bin=$1
prefix=$(readlink -f "$bin/..")
unset MPI_CC MPI_CXX
failures=0

# expect <what> <wanted> <got>
expect() {
  if [ "$2" != "$3" ]; then
    printf '%s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3" >&2
    failures=$((failures + 1))
  fi
}

link="-L$prefix/lib -Wl,-rpath,$prefix/lib -Wl,--enable-new-dtags -lmpi_abi"
export MPI_CC=cc MPI_CXX=c++
expect "-show prints the command that links" "cc -I$prefix/include $link" "$("$bin/mpicc" -show)"
expect "-showme is the same" "$("$bin/mpicc" -show)" "$("$bin/mpicc" -showme)"
expect "no link flags with -c" "cc -I$prefix/include -c x.c" "$("$bin/mpicc" -show -c x.c)"
for option in -E -S -M -MM; do
  expect "no link flags with $option" "cc -I$prefix/include $option x.c" "$("$bin/mpicc" -show $option x.c)"
done
expect "dependency files do not keep from linking" "cc -I$prefix/include -MD -MF x.d x.c $link" \
  "$("$bin/mpicc" -show -MD -MF x.d x.c)"
expect "user's flags keep their order" "cc -I$prefix/include a.o -lb -o '-c x' $link" \
  "$("$bin/mpicc" a.o -lb -o '-c x' -show)"
expect "quotes survive" "cc -I$prefix/include '-DA=\"b c\"' x.c $link" "$("$bin/mpicc" -show '-DA="b c"' x.c)"
expect "-showme:compile" "-I$prefix/include" "$("$bin/mpicc" -showme:compile)"
expect "-showme:link" "$link" "$("$bin/mpicc" -showme:link)"
expect "-showme:incdirs" "$prefix/include" "$("$bin/mpicc" -showme:incdirs)"
expect "-showme:libdirs" "$prefix/lib" "$("$bin/mpicc" -showme:libdirs)"
expect "-showme:libs" "mpi_abi" "$("$bin/mpicc" -showme:libs)"
expect "-compile-info" "cc -I$prefix/include -c" "$("$bin/mpicc" -compile-info)"
expect "-link-info" "cc $link" "$("$bin/mpicc" -link-info)"
expect "C++ wrapper takes MPI_CXX" "c++ -I$prefix/include -c x.cc" "$("$bin/mpicxx" -show -c x.cc)"
expect "mpic++ is mpicxx" "$("$bin/mpicxx" -show)" "$("$bin/mpic++" -show)"
expect "mpicc_abi is mpicc" "$("$bin/mpicc" -show)" "$("$bin/mpicc_abi" -show)"
expect "--version is the compiler's" "$(cc --version)" "$("$bin/mpicc" --version)"
expect "a launcher before the compiler" "env cc -I$prefix/include -c x.c" \
  "$(MPI_CC='env cc' "$bin/mpicc" -show -c x.c)"

version=$("$bin/mpicc" -showme:version)
case $version in
  "mpicc: Starling "*) ;;
  *) expect "-showme:version" "mpicc: Starling ..." "$version" ;;
esac
"$bin/mpicc" -showme:nonsense >/dev/null 2>&1 && expect "unknown -showme is refused" 1 0
MPI_CC=/nonexistent/cc "$bin/mpicc" -c x.c >/dev/null 2>&1
expect "a missing compiler is named" 127 $?
"$bin/mpifort" x.f90 >/dev/null 2>&1
expect "mpifort refuses" 1 $?

[ $failures = 0 ] || exit 1
