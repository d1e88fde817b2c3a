// SPDX-License-Identifier: BSD-3-Clause
// Model: a thread waits to be called, with and without yields before it sleeps. What the caller did before is
// visible after the wait; a call that gets lost leaves the thread blocked, which Relacy reports.

#include "mpi/runtime/parking_slot.hpp"

#include "tests/model/futex.hpp"

namespace starling::model {

inline Futex* futex = nullptr;  ///< of the iteration that runs: a Kernel has static functions only

struct ParkingSlotKernel {
  using Word = ModelAtomic<std::uint32_t>;
  static void yield() { wait_a_little(); }
  static void sleep(Word& word, std::uint32_t value) { futex->wait(word, value); }
  static void wake_one(Word&) { futex->wake_one(); }
};

template <std::uint32_t kYields>
struct ParkingSlotModel : rl::test_suite<ParkingSlotModel<kYields>, 2> {
  Futex sleeper;
  mpi::ParkingSlot<ModelAtomics, ParkingSlotKernel> parking_slot;
  rl::var<unsigned> payload;

  void before() {
    futex = &sleeper;
    payload($) = 0u;
  }
  void thread(unsigned me) {
    if (me == 0) {
      payload($) = 7u;
      parking_slot.call();
    } else {
      (void)parking_slot.wait(kYields);
      check(payload($) == 7u);
    }
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  const unsigned long iterations = iterations_of(argc, argv, 50000);
  const bool fine = survives_random<ParkingSlotModel<0>>(iterations) &&
                    survives_random<ParkingSlotModel<2>>(iterations) &&
                    survives_bounded<ParkingSlotModel<1>>(4);
  return fine ? 0 : 1;
}
