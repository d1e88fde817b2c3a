# SPDX-License-Identifier: BSD-3-Clause
# LAMMPS beside another MPI's build of it; the first run downloads and builds it.
. "$root/.ci/thirdparty.sh"
thirdparty lammps
