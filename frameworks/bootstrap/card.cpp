// SPDX-License-Identifier: BSD-3-Clause
// Cards: lengths are checked before anything is read. Layer: framework.

#include "frameworks/bootstrap/card.hpp"

#include <cstring>
#include <limits>
#include <string>

namespace starling::bootstrap {
namespace {

constexpr char kWhere[] = "address card";
constexpr std::byte kVersion{1};

template <class T>
void append(std::vector<std::byte>& card, const T& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  card.insert(card.end(), bytes, bytes + sizeof value);
}

/// Takes bytes off the front of a card.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> card) : left_(card), size_(card.size()) {}
  [[nodiscard]] bool ended() const noexcept { return left_.empty(); }
  [[nodiscard]] Result<std::span<const std::byte>> take(std::size_t bytes) {
    if (left_.size() < bytes) {
      return fail(Errc::bad_input, kWhere,
                  "ends at byte " + std::to_string(size_) + ", in the middle of an entry");
    }
    const auto taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }
  template <class T>
  [[nodiscard]] Result<T> number() {
    auto bytes = take(sizeof(T));
    if (!bytes) return fail(std::move(bytes).error());
    T value;
    std::memcpy(&value, bytes->data(), sizeof value);
    return value;
  }

 private:
  std::span<const std::byte> left_;
  std::size_t size_;
};

}  // namespace

Result<std::vector<std::byte>> encode_card(const std::vector<LocalAddress>& addresses) {
  std::vector<std::byte> card{kVersion};
  for (const LocalAddress& address : addresses) {
    if (address.transport.size() > std::numeric_limits<std::uint8_t>::max() ||
        address.bytes.size() > std::numeric_limits<std::uint16_t>::max()) {
      return fail(Errc::no_space, kWhere,
                  "the address of " + address.transport + " has " + std::to_string(address.bytes.size()) +
                      " bytes, at most 65535 are possible");
    }
    append(card, static_cast<std::uint8_t>(address.transport.size()));
    for (const char c : address.transport) append(card, c);
    append(card, static_cast<std::uint16_t>(address.bytes.size()));
    card.insert(card.end(), address.bytes.begin(), address.bytes.end());
  }
  return card;
}

Result<std::optional<std::vector<std::byte>>> find_in_card(std::span<const std::byte> card,
                                                           std::string_view transport) {
  Reader reader(card);
  auto version = reader.take(1);
  if (!version) return fail(std::move(version).error());
  if (version->front() != kVersion) {
    return fail(Errc::bad_input, kWhere,
                "is of version " + std::to_string(std::to_integer<int>(version->front())) +
                    ", 1 was expected; do all processes run the same version of Starling?");
  }
  while (!reader.ended()) {
    auto name_bytes = reader.number<std::uint8_t>();
    if (!name_bytes) return fail(std::move(name_bytes).error());
    auto name = reader.take(*name_bytes);
    if (!name) return fail(std::move(name).error());
    auto bytes = reader.number<std::uint16_t>();
    if (!bytes) return fail(std::move(bytes).error());
    auto address = reader.take(*bytes);
    if (!address) return fail(std::move(address).error());
    if (std::string_view(reinterpret_cast<const char*>(name->data()), name->size()) == transport) {
      return std::optional(std::vector<std::byte>(address->begin(), address->end()));
    }
  }
  return std::optional<std::vector<std::byte>>{};
}

}  // namespace starling::bootstrap
