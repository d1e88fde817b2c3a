# SPDX-License-Identifier: BSD-3-Clause
# The build that users get, plugins as .so files.
configure_release
build release
parts+=("release=$root/build/release")
