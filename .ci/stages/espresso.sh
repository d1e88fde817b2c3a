# SPDX-License-Identifier: BSD-3-Clause
# Quantum ESPRESSO (Fortran) beside a peer; the first run downloads it and builds it twice, 5 to 10 minutes each.
. "$root/.ci/thirdparty.sh"
thirdparty espresso
