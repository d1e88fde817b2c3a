# SPDX-License-Identifier: BSD-3-Clause
# FFTW's MPI transforms and their own checks; the first run downloads and builds it.
. "$root/.ci/thirdparty.sh"
thirdparty fftw
