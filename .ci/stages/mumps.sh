# SPDX-License-Identifier: BSD-3-Clause
# MUMPS, a direct solver in Fortran, beside the other MPIs' answers; the first run downloads and builds it.
. "$root/.ci/thirdparty.sh"
thirdparty mumps
