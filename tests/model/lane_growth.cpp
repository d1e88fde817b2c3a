// SPDX-License-Identifier: BSD-3-Clause
// Model: a lane is announced, grows into a larger one and is closed; the old ring belongs to its next user
// from then on.

#include "tests/model/ring.hpp"

namespace starling::model {

struct LaneGrowth : rl::test_suite<LaneGrowth, 2> {
  static constexpr std::uint32_t kSmall = 3;
  static constexpr std::uint32_t kLarge = 5;
  static constexpr unsigned kRecords = 5;
  RingMemory small;
  RingMemory large;
  ModelAtomic<std::uint32_t> announced;  // stands for the ingress, which has its own model

  void thread(unsigned index) { index == 0 ? write() : read(); }

  void write() {
    ModelWriter writer(ModelRing(small, kSmall));
    writer.create();
    announced.store(1, std::memory_order_release);
    bool grown = false;
    for (unsigned i = 0; i < kRecords; ++i) {
      std::uint32_t cell = 0;
      while ((cell = writer.reserve(1)) == btl::kNoCell) {
        if (grown) {
          wait_a_little();
          continue;
        }
        ModelWriter larger(ModelRing(large, kLarge));
        larger.create();
        small.payload[writer.last_cell()]($) = 4711u;  // where the larger one is
        writer.finish(btl::record_header(btl::RecordKind::moved, 0));
        writer = larger;
        grown = true;
      }
      writer.ring().write(cell, 1, 100 * i);
      writer.commit(1, btl::record_header(btl::RecordKind::data, i));
    }
    writer.finish(btl::record_header(btl::RecordKind::closed, 0));
  }

  void read() {
    while (announced.load(std::memory_order_acquire) == 0) wait_a_little();
    ModelReader reader(ModelRing(small, kSmall));
    for (unsigned i = 0;;) {
      std::uint64_t header = 0;
      while ((header = reader.peek()) == 0) {
        reader.tidy();
        wait_a_little();
      }
      if (btl::kind_of(header) == btl::RecordKind::closed) {
        check(i == kRecords);
        reuse(reader.ring());
        return;
      }
      if (btl::kind_of(header) == btl::RecordKind::moved) {
        check(small.payload[reader.cell()]($) == 4711u);
        reuse(reader.ring());
        reader = ModelReader(ModelRing(large, kLarge));
        continue;
      }
      check(btl::bytes_of(header) == i);
      reader.ring().verify(reader.cell(), 1, 100 * i);
      reader.pop(1);
      ++i;
    }
  }

  /// What the extent's next user may do at once.
  static void reuse(const ModelRing& ring) {
    for (std::uint32_t i = 0; i < ring.cells(); ++i) ring.memory().payload[i]($) = 1u;
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  return survives_random<LaneGrowth>(iterations_of(argc, argv, 150000)) && survives_bounded<LaneGrowth>(1)
             ? 0
             : 1;
}
