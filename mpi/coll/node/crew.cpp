// SPDX-License-Identifier: BSD-3-Clause
// What a crew does when a few looks were not enough. Layer: mpi.

#include "mpi/coll/node/crew.hpp"

namespace starling::mpi::coll::node {

bool Crew::wait(Question question, std::uint32_t member) noexcept {
  Asked asked{&board_, question, member};
  const auto ready = [](void* context) {
    const auto& what = *static_cast<const Asked*>(context);
    return what.question(*what.board, what.member);
  };
  return patience_.wait(ready, &asked, member);
}

}  // namespace starling::mpi::coll::node
