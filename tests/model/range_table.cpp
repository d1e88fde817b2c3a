// SPDX-License-Identifier: BSD-3-Clause
// Model: one thread takes a range out of a table and puts another one in at the same place, while others
// look. A reader finds a range whole or not at all, one that stays is never missed, and of what was published
// before a range was put in nothing is missing.

#include "frameworks/shm/memory/range_table.hpp"

#include "tests/model/model.hpp"

namespace starling::model {

struct RangesOfOne : rl::test_suite<RangesOfOne, 3> {
  struct Entry {
    ModelAtomic<std::uint64_t> base, bytes, id, key;
  };
  struct Words {
    static constexpr std::uint64_t kMost = 3;
    RangesOfOne* model;
    ModelAtomic<std::uint64_t>& sequence() const { return model->sequence; }
    ModelAtomic<std::uint64_t>& count() const { return model->count; }
    ModelAtomic<std::uint64_t>& lowest() const { return model->lowest; }
    ModelAtomic<std::uint64_t>& highest() const { return model->highest; }
    Entry& at(std::uint64_t index) const { return model->entries[index]; }
  };
  using Table = shm::RangeTable<ModelAtomics, Words>;

  ModelAtomic<std::uint64_t> sequence, count, lowest, highest;
  Entry entries[3];
  rl::var<unsigned> content;  // of the range that is put in

  static constexpr shm::Range kStays{300, 50, 3, 13};
  static constexpr shm::Range kOld{100, 50, 1, 11};
  static constexpr shm::Range kNew{100, 80, 2, 12};

  void before() {
    content($) = 0u;
    Table table(Words{this});
    check(table.insert(kOld));
    check(table.insert(kStays));
  }
  static bool is(const shm::Range& found, const shm::Range& wanted) {
    return found.base == wanted.base && found.bytes == wanted.bytes && found.id == wanted.id &&
           found.key == wanted.key;
  }
  void thread(unsigned index) {
    Table table(Words{this});
    if (index == 0) {
      check(table.erase(100));
      content($) = 7u;
      check(table.insert(kNew));
      return;
    }
    const shm::Found stays = table.find(320, 10);
    check(stays.look == shm::Look::changing || (stays.look == shm::Look::found && is(stays.range, kStays)));
    const shm::Found other = table.find(100, 50);
    if (other.look == shm::Look::found && other.range.id == kNew.id) {
      check(is(other.range, kNew));
      check(content($) == 7u);
    } else if (other.look == shm::Look::found) {
      check(is(other.range, kOld));
    }
  }
  void after() {
    Table table(Words{this});
    check(is(table.find(100, 80).range, kNew));
    check(is(table.find(300, 50).range, kStays));
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  return survives_random<RangesOfOne>(iterations_of(argc, argv, 100000)) ? 0 : 1;
}
