// SPDX-License-Identifier: BSD-3-Clause
// Layer: framework. See docs/design/startup.md.

#include "frameworks/bootstrap/orders.hpp"

#include <string>

#include "frameworks/bootstrap/group_key.hpp"

namespace starling::bootstrap {
namespace {

constexpr std::uint64_t kBits = ~std::uint64_t{0} >> 1, kRank = 0x7fff'ffff;
constexpr int kFirstRank = 32, kSecondRank = 1;

}  // namespace

Orders::Orders(const Worlds& worlds, const ProcList& members)
    : bits_(order_of(worlds, members) & kBits & ~std::uint64_t{1}) {}

void Orders::add(ProcId self, ProcId child, Orders below) noexcept {
  if (differ() || below.bits_ == bits_) return;
  bits_ = below.differ() ? below.bits_ & kBits
                         : (self.rank & kRank) << kFirstRank | (child.rank & kRank) << kSecondRank | 1;
}

std::optional<Error> Orders::error(const std::string& where) const {
  if (!differ()) return std::nullopt;
  return Error{
      Errc::bad_input, where,
      "rank " + std::to_string(bits_ >> kFirstRank & kRank) + " and rank " +
          std::to_string(bits_ >> kSecondRank & kRank) +
          " give the members of the group in different orders; expected the same group on all, since "
          "its order makes the ranks"};
}

}  // namespace starling::bootstrap
