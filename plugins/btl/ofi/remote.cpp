// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets. What is hard: libfabric has no flush, so puts end late; and it does not end what goes
// to a peer that is given up while its connection stands. Layer: plugin.
// Design: docs/design/network.md, "One-sided".

#include "plugins/btl/ofi/remote.hpp"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "core/clock.hpp"
#include "core/expects.hpp"
#include "plugins/btl/ofi/component.hpp"

namespace starling::btl {
namespace {

/// What a peer needs.
struct OfiKey {
  std::uint64_t mark = 0x7965'6b69'666full;  // "ofikey"
  std::uint64_t address = 0;                 // of its first byte, as libfabric wants it
  std::uint64_t bytes = 0;
  std::uint64_t key = 0;
};

}  // namespace

namespace ofi {

Result<std::unique_ptr<Exposed>> OfiExposed::make(const Library& library, const fi_info& info,
                                                  fid_domain* domain, fid_ep* endpoint,
                                                  std::span<std::byte> memory, std::uint64_t number) {
  const auto modes = static_cast<unsigned>(info.domain_attr->mr_mode);
  fid_mr* registered = nullptr;
  int code = ::fi_mr_reg(domain, memory.data(), memory.size(), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, number, 0,
                         &registered, nullptr);
  if (code != 0) return fail(Errc::system, "fi_mr_reg", library.strerror(-code));
  std::unique_ptr<OfiExposed> made(new OfiExposed(registered));
  if ((modes & FI_MR_ENDPOINT) != 0) {
    code = ::fi_mr_bind(registered, &endpoint->fid, 0);
    if (code == 0) code = ::fi_mr_enable(registered);
    if (code != 0) return fail(Errc::system, "fi_mr_enable", library.strerror(-code));
  }
  OfiKey key;
  key.address = (modes & FI_MR_VIRT_ADDR) != 0 ? reinterpret_cast<std::uintptr_t>(memory.data()) : 0;
  key.bytes = memory.size();
  key.key = ::fi_mr_key(registered);
  if (key.key == FI_KEY_NOTAVAIL) return fail(Errc::unsupported, "btl/ofi", "a key that is no number");
  made->key_.resize(sizeof key);
  std::memcpy(made->key_.data(), &key, sizeof key);
  return std::unique_ptr<Exposed>(std::move(made));
}

}  // namespace ofi

class OfiRemote::Opened final : public Region {
 public:
  explicit Opened(const OfiKey& key) noexcept : key_(key) {}
  [[nodiscard]] std::size_t bytes() const noexcept override { return key_.bytes; }
  [[nodiscard]] std::uint64_t at(std::uint64_t offset, std::size_t bytes) const noexcept {
    expects(offset <= key_.bytes && bytes <= key_.bytes - offset, "an access beyond exposed memory");
    return key_.address + offset;
  }
  [[nodiscard]] std::uint64_t key() const noexcept { return key_.key; }

 private:
  OfiKey key_;
};

const Remote::Facts& OfiRemote::facts() const noexcept { return link_.component_.remote_facts_; }

Result<std::unique_ptr<Region>> OfiRemote::open(std::span<const std::byte> key) {
  OfiKey known;
  const std::uint64_t mark = known.mark;
  if (key.size() == sizeof known) std::memcpy(&known, key.data(), sizeof known);
  if (key.size() != sizeof known || known.mark != mark) {
    return fail(Errc::bad_input, "btl/ofi: key of exposed memory",
                std::to_string(key.size()) + " bytes that are none: it is another transport's");
  }
  if (link_.lost()) return fail(Errc::peer_lost, "btl/ofi", "the process is gone");
  return std::unique_ptr<Region>(std::make_unique<Opened>(known));
}

/// `call` hands an access with this context to libfabric, whose answer it returns.
template <class Call>
Post OfiRemote::begin(Completion* completion, bool puts, Call&& call) noexcept {
  if (link_.lost()) {
    link_.component_.access_refused_ = false;
    completion->done(completion, false);
    return Post::posted;
  }
  ofi::AccessPool& pool = link_.component_.accesses_;
  ofi::Access* const access = pool.take();
  access->link = &link_;
  access->completion = completion;
  access->number = next_number_;
  access->puts = puts;
  const ssize_t code = link_.hand_to_library([&] { return call(static_cast<void*>(access->context)); });
  link_.component_.access_refused_ = code == -FI_EAGAIN;
  if (code != 0) {
    pool.give(access);
    if (code == -FI_EAGAIN) return Post::again;
    completion->done(completion, false);  // the link is lost
    return Post::posted;
  }
  ++next_number_;
  open_.push_back(*access);
  puts_ += puts;
  link_.last_move_ns_ = now_ns();
  ++link_.component_.links_.counters.remote;
  return Post::posted;
}

Post OfiRemote::put(Region& to, std::uint64_t offset, std::span<const std::byte> from,
                    Completion* completion) noexcept {
  auto& region = static_cast<Opened&>(to);
  const std::uint64_t address = region.at(offset, from.size());
  if (from.empty()) return Post::done;
  return begin(completion, true, [&](void* context) {
    const iovec memory{const_cast<std::byte*>(from.data()), from.size()};
    const fi_rma_iov place{address, from.size(), region.key()};
    fi_msg_rma message{};
    message.msg_iov = &memory;
    message.iov_count = 1;
    message.addr = link_.to_;
    message.rma_iov = &place;
    message.rma_iov_count = 1;
    message.context = context;
    return ::fi_writemsg(link_.component_.fabric_.endpoint(), &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
  });
}

Post OfiRemote::get(Region& from, std::uint64_t offset, std::span<std::byte> to,
                    Completion* completion) noexcept {
  auto& region = static_cast<Opened&>(from);
  const std::uint64_t address = region.at(offset, to.size());
  if (to.empty()) return Post::done;
  return begin(completion, false, [&](void* context) {
    return ::fi_read(link_.component_.fabric_.endpoint(), to.data(), to.size(), nullptr, link_.to_, address,
                     region.key(), context);
  });
}

Post OfiRemote::atomic(Region&, std::uint64_t, const AtomicChange&, Completion* completion) noexcept {
  completion->done(completion, false);
  return Post::posted;
}

Post OfiRemote::flush(Completion* completion) noexcept {
  if (link_.lost()) {
    completion->done(completion, false);
    return Post::posted;
  }
  if (puts_ == 0) return Post::done;
  flushes_.push_back({completion, next_number_, puts_});
  return Post::posted;
}

/// One put less for those who flush.
void OfiRemote::count_put(std::uint64_t number, bool ok) noexcept {
  --puts_;
  std::vector<Completion*> ended;
  std::erase_if(flushes_, [&](Flush& flush) {
    if (number >= flush.until || (ok && --flush.left != 0)) return false;
    ended.push_back(flush.completion);
    return true;
  });
  for (Completion* const completion : ended) completion->done(completion, ok);
}

void OfiRemote::tell(ofi::Access& access, bool ok) noexcept {
  Completion* const completion = std::exchange(access.completion, nullptr);
  completion->done(completion, ok);
  if (access.puts) count_put(access.number, ok);
}

void OfiRemote::ended(ofi::Access& access, bool ok) noexcept {
  open_.remove(access);
  link_.last_move_ns_ = now_ns();
  if (access.completion != nullptr) tell(access, ok);
  link_.component_.accesses_.give(&access);
}

void OfiRemote::lose(bool may_write) noexcept {
  link_.component_.access_refused_ = false;
  for (ofi::Access* access = open_.front(); access != nullptr; access = ofi::Accesses::after(*access)) {
    if (access->completion != nullptr && (access->puts || !may_write)) tell(*access, false);
  }
}

// What the endpoint and its component add.

Remote* OfiEndpoint::remote() noexcept {
  return component_.limits_.can.has(Capability::put) && !lost() ? &remote_ : nullptr;
}

Result<std::unique_ptr<Exposed>> OfiComponent::expose(std::span<std::byte> memory) {
  if (!limits_.can.has(Capability::put)) {
    return fail(
        Errc::unsupported, "btl/ofi",
        "libfabric is not used for one-sided operations here (btl_ofi_remote; auto: only with an adapter)");
  }
  return ofi::OfiExposed::make(library_, *info_, fabric_.domain(), fabric_.endpoint(), memory, next_key_++);
}

void OfiComponent::take_access(void* context, bool ok) noexcept {
  auto* const at = static_cast<std::byte*>(context) - offsetof(ofi::Access, context);
  auto& access = *reinterpret_cast<ofi::Access*>(at);
  OfiEndpoint& link = *access.link;
  if (!ok) link.broke();
  link.remote_.ended(access, ok);
}

}  // namespace starling::btl
