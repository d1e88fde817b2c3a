// SPDX-License-Identifier: BSD-3-Clause
// Model: a writer that finds its lane full sleeps until the reader has given cells back. A wake-up that gets
// lost leaves both threads blocked, which Relacy reports.

#include "frameworks/shm/doorbell.hpp"
#include "tests/model/futex.hpp"
#include "tests/model/ring.hpp"

namespace starling::model {

struct LaneRoom : rl::test_suite<LaneRoom, 2> {
  static constexpr std::uint32_t kCells = 3;
  static constexpr unsigned kRecords = 5;
  RingMemory memory;
  ModelAtomic<std::uint32_t> bell_word;
  ModelAtomic<std::uint32_t> attention;
  Futex futex;

  void before() { ModelWriter(ModelRing(memory, kCells)).create(); }

  void thread(unsigned index) { index == 0 ? write() : read(); }

  void write() {
    ModelWriter writer(ModelRing(memory, kCells));
    shm::Doorbell<ModelAtomics> bell(bell_word, attention);
    for (unsigned i = 0; i < kRecords; ++i) {
      std::uint32_t cell = 0;
      while ((cell = writer.reserve(1)) == btl::kNoCell) {
        writer.want_room();
        const std::uint32_t value = bell.prepare();
        cell = writer.reserve(1);
        if (cell == btl::kNoCell) futex.wait(bell_word, value);
        bell.awake();
        if (cell != btl::kNoCell) break;
      }
      writer.ring().write(cell, 1, 100 * i);
      writer.commit(1, btl::record_header(btl::RecordKind::data, i));
    }
  }

  void read() {
    ModelReader reader(ModelRing(memory, kCells));
    shm::Doorbell<ModelAtomics> bell(bell_word, attention);
    for (unsigned i = 0; i < kRecords;) {
      const bool found = reader.peek() != 0;
      if (found) {
        reader.ring().verify(reader.cell(), 1, 100 * i);
        reader.pop(1);
        ++i;
      } else {
        reader.tidy();
      }
      if (reader.gave_back() && (bell.attention() & shm::kAsleep) != 0 && reader.wanted() && bell.ring())
        futex.wake();
      if (!found) wait_a_little();
    }
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  return survives_random<LaneRoom>(iterations_of(argc, argv, 150000)) ? 0 : 1;
}
