// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What trials of large messages have found: shared by the processes of a node, kept in a file. Layer:
/// framework (pml). See docs/design/dynamic.md.
///
/// One word for each (distance of the two processes, kind of message, class of sizes), so that a finding is
/// whole or not there. Processes that come later, and pairs that have not tried yet, start from it.
///
/// Threads:   the pml's; the node's words are every process's, relaxed: each stands for itself.
/// Ownership: borrows the node's words.
/// Errors:    a file of another machine or version is refused, and left as it is.
/// Units:     nanoseconds for a MiB.

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/result.hpp"
#include "frameworks/pml/size_classes.hpp"
#include "frameworks/pml/transfer.hpp"
#include "params/decl.hpp"

namespace starling::pml {

inline constexpr params::Decl kTrialsFile =
    params::text("pml_trials_file", "",
                 "File in which what trials of large messages have found is kept from one job to the next: "
                 "it is read when the job starts, and written when it ends by those who found something. A "
                 "file of another machine, version or pml is refused. Empty: none.");

class Findings {
 public:
  static constexpr unsigned kDistances = 4, kKinds = 4, kOptions = 3;
  static constexpr unsigned kWords = kDistances * kKinds * SizeClasses::kCount;
  struct Key {
    unsigned distance = 3;  ///< shm::Distance
    bool both = false;      ///< both sides of the pair send
    bool mapped = false;    ///< both sides' memory can be mapped
    unsigned size_class = 0;
    [[nodiscard]] unsigned index() const noexcept {
      return ((distance * 2 + (both ? 1 : 0)) * 2 + (mapped ? 1 : 0)) * SizeClasses::kCount + size_class;
    }
  };
  struct Finding {
    Large protocol = Large::ring;                 ///< the one to go
    std::array<std::uint64_t, kOptions> costs{};  ///< in the order in which they were tried; 0: it was not
  };

  /// From here on what is found is shared through these words, if there are enough.
  void share(std::span<std::atomic<std::uint64_t>> words) noexcept;
  [[nodiscard]] bool shared() const noexcept { return !shared_.empty(); }
  /// Whether this process has found something.
  [[nodiscard]] bool found_some() const noexcept { return found_some_; }

  [[nodiscard]] std::optional<Finding> find(const Key& key) const noexcept;
  void keep(const Key& key, const Finding& finding) noexcept;

  /// Whose findings a file holds. Another one's are of no use.
  struct Origin {
    std::string pml, version, machine;
  };
  [[nodiscard]] static std::string this_machine();
  /// not_found: there is no such file. bad_input: what it holds instead, and where.
  [[nodiscard]] Result<void> load(const std::string& path, const Origin& origin);
  [[nodiscard]] Result<void> save(const std::string& path, const Origin& origin) const;

 private:
  [[nodiscard]] std::uint64_t word(unsigned index) const noexcept;
  std::array<std::uint64_t, kWords> own_{};  // what was loaded, and all as long as nothing is shared
  std::span<std::atomic<std::uint64_t>> shared_;
  bool found_some_ = false;
};

}  // namespace starling::pml
