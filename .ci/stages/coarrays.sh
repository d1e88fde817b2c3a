# SPDX-License-Identifier: BSD-3-Clause
# OpenCoarrays, gfortran's coarrays on windows, with its own tests; the first run downloads and builds it.
. "$root/.ci/thirdparty.sh"
thirdparty coarrays
