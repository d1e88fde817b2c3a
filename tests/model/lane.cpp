// SPDX-License-Identifier: BSD-3-Clause
// Model: one writer and one reader of a lane of few cells; records of one and two cells, wrap-around, full,
// empty. Two cells are a long record already: the reader cleans them, leaves them, leaves them while it is
// busy, or changes its mind.

#include "tests/model/ring.hpp"

namespace starling::model {

enum class Long { cleaned, left, left_when_busy, changing };

constexpr btl::CleanLong clean_long(Long how, unsigned i) {
  if (how == Long::changing) how = static_cast<Long>(i / 2 % 3);
  if (how == Long::left_when_busy) return btl::CleanLong::when_idle;
  return how == Long::cleaned ? btl::CleanLong::always : btl::CleanLong::never;
}

struct Record {
  std::uint32_t cells;
  std::uint32_t reserved;
};
/// One and two cells in turn; reserved larger than used, now and then, as for packed data.
struct Mixed {
  static constexpr Record at(unsigned i) {
    const std::uint32_t cells = 1 + i % 2;
    return {cells, i % 3 == 2 ? 2 : cells};
  }
};
/// Long ones are rare, so that a short one behind them is not taken as stale on the next lap.
struct FewLong {
  static constexpr Record at(unsigned i) {
    const std::uint32_t cells = i % 13 == 1 ? 2 : 1;
    return {cells, cells};
  }
};
/// Short ones only, but a long pad at the end of eight cells: the next lap has a record that ends where it
/// began.
struct LongPad {
  static constexpr Record at(unsigned i) { return {1, i == 5 ? 4u : 1u}; }
};

template <std::uint32_t kCells, unsigned kRecords, Long kLong, class Records = Mixed>
struct Lane : rl::test_suite<Lane<kCells, kRecords, kLong, Records>, 2> {
  RingMemory memory;

  void before() { ModelWriter(ModelRing(memory, kCells)).create(); }

  void thread(unsigned index) {
    if (index == 0) {
      ModelWriter writer(ModelRing(memory, kCells));
      for (unsigned i = 0; i < kRecords; ++i) {
        const auto [cells, reserved] = Records::at(i);
        std::uint32_t cell = 0;
        while ((cell = writer.reserve(reserved)) == btl::kNoCell) wait_a_little();
        writer.ring().write(cell, cells, 100 * i);
        writer.commit(cells, btl::record_header(btl::RecordKind::data, i));
      }
    } else {
      ModelReader reader(ModelRing(memory, kCells));
      for (unsigned i = 0; i < kRecords; ++i) {
        reader.clean_long(clean_long(kLong, i));
        std::uint64_t header = 0;
        while ((header = reader.peek()) == 0) {
          reader.tidy();
          wait_a_little();
        }
        check(btl::kind_of(header) == btl::RecordKind::data && btl::bytes_of(header) == i);
        reader.ring().verify(reader.cell(), Records::at(i).cells, 100 * i);
        reader.pop(Records::at(i).cells);
      }
      check(reader.peek() == 0);
    }
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  const unsigned long iterations = iterations_of(argc, argv, 100000);
  bool fine = survives_random<Lane<4, 6, Long::cleaned>>(iterations);
  fine = fine && survives_random<Lane<5, 7, Long::cleaned>>(iterations);
  fine = fine && survives_random<Lane<4, 8, Long::left>>(iterations);
  fine = fine && survives_random<Lane<5, 9, Long::left>>(iterations);
  fine = fine && survives_random<Lane<8, 11, Long::left, LongPad>>(iterations);
  // With twelve cells it is busy after three.
  fine = fine && survives_random<Lane<12, 19, Long::left_when_busy>>(iterations);
  fine = fine && survives_random<Lane<12, 30, Long::left_when_busy, FewLong>>(iterations);
  fine = fine && survives_random<Lane<5, 9, Long::changing>>(iterations);
  fine = fine && survives_random<Lane<12, 19, Long::changing>>(iterations);
  fine = fine && survives_bounded<Lane<4, 3, Long::cleaned>>(2);
  fine = fine && survives_bounded<Lane<4, 5, Long::left>>(2);
  return fine ? 0 : 1;
}
