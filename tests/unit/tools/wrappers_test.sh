#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Holds what the compiler wrappers print against what build systems ask for. Usage: wrappers_test.sh <bin>
set -u
bin=$1
prefix=$(readlink -f "$bin/..")
unset MPI_CC MPI_CXX MPICH_CC MPICH_CXX MPICH_FC MPICH_F77 MPICH_F90 OMPI_CC OMPI_CXX OMPI_FC
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

# Which compiler, and what outweighs what.
expect "-cc= outweighs MPI_CC" "clang -I$prefix/include -c x.c" "$("$bin/mpicc" -show -cc=clang -c x.c)"
expect "-cxx= outweighs MPI_CXX" "clang++ -I$prefix/include -c x.cc" "$("$bin/mpicxx" -c x.cc -cxx=clang++ -show)"
expect "-cc= with a question" "tcc" "$("$bin/mpicc" -cc=tcc -showme:command)"
"$bin/mpicc" -cc= -c x.c >/dev/null 2>&1 && expect "-cc= without a compiler is refused" 1 0
for variable in CC CXX; do
  case $variable in CC) wrapper=mpicc ;; *) wrapper=mpicxx ;; esac
  mine=$(eval "echo \$MPI_$variable")
  expect "MPI_$variable outweighs the others' names" "$mine" \
    "$(env "MPICH_$variable=a" "OMPI_$variable=b" "$bin/$wrapper" -showme:command)"
  expect "MPICH_$variable is taken" a \
    "$(env -u "MPI_$variable" "MPICH_$variable=a" "OMPI_$variable=b" "$bin/$wrapper" -showme:command)"
  expect "OMPI_$variable is taken" b "$(env -u "MPI_$variable" "OMPI_$variable=b" "$bin/$wrapper" -showme:command)"
done

# mpi.h alone, and its constants where the user names them, with every warning.
work=$(mktemp -d)
cat >"$work/x.cc" <<'END'
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
  MPI_Allreduce(MPI_IN_PLACE, &argc, 1, MPI_INT, MPI_SUM, comms[0]);
  return MPI_Finalize();
}
END
while read -r compiler flags; do
  command -v "$compiler" >/dev/null || continue
  # shellcheck disable=SC2086
  "$bin/mpicxx" "-cxx=$compiler" $flags -Werror -c "$work/x.cc" -o "$work/x.o" ||
    expect "$compiler $flags says nothing of mpi.h" "nothing" "the above"
done <<'END'
g++ -Wall -Wextra -pedantic -Wzero-as-null-pointer-constant -Wold-style-cast -Wuseless-cast -Wconversion
clang++ -std=c++17 -Weverything -Wno-c++98-compat
END
echo '#include <mpi.h>
int wrong(void) { int comm = MPI_COMM_WORLD; return comm; }' >"$work/x.c"
"$bin/mpicc" -Werror -c "$work/x.c" -o "$work/x.o" 2>/dev/null && expect "a handle is still no integer" 1 0
rm -r "$work"

version=$("$bin/mpicc" -showme:version)
case $version in
  "mpicc: Starling "*) ;;
  *) expect "-showme:version" "mpicc: Starling ..." "$version" ;;
esac
"$bin/mpicc" -showme:nonsense >/dev/null 2>&1 && expect "unknown -showme is refused" 1 0
MPI_CC=/nonexistent/cc "$bin/mpicc" -c x.c >/dev/null 2>&1
expect "a missing compiler is named" 127 $?

# Fortran: where the build has it, and what is said where it has not.
unset MPI_FC
if [ -d "$prefix/lib/starling/fortran" ] && command -v gfortran >/dev/null; then
  tree=$("$bin/mpifort" -showme:tree)
  modules=$prefix/lib/starling/fortran/$tree
  link="-L$prefix/lib -Wl,-rpath,$prefix/lib -Wl,--enable-new-dtags -lmpifort_abi -lmpi_abi"
  export MPI_FC=gfortran
  expect "mpifort knows the folder of modules" yes "$([ -f "$modules/mpi.mod" ] && echo yes)"
  expect "mpifort -show" "gfortran -I$prefix/include -I$modules x.f90 $link" "$("$bin/mpifort" -show x.f90)"
  expect "mpifort compiles" "gfortran -I$prefix/include -I$modules -c x.f90" "$("$bin/mpifort" -show -c x.f90)"
  lenient=
  [ "$(gfortran -dumpversion | cut -d. -f1)" -lt 10 ] || lenient=-fallow-argument-mismatch
  expect "mpif77 also takes calls that differ in their types" \
    "gfortran -I$prefix/include -I$modules ${lenient:+$lenient }-c x.f" "$("$bin/mpif77" -show -c x.f)"
  expect "mpif77 tells it to build systems" "-I$prefix/include -I$modules${lenient:+ $lenient}" \
    "$("$bin/mpif77" -showme:compile)"
  for option in -fsecond-underscore -fno-underscoring; do
    said=$("$bin/mpifort" $option -c x.f 2>&1)
    case $?:$said in
      1:*"$option"*"links"*) ;;
      *) expect "what $option would do is said" "1: the option, links" "$said" ;;
    esac
  done
  expect "MPICH_FC is taken" "$tree" "$(env -u MPI_FC MPICH_FC=gfortran "$bin/mpifort" -showme:tree)"
  expect "mpif77 takes MPICH_F77 first" f77 \
    "$(env -u MPI_FC MPICH_FC=a MPICH_F77=f77 "$bin/mpif77" -showme:command)"
  expect "OMPI_FC is taken" a "$(env -u MPI_FC OMPI_FC=a "$bin/mpifort" -showme:command)"
  expect "-fc= outweighs MPI_FC" a "$("$bin/mpifort" -fc=a -showme:command)"
  expect "mpif90 is mpifort" "$("$bin/mpifort" -show)" "$("$bin/mpif90" -show)"
  expect "mpifort -showme:incdirs" "$prefix/include $modules" "$("$bin/mpifort" -showme:incdirs)"
  expect "mpifort -showme:libs" "mpifort_abi mpi_abi" "$("$bin/mpifort" -showme:libs)"
  expect "mpifort -showme:link" "$link" "$("$bin/mpifort" -showme:link)"
  expect "mpifort --version is the compiler's" "$(gfortran --version)" "$("$bin/mpifort" --version)"
  other=$(mktemp -d)
  printf '#!/bin/sh\necho "flang-new version 99.1"\n' >"$other/flang-new"
  chmod +x "$other/flang-new"
  said=$(MPI_FC=$other/flang-new "$bin/mpifort" -c x.f90 2>&1)
  expect "a compiler without modules is refused" 1 $?
  case $said in
    *"flang-99"*"$tree"*"starling-fortran-build $other/flang-new"*) ;;
    *) expect "what is there and what to do is said" "flang-99, $tree, starling-fortran-build" "$said" ;;
  esac
  MPI_FC=/nonexistent/fc "$bin/mpifort" -c x.f90 >/dev/null 2>&1
  expect "a missing Fortran compiler is named" 127 $?
  rm -r "$other"
else
  said=$("$bin/mpifort" x.f90 2>&1)
  case $?:$said in
    1:*"no Fortran compiler"*) ;;
    *) expect "mpifort says that there is no Fortran" "1: no Fortran compiler" "$said" ;;
  esac
fi

[ $failures = 0 ] || exit 1
