// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The pml under test in several processes of one program, over a btl that the suite drives.
/// Layer: tests.

#include <string>
#include <vector>

#include "tests/conformance/plugin.hpp"
#include "tests/conformance/pml/job.hpp"

namespace starling::conformance {

using pml::test::filled;
using pml::test::GetMode;
using pml::test::kAny;
using pml::test::kAnyTagInt;
using pml::test::kWorld;
using pml::test::OpPtr;
using pml::test::PairOptions;

class PmlJob : public pml::test::JobOf<Plugin::Handle<pml::Framework>> {
 public:
  explicit PmlJob(std::uint32_t size, const PairOptions& options = {}) : JobOf(size, options) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      join([&](peer::Peers& its) {
        auto made = plugin_under_test().create<pml::Framework>(pml::Args{params_, its, {0, rank}, size});
        EXPECT_TRUE(made) << "the factory cannot make a component here: " << made.error().text();
        return made ? std::move(*made) : Plugin::Handle<pml::Framework>(nullptr, {nullptr});
      });
    }
  }
  ~PmlJob() { engines.clear(); }  // before the parameters and the peers
  PmlJob(const PmlJob&) = delete;
  PmlJob& operator=(const PmlJob&) = delete;

  /// False: the failure has been told.
  [[nodiscard]] bool works() const { return contexts.size() == network.size(); }

 private:
  params::Registry params_ = test_parameters();
};

class Pml : public testing::Test {
 protected:
  static std::vector<std::byte> one(int number) { return {std::byte(number)}; }
  /// Whether that receive has ended with that number.
  static testing::AssertionResult got(PmlJob& job, const OpPtr& receive, int number) {
    job.settle();
    if (!receive->complete()) {
      return testing::AssertionFailure()
             << "a receive does not end, though message " << number << " was sent for it";
    }
    const int found = receive->data.empty() ? -1 : int(receive->data[0]);
    if (found == number) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "a receive got message " << found << ", expected " << number
                                       << ": messages from one process on one context match in the order in "
                                          "which they were sent, and receives in that of their posting";
  }
};

}  // namespace starling::conformance
