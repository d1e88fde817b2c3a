# SPDX-License-Identifier: BSD-3-Clause
# MPICH's test suite, unchanged, built with our wrappers; the first run downloads and builds it.
. "$root/.ci/thirdparty.sh"
thirdparty mpich
