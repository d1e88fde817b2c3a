// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  MPI_Info: ordered (key, value) hints. Layer: mpi. MPI 5.0 chapter 10.
///
/// Threads:   any, also before MPI is initialised (section 11.6): each object guards its entries with a mutex
///            of its own.
/// Ownership: reference-counted; whoever keeps hints keeps a dup(), since the user may change or free theirs.
/// Ordering:  keys stay in the order in which they were first set; nth() follows it.
/// Errors:    none here; lengths and empty texts are checked where the user's strings come in (mpi/api/info).

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/handle.hpp"

namespace starling::mpi {

class Info final : public Object {
 public:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  Info() = default;
  explicit Info(Entries entries) : entries_(std::move(entries)) {}

  void set(std::string_view key, std::string_view value);
  [[nodiscard]] std::optional<std::string> get(std::string_view key) const;
  /// False when there is no such key.
  bool erase(std::string_view key);
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::optional<std::string> nth(std::size_t index) const;
  /// A copy of all entries, in order.
  [[nodiscard]] Entries entries() const;
  /// A new object with the same entries; it has no handle yet.
  [[nodiscard]] Ref<Info> dup() const { return Ref<Info>::adopt(new Info(entries())); }

 private:
  mutable std::mutex mutex_;
  Entries entries_;
};

}  // namespace starling::mpi
