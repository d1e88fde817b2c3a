// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  libucp, loaded when it is needed. Layer: plugin.
///
/// UCX reads its environment when it is loaded, takes signals, and cannot be unloaded. So it is opened here,
/// after the environment has been set, and never closed; and a machine without it can still read the plugin.
///
/// Threads: load() by one thread at a time. Ownership: the library stays until the process ends.

#include <ucp/api/ucp.h>

#include "core/result.hpp"

namespace starling::btl::ucx {

/// The functions of libucp that are used, under their names without the prefix.
struct Library {
// clang-format would lay the list out anew each time.
// clang-format off
#define STARLING_UCP_FUNCTIONS(F) \
  F(get_version) F(config_read) F(config_modify) F(config_release) F(init_version) F(cleanup) \
  F(worker_create) F(worker_destroy) F(worker_query) F(worker_release_address) \
  F(worker_get_efd) F(worker_arm) F(worker_progress) F(worker_set_am_recv_handler) F(ep_create) \
  F(ep_close_nbx) F(ep_flush_nbx) F(am_send_nbx) F(am_data_release) F(tag_send_nbx) F(tag_recv_nbx) \
  F(mem_map) F(mem_unmap) F(rkey_pack) F(rkey_buffer_release) F(ep_rkey_unpack) F(rkey_destroy) \
  F(put_nbx) F(get_nbx) F(atomic_op_nbx) F(request_cancel) F(request_check_status) F(request_free)
// clang-format on
#define STARLING_UCP_MEMBER(NAME) decltype(&::ucp_##NAME) NAME = nullptr;
  STARLING_UCP_FUNCTIONS(STARLING_UCP_MEMBER)
#undef STARLING_UCP_MEMBER
  const char* (*status_text)(ucs_status_t) = nullptr;  ///< ucs_status_string
};

/// Sets what UCX reads while it is loaded (only what the user has not set), loads it once, and finds its
/// functions. Errors: Errc::unsupported, with the loader's reason.
[[nodiscard]] Result<const Library*> load();

}  // namespace starling::btl::ucx
