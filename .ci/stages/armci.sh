# SPDX-License-Identifier: BSD-3-Clause
# ARMCI-MPI, which Global Arrays and NWChem stand on, with its own checks; the first run downloads and builds it.
. "$root/.ci/thirdparty.sh"
thirdparty armci
