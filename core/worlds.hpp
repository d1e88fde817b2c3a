// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The launched worlds that this process knows: its own, and those that it has met. Layer: core.
///
/// A world is what one launch has started: its processes are numbered from 0. Its index (ProcId::world) means
/// something in this process only; what two processes call a world in common is its name. An index is a
/// place in the table and how often the place has been used, so that what remains of a world that has gone is
/// never taken for one that came later. See docs/design/worlds.md.
///
/// Threads:   under the runtime's lock.
/// Ownership: values. The own world stays, at index 0.
/// Errors:    a world that is unlike the one of its name, and a table that is full.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "core/node_map.hpp"
#include "core/proc_list.hpp"
#include "core/result.hpp"

namespace starling {

/// What all processes call a world, in whichever world they are themselves.
struct WorldName {
  std::string manager;      ///< the kind of process manager that has started it
  std::string job;          ///< what that one calls it: unique among its own
  std::uint64_t nonce = 0;  ///< tells jobs of one name apart, on other machines or at other times

  friend auto operator<=>(const WorldName&, const WorldName&) = default;
  /// For people: "kvs_4711 (pmi1)".
  [[nodiscard]] std::string text() const { return job + " (" + manager + ")"; }
};

/// 64 bits of a name, for what all processes must compute alike.
[[nodiscard]] std::uint64_t hash_of(const WorldName& name) noexcept;

/// Who is asked for the business cards of a world's processes.
enum class CardSource : std::uint8_t {
  manager,  ///< the process manager of this process
  roots     ///< those processes through which the worlds have met
};

struct World {
  WorldName name;
  std::uint32_t size = 1;
  NodeMap nodes{};  ///< as far as is known
  CardSource cards = CardSource::manager;
};

class Worlds {
 public:
  static constexpr std::uint32_t kOwn = 0;
  /// Worlds that are known at the same time, and uses of one place in the table.
  static constexpr std::uint32_t kPlacesMax = 1u << 16, kUsesMax = 1u << 16;

  explicit Worlds(World own = {});

  /// The index of a world, which is entered if this process does not know it yet. Each add() wants a
  /// release(). Errc::bad_input: it is known under this name with another size.
  [[nodiscard]] Result<std::uint32_t> add(World world);
  /// Whoever has added it does not need it any more. True: nobody does, and nothing is called by its index
  /// from now on; what other tables hold of its processes has to be given up.
  bool release(std::uint32_t world) noexcept;

  /// The own one. Its node map may be learned late.
  [[nodiscard]] World& own() noexcept { return places_.front().entry->world; }
  [[nodiscard]] const World& own() const noexcept { return places_.front().entry->world; }
  /// Null: there is no such world, or no more.
  [[nodiscard]] const World* find(std::uint32_t world) const noexcept;
  [[nodiscard]] std::optional<std::uint32_t> find(const WorldName& name) const noexcept;
  /// Whether it is a process of a world that is known.
  [[nodiscard]] bool contains(ProcId proc) const noexcept {
    const World* const world = find(proc.world);
    return world != nullptr && proc.rank < world->size;
  }
  /// Worlds that are known now.
  [[nodiscard]] std::size_t size() const noexcept { return known_; }
  /// "rank 3", or "rank 3 of world kvs_4711 (pmi1)" if that is another world.
  [[nodiscard]] std::string text(ProcId proc) const;

 private:
  struct Entry {
    World world;
    std::uint32_t users = 1;
  };
  struct Place {
    std::unique_ptr<Entry> entry;  // null: free
    std::uint32_t uses = 0;        // that are over
  };
  [[nodiscard]] static std::uint32_t place_of(std::uint32_t world) noexcept {
    return world & (kPlacesMax - 1);
  }
  [[nodiscard]] Entry* entry(std::uint32_t world) const noexcept;

  std::vector<Place> places_;
  std::deque<std::uint32_t> free_;  // the one that has been free for longest is used first
  std::size_t known_ = 1;
};

/// For whoever does not have the table: "rank 3", or "rank 3 of the world with index 1".
[[nodiscard]] std::string text_of(ProcId proc);

/// Whether all of these processes belong to a world.
[[nodiscard]] bool is_within_world(const ProcList& members, std::uint32_t world) noexcept;
/// Whether these processes are all of a world, in any order. That they are as many is no proof: a group may
/// have members of several worlds.
[[nodiscard]] bool is_whole_world(const ProcList& members, std::uint32_t world, std::uint32_t size) noexcept;

}  // namespace starling
