# SPDX-License-Identifier: BSD-3-Clause
# Global Arrays, distributed arrays on windows, with its own test programs; the first run downloads and builds it.
. "$root/.ci/thirdparty.sh"
thirdparty ga
