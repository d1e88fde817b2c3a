// SPDX-License-Identifier: BSD-3-Clause
// Life of requests: from the pool and back, without anything of the last user. No messages.

#include "mpi/request/request.hpp"

#include <gtest/gtest.h>

#include "mpi/handles.hpp"
#include "mpi/status.hpp"

namespace starling::mpi {
namespace {

/// Counts its starts, completes when told, and says when it is destroyed.
class Counted final : public Operation {
 public:
  Counted(int& starts, bool& gone) : starts_(starts), gone_(gone) {}
  ~Counted() override { gone_ = true; }
  int start(Request& request) override {
    ++starts_;
    request.core.complete.store(true, std::memory_order_release);
    return MPI_SUCCESS;
  }
  int progress() noexcept override { return 0; }
  int finish(MPI_Status& status) override {
    status.MPI_TAG = 7;
    return MPI_ERR_OP;
  }
  [[nodiscard]] std::string describe() const override { return "counted"; }

 private:
  int& starts_;
  bool& gone_;
};

MPI_Request handle_of(const Request& request) { return as_handle<MPI_Request>(request.handle()); }

TEST(Request, is_found_by_its_handle_until_it_is_freed) {
  Request* const request = Request::make(Request::Form::send);
  const MPI_Request handle = handle_of(*request);
  EXPECT_EQ(find_request(handle), request);
  request->free();
  EXPECT_EQ(find_request(handle), nullptr);
}

TEST(Request, that_is_used_again_has_nothing_of_its_last_user) {
  int starts = 0;
  bool gone = false;
  Request* const first = Request::make(Request::Form::operation);
  const MPI_Request stale = handle_of(*first);
  first->operation = std::make_unique<Counted>(starts, gone);
  first->persistent = first->detached = first->buffered = true;
  ASSERT_EQ(first->start(), MPI_SUCCESS);
  first->core.status.fault = pml::Fault::truncated;
  first->core.status.cancelled = true;
  first->free();
  EXPECT_TRUE(gone) << "the operation ends with its request";

  Request* const again = Request::make(Request::Form::receive);
  ASSERT_EQ(again, first) << "it comes from the pool";
  EXPECT_FALSE(again->persistent || again->active || again->detached || again->buffered);
  EXPECT_FALSE(again->done());
  EXPECT_EQ(again->operation, nullptr);
  EXPECT_EQ(again->core.status.fault, pml::Fault::none);
  EXPECT_FALSE(again->core.status.cancelled);
  EXPECT_TRUE(again->plain());
  EXPECT_EQ(find_request(stale), nullptr) << "the old handle must not find the new user's request";
  EXPECT_EQ(find_request(handle_of(*again)), again);
  again->free();
}

TEST(Request, of_an_operation_starts_it_each_time_and_ends_with_its_class) {
  int starts = 0;
  bool gone = false;
  Request* const request = Request::make(Request::Form::operation);
  request->operation = std::make_unique<Counted>(starts, gone);
  request->persistent = true;
  for (int round = 1; round <= 3; ++round) {
    ASSERT_EQ(request->start(), MPI_SUCCESS);
    EXPECT_EQ(starts, round);
    EXPECT_TRUE(request->active && request->done());
    MPI_Status status;
    EXPECT_EQ(request->result(status), MPI_ERR_OP);
    EXPECT_EQ(status.MPI_TAG, 7);
  }
  request->free();
  EXPECT_TRUE(gone);
}

TEST(Request, to_nobody_is_complete_at_once_with_the_status_of_the_standard) {
  Request* const request = Request::make(Request::Form::proc_null);
  ASSERT_EQ(request->start(), MPI_SUCCESS);
  EXPECT_TRUE(request->done());
  MPI_Status status;
  EXPECT_EQ(request->result(status), MPI_SUCCESS);
  EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
  request->free();
}

TEST(Request, with_a_fault_is_not_plain_and_says_its_class) {
  Request* const request = Request::make(Request::Form::receive);
  request->core.receive = true;
  request->core.status.source = Rank{3};
  request->core.status.fault = pml::Fault::peer_left;
  EXPECT_FALSE(request->plain());
  MPI_Status status;
  EXPECT_EQ(request->result(status), MPI_ERR_PROC_ABORTED);
  EXPECT_EQ(status.MPI_SOURCE, 3);
  request->free();
}

TEST(Request, that_stands_for_all_sent_messages_is_never_used_up) {
  Request& sent = Request::sent();
  const MPI_Request handle = handle_of(sent);
  sent.free();
  EXPECT_EQ(&Request::sent(), &sent);
  EXPECT_EQ(find_request(handle), &sent);
  EXPECT_TRUE(sent.active && sent.done());
  MPI_Status status;
  EXPECT_EQ(sent.result(status), MPI_SUCCESS);
}

}  // namespace
}  // namespace starling::mpi
