# SPDX-License-Identifier: BSD-3-Clause
# HPC Challenge: HPL, PTRANS, RandomAccess, FFT, b_eff; the first run downloads and builds it.
. "$root/.ci/thirdparty.sh"
thirdparty hpcc
