// SPDX-License-Identifier: BSD-3-Clause
// The library that shm_needs_absent is linked to.

extern "C" int starling_test_absent();
extern "C" int starling_test_absent() { return 0; }
