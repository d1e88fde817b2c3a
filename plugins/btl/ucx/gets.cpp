// SPDX-License-Identifier: BSD-3-Clause
// Large messages from buffer to buffer, by UCX's tagged messages. UCX moves them as the fabric can best: read
// by the adapter, or written to a socket. frameworks/btl/net/gets.cpp says what is asked and given.
// Layer: plugin. Design: docs/design/network.md, "Gets".

#include "plugins/btl/ucx/component.hpp"

namespace starling::btl {
namespace {

constexpr std::uint64_t kWholeTag = ~std::uint64_t{0};

}  // namespace

UcxEndpoint::Taken UcxEndpoint::receive(net::Get& get) noexcept {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                       UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  param.cb.recv = &UcxEndpoint::got;
  param.user_data = &get;
  ucp_worker_h const worker = component_.worker_.get();
  const ucs_status_ptr_t answer =
      component_.library_.tag_recv_nbx(worker, get.to, get.bytes, get.tag, kWholeTag, &param);
  if (UCS_PTR_IS_ERR(answer)) return Taken::failed;
  get.request = answer;
  return Taken::posted;
}

void UcxEndpoint::got(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                      void* get) noexcept {
  auto& done = *static_cast<net::Get*>(get);
  UcxComponent& component = static_cast<UcxEndpoint*>(done.link)->component_;
  component.gets_.ended(done, status == UCS_OK && info->length == done.bytes);
  ++component.events_;
  component.library_.request_free(request);
}

/// A lost peer's endpoint has been closed, so nothing writes into the buffer any more.
void UcxEndpoint::cancel(net::Get& get) noexcept {
  component_.library_.request_cancel(component_.worker_.get(), get.request);
}

UcxEndpoint::Taken UcxEndpoint::serve(const net::AskData& what) noexcept {
  if (ep_ == nullptr && !may_open()) return Taken::again;  // until it is open again, or lost
  if (ep_ == nullptr && !component_.open_endpoint(*this)) return Taken::failed;
  ucp_request_param_t param{};
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  param.cb.send = &UcxEndpoint::served;
  param.user_data = this;
  const ucs_status_ptr_t answer =
      component_.library_.tag_send_nbx(ep_, reinterpret_cast<const void*>(what.address),
                                       static_cast<std::size_t>(what.bytes), what.tag, &param);
  if (UCS_PTR_IS_ERR(answer)) return Taken::failed;
  unconfirmed_ = true;
  return answer != nullptr ? Taken::posted : Taken::done;
}

void UcxEndpoint::served(void* request, ucs_status_t, void* self) noexcept {
  // A failure is told by the error handler too, which knows more.
  auto& link = *static_cast<UcxEndpoint*>(self);
  link.component_.gets_.served(link);
  ++link.component_.events_;
  link.component_.library_.request_free(request);
}

}  // namespace starling::btl
