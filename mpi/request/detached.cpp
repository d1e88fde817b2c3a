// SPDX-License-Identifier: BSD-3-Clause
// Requests that nobody will ask for again. Layer: mpi.

#include "mpi/request/detached.hpp"

#include <vector>

namespace starling::mpi {
namespace {

class Detached final : public Progressable {
 public:
  void add(Request& request) {
    requests_.push_back(&request);
    Runtime::get()->polling().add(*this);
  }
  int progress() noexcept override {
    int events = 0;
    for (std::size_t i = 0; i < requests_.size();) {
      if (!requests_[i]->done()) {
        ++i;
        continue;
      }
      requests_[i]->free();
      requests_[i] = requests_.back();
      requests_.pop_back();
      ++events;
    }
    if (requests_.empty()) Runtime::get()->polling().remove(*this);
    return events;
  }

 private:
  std::vector<Request*> requests_;
};

}  // namespace

void detach(Request& request) {
  static auto* const detached = new Detached;
  request.detached = true;
  if (request.operation != nullptr && request.operation->ended_by_user()) return;
  detached->add(request);
}

}  // namespace starling::mpi
