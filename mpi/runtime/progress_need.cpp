// SPDX-License-Identifier: BSD-3-Clause
// Who needs progress while the program computes. Layer: mpi.

#include "mpi/runtime/progress_need.hpp"

#include <algorithm>

#include "mpi/runtime/background_progress.hpp"

namespace starling::mpi {

ProgressNeed::~ProgressNeed() {
  if (progress_ != nullptr) progress_->drop(id_);
}

std::uint64_t ProgressNeeds::add(std::string why) {
  needs_.push_back({++last_id_, std::move(why)});
  return last_id_;
}

void ProgressNeeds::drop(std::uint64_t id) noexcept {
  std::erase_if(needs_, [id](const Need& need) { return need.id == id; });
}

std::vector<std::string> ProgressNeeds::reasons() const {
  std::vector<std::pair<std::string, std::size_t>> counted;
  for (const Need& need : needs_) {
    const auto known =
        std::find_if(counted.begin(), counted.end(), [&](const auto& one) { return one.first == need.why; });
    if (known == counted.end()) {
      counted.emplace_back(need.why, 1);
    } else {
      ++known->second;
    }
  }
  std::vector<std::string> texts;
  for (const auto& [why, times] : counted)
    texts.push_back(times == 1 ? why : why + " (" + std::to_string(times) + " times)");
  return texts;
}

}  // namespace starling::mpi
