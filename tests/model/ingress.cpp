// SPDX-License-Identifier: BSD-3-Clause
// Model: two producers and the consumer of an ingress of two cells; full, wrap-around, order per producer.

#include "plugins/btl/shm/ingress.hpp"
#include "tests/model/model.hpp"

namespace starling::model {

struct IngressMemory {
  static constexpr std::uint32_t kCells = 2;
  ModelAtomic<std::uint64_t> words[kCells];
  ModelAtomic<std::uint64_t> tail_word;
  ModelAtomic<std::uint64_t> head_word;
  rl::var<unsigned> payload[kCells];
};

class ModelQueue {
 public:
  ModelQueue() = default;
  explicit ModelQueue(IngressMemory& memory) : memory_(&memory) {}
  std::uint32_t cells() const { return IngressMemory::kCells; }
  ModelAtomic<std::uint64_t>& word(std::uint32_t i) const { return memory_->words[i]; }
  ModelAtomic<std::uint64_t>& tail() const { return memory_->tail_word; }
  ModelAtomic<std::uint64_t>& head() const { return memory_->head_word; }

 private:
  IngressMemory* memory_ = nullptr;
};

struct Ingress : rl::test_suite<Ingress, 3> {
  static constexpr unsigned kEach = 2;
  IngressMemory memory;

  void thread(unsigned index) { index == 2 ? consume() : produce(index + 1); }

  void produce(unsigned rank) {
    btl::IngressProducer<ModelAtomics, ModelQueue> producer(ModelQueue(memory), rank);
    for (unsigned i = 0; i < kEach; ++i) {
      auto claim = producer.claim();
      while (!claim.ok) {
        wait_a_little();
        claim = producer.claim();
      }
      memory.payload[claim.cell]($) = rank * 100 + i;
      producer.publish(claim);
    }
  }

  void consume() {
    btl::IngressConsumer<ModelAtomics, ModelQueue> consumer{ModelQueue(memory)};
    unsigned next[3] = {0, 0, 0};
    for (unsigned taken = 0; taken < 2 * kEach; ++taken) {
      std::uint64_t word = 0;
      while ((word = consumer.peek()) == 0 || btl::state_of(word) != btl::CellState::full) wait_a_little();
      const unsigned value = memory.payload[consumer.cell()]($);
      const std::uint32_t rank = btl::rank_of(word);
      check(value == rank * 100 + next[rank]);
      ++next[rank];
      memory.payload[consumer.cell()]($) = 0u;  // delivered in place: the consumer may write there
      consumer.pop();
    }
    check(consumer.peek() == 0);
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  return survives_random<Ingress>(iterations_of(argc, argv, 200000)) ? 0 : 1;
}
