# SPDX-License-Identifier: BSD-3-Clause
# p4est, forests of octrees, with its own tests and those of libsc; the first run downloads and builds it.
. "$root/.ci/thirdparty.sh"
thirdparty p4est
