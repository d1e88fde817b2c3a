# SPDX-License-Identifier: BSD-3-Clause
# Rules on the sources: which layer may include which, headers that compile alone, sizes of files.
if [ -x "$root/.ci/check-layers" ]; then
  run_step check-layers "$root/.ci/check-layers"
fi
