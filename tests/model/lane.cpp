// SPDX-License-Identifier: BSD-3-Clause
// Model: one writer and one reader of a lane of few cells; records of one and two cells, wrap-around, full,
// empty.

#include "tests/model/ring.hpp"

namespace starling::model {

template <std::uint32_t kCells, unsigned kRecords>
struct Lane : rl::test_suite<Lane<kCells, kRecords>, 2> {
  RingMemory memory;

  static std::uint32_t cells_of(unsigned record) { return 1 + record % 2; }

  void before() { ModelWriter(ModelRing(memory, kCells)).create(); }

  void thread(unsigned index) {
    if (index == 0) {
      ModelWriter writer(ModelRing(memory, kCells));
      for (unsigned i = 0; i < kRecords; ++i) {
        // Reserved larger than used, now and then, as for packed data.
        const std::uint32_t reserved = i % 3 == 2 ? 2 : cells_of(i);
        std::uint32_t cell = 0;
        while ((cell = writer.reserve(reserved)) == btl::kNoCell) wait_a_little();
        writer.ring().write(cell, cells_of(i), 100 * i);
        writer.commit(cells_of(i), btl::record_header(btl::RecordKind::data, i));
      }
    } else {
      ModelReader reader(ModelRing(memory, kCells));
      for (unsigned i = 0; i < kRecords; ++i) {
        std::uint64_t header = 0;
        while ((header = reader.peek()) == 0) {
          reader.tidy();
          wait_a_little();
        }
        check(btl::kind_of(header) == btl::RecordKind::data && btl::bytes_of(header) == i);
        reader.ring().verify(reader.cell(), cells_of(i), 100 * i);
        reader.pop(cells_of(i));
      }
      check(reader.peek() == 0);
    }
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  const unsigned long iterations = iterations_of(argc, argv, 100000);
  return survives_random<Lane<4, 6>>(iterations) && survives_random<Lane<5, 7>>(iterations) &&
                 survives_bounded<Lane<4, 3>>(2)
             ? 0
             : 1;
}
