#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs the build, moves the installed tree, and uses it from its new place as a user would: wrappers, pkg-config, CMake's
# find_package(MPI), mpiexec. Usage: install_test.sh <build folder> <source folder>
set -eu
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "install_test: $1" >&2
  exit 1
}

cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "the installation failed"; }
mv "$work/first" "$work/moved"
prefix=$work/moved
unset LD_LIBRARY_PATH MPI_CC MPI_CXX

"$prefix/bin/mpicc" -O1 "$source/examples/hello.c" -o "$work/hello"
readelf -d "$work/hello" | grep -q "RUNPATH.*\[$prefix/lib\]" || fail "hello has no RUNPATH to $prefix/lib"
needed=$(readelf -d "$work/hello" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^libc\.' | tr '\n' ' ')
[ "$needed" = "libmpi_abi.so.1 " ] || fail "hello needs $needed, expected libmpi_abi.so.1 only"
lines=$("$prefix/bin/mpiexec" -n 2 "$work/hello" | grep -c 'of 2 on')
[ "$lines" = 2 ] || fail "hello printed $lines lines, expected 2"
printf '#include <mpi.h>\nint main(int c, char** v) { MPI_Init(&c, &v); MPI_Finalize(); }\n' >"$work/plus.cc"
"$prefix/bin/mpicxx" "$work/plus.cc" -o "$work/plus"
"$prefix/bin/mpiexec" -n 1 "$work/plus"

for page in mpiexec mpirun mpicc mpicxx mpifort starling-info; do
  [ -f "$prefix/share/man/man1/$page.1" ] || fail "there is no manual page $page.1"
done
printf '#include <mpi.h>\nint main(void) { return MPI_Comm_c2f(MPI_COMM_NULL) == MPI_Type_c2f(MPI_INT); }\n' \
  >"$work/old.c"
"$prefix/bin/mpicc" "$work/old.c" -o "$work/old"
"$work/old" || fail "a program with names outside the ABI does not run"

if [ -d "$prefix/lib/starling/fortran" ]; then
  for how in f08 mpi mpif; do
    unset MPI_FC
    "$prefix/bin/mpifort" "$source/examples/hello_$how.f90" -o "$work/hello_$how"
    lines=$("$prefix/bin/mpiexec" -n 2 "$work/hello_$how" | grep -c 'of 2')
    [ "$lines" = 2 ] || fail "hello_$how printed $lines lines, expected 2"
  done
  PATH=$prefix/bin:$PATH cmake -S "$source/tests/unit/tools/find_mpi_fortran" -B "$work/fortran" -DEXAMPLES="$source/examples" \
    >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "find_package(MPI COMPONENTS Fortran) failed"; }
  cmake --build "$work/fortran" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "the Fortran project does not build"; }
  ctest --test-dir "$work/fortran" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "the Fortran project's program does not run"; }
  if command -v pkg-config >/dev/null; then
    flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs mpifort_abi)
    gfortran "$source/examples/hello_mpi.f90" $flags -o "$work/fortran-by-pkg-config"
    LD_LIBRARY_PATH=$prefix/lib "$prefix/bin/mpiexec" -n 1 "$work/fortran-by-pkg-config" >/dev/null
  fi
  # A tree for another compiler: the same one under another name, whose folder is gone.
  tree=$("$prefix/bin/mpifort" -showme:tree)
  told=$("$prefix/bin/starling-info" --fortran --parsable | grep trees)
  [ "$told" = "fortran.trees=$tree" ] || fail "starling-info tells $told, expected the tree $tree"
  rm -r "$prefix/lib/starling/fortran/$tree"
  told=$("$prefix/bin/starling-info" --fortran)
  case $told in
    *starling-fortran-build*) ;;
    *) fail "starling-info does not tell how to make modules: $told" ;;
  esac
  said=$("$prefix/bin/starling-fortran-build" no-such-compiler 2>&1) && fail "starling-fortran-build took no-such-compiler"
  [ "$said" = "starling-fortran-build: the compiler 'no-such-compiler' is not in the PATH" ] || fail "it says: $said"
  "$prefix/bin/starling-fortran-build" gfortran >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "starling-fortran-build failed"; }
  "$prefix/bin/mpifort" "$source/examples/hello_mpi.f90" -o "$work/hello_again"
  "$prefix/bin/mpiexec" -n 1 "$work/hello_again" >/dev/null || fail "a program with the tree that was built does not run"
fi

if command -v pkg-config >/dev/null; then
  flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs mpi_abi)
  cc "$source/examples/hello.c" $flags -o "$work/by-pkg-config"
  LD_LIBRARY_PATH=$prefix/lib "$prefix/bin/mpiexec" -n 1 "$work/by-pkg-config" >/dev/null
fi

PATH=$prefix/bin:$PATH cmake -S "$source/tests/unit/tools/find_mpi" -B "$work/user" -DEXAMPLES="$source/examples" \
  >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "find_package(MPI) failed"; }
# The same by the compilers alone, with another MPI's mpiexec in PATH: the recipe of the user guide.
mkdir "$work/other"
printf '#!/bin/sh\nexit 1\n' >"$work/other/mpiexec"
chmod +x "$work/other/mpiexec"
PATH=$work/other:$PATH cmake -S "$source/tests/unit/tools/find_mpi" -B "$work/named" -DEXAMPLES="$source/examples" \
  -DMPI_C_COMPILER="$prefix/bin/mpicc" -DMPI_CXX_COMPILER="$prefix/bin/mpicxx" \
  -DMPIEXEC_EXECUTABLE="$prefix/bin/mpiexec" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "the compilers' names do not do"; }
cmake --build "$work/named" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "that project does not build"; }
ctest --test-dir "$work/named" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "that project's programs do not run"; }
grep -q -e '-DMPIEXEC_EXECUTABLE=/opt/starling/bin/mpiexec' "$source/docs/user-guide.md" || fail "the user guide lacks the recipe"

grep -q "^MPIEXEC_EXECUTABLE:FILEPATH=$prefix/bin/mpiexec$" "$work/user/CMakeCache.txt" ||
  fail "find_package(MPI) took another mpiexec: $(grep '^MPIEXEC_EXECUTABLE' "$work/user/CMakeCache.txt")"
cmake --build "$work/user" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "the user's project does not build"; }
ctest --test-dir "$work/user" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "the user's program does not run"; }
