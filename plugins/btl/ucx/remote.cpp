// SPDX-License-Identifier: BSD-3-Clause
// Puts, gets and atomic changes. What is hard: UCX reads operands and writes old values until a request has
// ended, so they lie in records of ours; and a key belongs to one connection, which must not be closed as
// idle meanwhile. Layer: plugin. Design: docs/design/network.md, "One-sided".

#include "plugins/btl/ucx/remote.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "plugins/btl/ucx/component.hpp"

namespace starling::btl {
namespace {

/// Before UCX's packed key.
struct KeyHead {
  std::uint64_t mark = 0x7965'6b78'6375ull;  // "ucxkey"
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t packed_bytes = 0;
};

ucp_atomic_op_t operation(AtomicChange::Kind kind) noexcept {
  switch (kind) {
    case AtomicChange::Kind::add: return UCP_ATOMIC_OP_ADD;
    case AtomicChange::Kind::bit_and: return UCP_ATOMIC_OP_AND;
    case AtomicChange::Kind::bit_or: return UCP_ATOMIC_OP_OR;
    case AtomicChange::Kind::bit_xor: return UCP_ATOMIC_OP_XOR;
    case AtomicChange::Kind::swap: return UCP_ATOMIC_OP_SWAP;
    default: return UCP_ATOMIC_OP_CSWAP;
  }
}

}  // namespace

namespace ucx {

Result<std::unique_ptr<Exposed>> UcxExposed::make(const Library& library, ucp_context_h context,
                                                  std::span<std::byte> memory) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = memory.data();
  params.length = memory.size();
  ucp_mem_h handle = nullptr;
  ucs_status_t status = library.mem_map(context, &params, &handle);
  if (status != UCS_OK) return fail(Errc::system, "ucp_mem_map", library.status_text(status));
  std::unique_ptr<UcxExposed> made(new UcxExposed(library, context, handle));
  void* packed = nullptr;
  std::size_t bytes = 0;
  status = library.rkey_pack(context, handle, &packed, &bytes);
  if (status != UCS_OK) return fail(Errc::system, "ucp_rkey_pack", library.status_text(status));
  KeyHead head;
  head.address = reinterpret_cast<std::uintptr_t>(memory.data());
  head.bytes = memory.size();
  head.packed_bytes = bytes;
  made->key_.resize(sizeof head + bytes);
  std::memcpy(made->key_.data(), &head, sizeof head);
  std::memcpy(made->key_.data() + sizeof head, packed, bytes);
  library.rkey_buffer_release(packed);
  if (made->key_.size() > kKeyMax) {
    return fail(
        Errc::unsupported, "btl/ucx",
        "a key of " + std::to_string(made->key_.size()) + " bytes: too many UCX transports are in use");
  }
  return std::unique_ptr<Exposed>(std::move(made));
}

UcxExposed::~UcxExposed() { (void)library_.mem_unmap(context_, memory_); }

}  // namespace ucx

class UcxRemote::Opened final : public Region {
 public:
  Opened(UcxRemote& remote, const KeyHead& head, ucp_rkey_h key) noexcept
      : remote_(remote), head_(head), key_(key) {
    remote_.opened_.push_back(this);
  }
  ~Opened() override {
    std::erase(remote_.opened_, this);
    if (key_ != nullptr) remote_.link_.library().rkey_destroy(key_);
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return head_.bytes; }
  [[nodiscard]] std::uint64_t at(std::uint64_t offset, std::size_t bytes) const noexcept {
    expects(offset <= head_.bytes && bytes <= head_.bytes - offset, "an access beyond exposed memory");
    return head_.address + offset;
  }
  /// Null: the connection for which it was opened is gone.
  [[nodiscard]] ucp_rkey_h key() const noexcept { return key_; }
  [[nodiscard]] ucp_rkey_h take_key() noexcept { return std::exchange(key_, nullptr); }

 private:
  UcxRemote& remote_;
  KeyHead head_;
  ucp_rkey_h key_;
};

std::vector<ucp_rkey_h> UcxRemote::take_keys() {
  std::vector<ucp_rkey_h> keys;
  for (Opened* const region : opened_) {
    if (region->key() != nullptr) keys.push_back(region->take_key());
  }
  return keys;
}

const Remote::Facts& UcxRemote::facts() const noexcept {
  static constexpr Facts kOverTcp{.access_max_bytes = SIZE_MAX};
  static constexpr Facts kOverAdapter{.access_max_bytes = SIZE_MAX, .passive = true};
  return link_.over_tcp() ? kOverTcp : kOverAdapter;
}

Result<std::unique_ptr<Region>> UcxRemote::open(std::span<const std::byte> key) {
  constexpr char kWhere[] = "btl/ucx: key of exposed memory";
  KeyHead head;
  const std::uint64_t mark = head.mark;
  if (key.size() > sizeof head) std::memcpy(&head, key.data(), sizeof head);
  if (key.size() <= sizeof head || head.mark != mark || head.packed_bytes != key.size() - sizeof head) {
    return fail(Errc::bad_input, kWhere,
                std::to_string(key.size()) + " bytes that are none: it is another transport's");
  }
  if (auto opened = link_.keep_open(); !opened) return fail(std::move(opened).error());
  ucp_rkey_h unpacked = nullptr;
  const ucs_status_t status = link_.library().ep_rkey_unpack(link_.ep(), key.data() + sizeof head, &unpacked);
  if (status != UCS_OK) return fail(Errc::bad_input, kWhere, link_.library().status_text(status));
  return std::unique_ptr<Region>(std::make_unique<Opened>(*this, head, unpacked));
}

/// Null, and `completion` has been told: the peer cannot be reached any more.
ucx::Access* UcxRemote::begin(const Opened* region, Completion* completion) noexcept {
  if (link_.lost() || link_.ep() == nullptr || (region != nullptr && region->key() == nullptr)) {
    completion->done(completion, false);
    return nullptr;
  }
  ucx::Access* const access = link_.accesses().take();
  *access = {};
  access->link = &link_;
  access->completion = completion;
  link_.count_access();
  return access;
}

Post UcxRemote::started(ucs_status_ptr_t answer, ucx::Access* access) noexcept {
  if (UCS_PTR_IS_PTR(answer)) return Post::posted;
  const bool ok = answer == nullptr;
  Completion* const completion = access->completion;
  if (ok && access->fetched != nullptr) std::memcpy(access->fetched, access->reply, access->bytes);
  link_.accesses().give(access);
  if (ok) return Post::done;
  completion->done(completion, false);
  return Post::posted;
}

void UcxRemote::ended(void* request, ucs_status_t status, void* user) noexcept {
  auto* const access = static_cast<ucx::Access*>(user);
  UcxEndpoint& link = *access->link;
  Completion* const completion = access->completion;
  const bool ok = status == UCS_OK;
  if (ok && access->fetched != nullptr) std::memcpy(access->fetched, access->reply, access->bytes);
  link.accesses().give(access);
  link.library().request_free(request);
  link.count_event();
  completion->done(completion, ok);
}

namespace {

ucp_request_param_t told_by(ucp_send_nbx_callback_t callback, ucx::Access* access) noexcept {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = callback;
  param.user_data = access;
  return param;
}

}  // namespace

Post UcxRemote::put(Region& to, std::uint64_t offset, std::span<const std::byte> from,
                    Completion* completion) noexcept {
  auto& region = static_cast<Opened&>(to);
  const std::uint64_t address = region.at(offset, from.size());
  if (from.empty()) return Post::done;
  ucx::Access* const access = begin(&region, completion);
  if (access == nullptr) return Post::posted;
  const auto param = told_by(&UcxRemote::ended, access);
  return started(link_.library().put_nbx(link_.ep(), from.data(), from.size(), address, region.key(), &param),
                 access);
}

Post UcxRemote::get(Region& from, std::uint64_t offset, std::span<std::byte> to,
                    Completion* completion) noexcept {
  auto& region = static_cast<Opened&>(from);
  const std::uint64_t address = region.at(offset, to.size());
  if (to.empty()) return Post::done;
  ucx::Access* const access = begin(&region, completion);
  if (access == nullptr) return Post::posted;
  const auto param = told_by(&UcxRemote::ended, access);
  return started(link_.library().get_nbx(link_.ep(), to.data(), to.size(), address, region.key(), &param),
                 access);
}

/// With compare_swap UCX compares with the operand and finds the new value where it writes the old one.
Post UcxRemote::atomic(Region& at, std::uint64_t offset, const AtomicChange& change,
                       Completion* completion) noexcept {
  expects(change.bytes == 4 || change.bytes == 8, "an atomic change of neither 4 nor 8 bytes");
  auto& region = static_cast<Opened&>(at);
  const std::uint64_t address = region.at(offset, change.bytes);
  ucx::Access* const access = begin(&region, completion);
  if (access == nullptr) return Post::posted;
  const bool compares = change.kind == AtomicChange::Kind::compare_swap;
  access->fetched = change.fetched;
  access->bytes = change.bytes;
  const std::uint64_t first = compares ? change.compare : change.operand;
  std::memcpy(access->operand, &first, sizeof first);
  if (compares) std::memcpy(access->reply, &change.operand, sizeof change.operand);
  auto param = told_by(&UcxRemote::ended, access);
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
  param.datatype = ucp_dt_make_contig(change.bytes);
  if (change.fetched != nullptr || compares || change.kind == AtomicChange::Kind::swap) {
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param.reply_buffer = access->reply;
  }
  return started(link_.library().atomic_op_nbx(link_.ep(), operation(change.kind), access->operand, 1,
                                               address, region.key(), &param),
                 access);
}

Post UcxRemote::flush(Completion* completion) noexcept {
  ucx::Access* const access = begin(nullptr, completion);
  if (access == nullptr) return Post::posted;
  const auto param = told_by(&UcxRemote::ended, access);
  return started(link_.library().ep_flush_nbx(link_.ep(), &param), access);
}

// What the endpoint and its component add.

Remote* UcxEndpoint::remote() noexcept {
  return component_.limits_.can.has(Capability::put) && !lost() ? &remote_ : nullptr;
}

const ucx::Library& UcxEndpoint::library() const noexcept { return component_.library_; }
bool UcxEndpoint::over_tcp() const noexcept { return component_.over_tcp_; }
ucx::AccessPool& UcxEndpoint::accesses() noexcept { return component_.accesses_; }
void UcxEndpoint::count_event() noexcept { ++component_.events_; }

void UcxEndpoint::count_access() noexcept {
  ++component_.links_.counters.remote;
  unconfirmed_ = true;
}

Result<void> UcxEndpoint::keep_open() {
  if (lost()) return fail(Errc::peer_lost, "btl/ucx", "the process is gone");
  if (!may_open()) return fail(Errc::timed_out, "btl/ucx", "its connection is being closed; try again");
  return ep_ == nullptr ? component_.open_endpoint(*this) : Result<void>();
}

Result<std::unique_ptr<Exposed>> UcxComponent::expose(std::span<std::byte> memory) {
  if (!limits_.can.has(Capability::put)) {
    return fail(Errc::unsupported, "btl/ucx",
                "UCX is not used for one-sided operations here (btl_ucx_remote; auto: only with an adapter)");
  }
  return ucx::UcxExposed::make(library_, worker_.context(), memory);
}

}  // namespace starling::btl
