// SPDX-License-Identifier: BSD-3-Clause
// Model: three threads take extents from a list and return them; an extent has one owner at a time.

#include "frameworks/shm/free_list.hpp"

#include "tests/model/model.hpp"

namespace starling::model {

struct FreeExtents : rl::test_suite<FreeExtents, 3> {
  static constexpr std::uint32_t kExtents = 3;
  static constexpr unsigned kRounds = 2;
  ModelAtomic<std::uint64_t> head;
  ModelAtomic<std::uint32_t> links[kExtents + 1];
  rl::var<unsigned> content[kExtents + 1];

  struct Links {
    FreeExtents* model;
    ModelAtomic<std::uint32_t>& operator()(std::uint32_t index) const { return model->links[index]; }
  };
  shm::FreeList<ModelAtomics, Links> list() { return {head, Links{this}}; }

  void before() {
    auto all = list();
    for (std::uint32_t i = 1; i <= kExtents; ++i) {
      content[i]($) = 0u;
      all.push(i);
    }
  }
  void thread(unsigned index) {
    auto all = list();
    for (unsigned round = 0; round < kRounds; ++round) {
      const std::uint32_t first = all.pop();
      const std::uint32_t second = index == 0 ? all.pop() : 0;
      check(first == 0 || first != second);
      for (const std::uint32_t mine : {first, second}) {
        if (mine != 0) content[mine]($) = index + 1;
      }
      for (const std::uint32_t mine : {first, second}) {
        if (mine == 0) continue;
        check(content[mine]($) == index + 1);
        all.push(mine);
      }
    }
  }
  void after() {
    auto all = list();
    unsigned found = 0;
    bool seen[kExtents + 1] = {};
    for (std::uint32_t index = all.pop(); index != 0; index = all.pop()) {
      check(!seen[index]);
      seen[index] = true;
      ++found;
    }
    check(found == kExtents);
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  return survives_random<FreeExtents>(iterations_of(argc, argv, 200000)) ? 0 : 1;
}
