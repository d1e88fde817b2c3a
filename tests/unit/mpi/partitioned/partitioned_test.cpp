// SPDX-License-Identifier: BSD-3-Clause
// Both sides of a partitioned operation in one process, which sends to itself: who divides the data how, what
// has arrived when, and sides that differ.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "mpi/creation/factory.hpp"
#include "mpi/datatype/predefined.hpp"
#include "mpi/error.hpp"
#include "mpi/partitioned/receive.hpp"
#include "mpi/partitioned/send.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/session/session.hpp"
#include "mpi/status.hpp"
#include "mpi/world/open.hpp"

namespace starling::mpi::partitioned {
namespace {

constexpr int kTag = 5;

class Partitioned : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Hold lock(registry().lock, Hold::always);
    ASSERT_EQ(open_runtime(MPI_THREAD_SINGLE), MPI_SUCCESS);
    comm = CommFactory::self({}).comm;
    ASSERT_NE(comm, nullptr);
  }
  static void TearDownTestSuite() {
    const Hold lock(registry().lock, Hold::always);
    CommFactory::release(*comm);
    close_runtime();
  }

  /// Persistent requests, as MPI_Psend_init and MPI_Precv_init make them.
  template <class Side>
  Request& request_of(std::unique_ptr<Side> side) {
    Request* const request = Request::make(Request::Form::operation);
    request->comm = Ref<Comm>::share(comm);
    request->operation = std::move(side);
    request->persistent = true;
    return *request;
  }
  Send& sender(std::uint32_t partitions, std::uint64_t count) {
    from.resize(partitions * count);
    std::iota(from.begin(), from.end(), 1000);
    auto made = std::make_unique<Send>(from.data(), partitions, count, type(), 0);
    EXPECT_EQ(made->offer(*comm, kTag), MPI_SUCCESS);
    Send& side = *made;
    send = &request_of(std::move(made));
    return side;
  }
  Receive& receiver(std::uint32_t partitions, std::uint64_t count) {
    to.assign(partitions * count, -1);
    auto made = std::make_unique<Receive>(to.data(), partitions, count, type(), 0);
    EXPECT_EQ(made->expect(*comm, kTag), MPI_SUCCESS);
    Receive& side = *made;
    receive = &request_of(std::move(made));
    return side;
  }
  void start_both() {
    for (Request* const request : {receive, send}) {
      ASSERT_EQ(request->start(), MPI_SUCCESS);
      request->active = true;
    }
  }
  static void settle() {
    for (int pass = 0; pass < 100; ++pass) (void)Runtime::get()->polling().progress();
  }
  static Datatype& type() { return *predefined_datatype(builtin::kInt); }
  void TearDown() override {
    for (Request* const request : {receive, send}) {
      if (request != nullptr) request->free();
    }
  }

  inline static Comm* comm = nullptr;
  std::vector<int> from, to;
  Request* send = nullptr;
  Request* receive = nullptr;
};

TEST_F(Partitioned, a_partition_of_the_receiver_has_arrived_with_the_last_of_its_bytes) {
  Send& out = sender(3, 4);      // 12 elements in threes and
  Receive& in = receiver(2, 6);  // in twos: the sender's second partition has bytes of both
  start_both();
  out.set_ready(0);
  settle();
  EXPECT_FALSE(in.arrived(0));
  EXPECT_FALSE(in.arrived(1));
  out.set_ready(1);
  settle();
  EXPECT_TRUE(in.arrived(0));
  EXPECT_FALSE(in.arrived(1));
  EXPECT_FALSE(send->done());
  EXPECT_FALSE(receive->done());
  out.set_ready(2);
  settle();
  ASSERT_TRUE(send->done());
  ASSERT_TRUE(receive->done());
  EXPECT_TRUE(in.arrived(1));
  EXPECT_EQ(to, from);
  MPI_Status status{};
  EXPECT_EQ(in.finish(status), MPI_SUCCESS);
  EXPECT_EQ(status.MPI_SOURCE, 0);
  EXPECT_EQ(status.MPI_TAG, kTag);
}

TEST_F(Partitioned, partitions_may_be_ready_in_any_order_and_again_after_each_start) {
  Send& out = sender(4, 2);
  Receive& in = receiver(4, 2);
  for (int round = 0; round < 3; ++round) {
    for (int& value : from) ++value;
    std::fill(to.begin(), to.end(), -1);
    start_both();
    for (const std::uint32_t partition : {2u, 0u, 3u}) {
      EXPECT_FALSE(out.ready(partition));
      out.set_ready(partition);
      EXPECT_TRUE(out.ready(partition));
      settle();
      EXPECT_TRUE(in.arrived(partition));
      EXPECT_FALSE(in.arrived(1)) << "its data have not been given";
    }
    EXPECT_EQ(to[2], -1);
    out.set_ready(1);
    settle();
    ASSERT_TRUE(receive->done());
    ASSERT_TRUE(send->done());
    EXPECT_EQ(to, from) << round;
  }
}

TEST_F(Partitioned, the_receiver_may_start_before_the_sender_exists) {
  Receive& in = receiver(1, 3);
  ASSERT_EQ(receive->start(), MPI_SUCCESS);
  receive->active = true;
  settle();
  EXPECT_FALSE(receive->done());
  EXPECT_FALSE(in.arrived(0));
  Send& out = sender(3, 1);
  ASSERT_EQ(send->start(), MPI_SUCCESS);
  send->active = true;
  for (std::uint32_t partition = 0; partition < 3; ++partition) out.set_ready(partition);
  settle();
  ASSERT_TRUE(receive->done());
  EXPECT_EQ(to, from);
}

TEST_F(Partitioned, a_send_that_is_longer_is_an_error_and_writes_nothing) {
  Send& out = sender(2, 3);
  Receive& in = receiver(2, 2);
  start_both();
  out.set_ready(0);
  out.set_ready(1);
  settle();
  ASSERT_TRUE(send->done()) << "the sender can go on";
  ASSERT_TRUE(receive->done());
  MPI_Status status{};
  EXPECT_EQ(in.finish(status), MPI_ERR_TRUNCATE);
  EXPECT_EQ(to, std::vector<int>(4, -1));
}

TEST_F(Partitioned, a_send_that_is_shorter_is_an_error_and_is_delivered) {
  Send& out = sender(2, 3);
  Receive& in = receiver(2, 5);  // the second partition begins behind the last byte but one
  for (int round = 0; round < 2; ++round) {
    std::fill(to.begin(), to.end(), -1);
    start_both();
    out.set_ready(0);
    out.set_ready(1);
    EXPECT_FALSE(in.arrived(1)) << "some of it never comes";
    settle();
    ASSERT_TRUE(send->done());
    ASSERT_TRUE(receive->done());
    MPI_Status status{};
    EXPECT_EQ(in.finish(status), MPI_ERR_COUNT);
    const std::string said(last_error_detail());
    EXPECT_NE(said.find("has 24 bytes"), std::string::npos) << said;
    EXPECT_NE(said.find("expects 40"), std::string::npos) << said;
    int count = -1;
    EXPECT_EQ(PMPI_Get_count(&status, MPI_INT, &count), MPI_SUCCESS);
    EXPECT_EQ(count, 6);
    std::vector<int> wanted(10, -1);
    std::copy(from.begin(), from.end(), wanted.begin());
    EXPECT_EQ(to, wanted);
  }
}

TEST_F(Partitioned, a_side_without_a_partner_process_completes_alone) {
  std::vector<int> data(4);
  auto to_nobody = std::make_unique<Send>(data.data(), 2u, 2u, type(), MPI_PROC_NULL);
  ASSERT_EQ(to_nobody->offer(*comm, kTag), MPI_SUCCESS);
  Send& out = *to_nobody;
  send = &request_of(std::move(to_nobody));
  auto from_nobody = std::make_unique<Receive>(data.data(), 2u, 2u, type(), MPI_PROC_NULL);
  ASSERT_EQ(from_nobody->expect(*comm, kTag), MPI_SUCCESS);
  Receive& in = *from_nobody;
  receive = &request_of(std::move(from_nobody));
  start_both();
  out.set_ready(0);
  settle();
  EXPECT_FALSE(send->done()) << "one partition is not ready";
  out.set_ready(1);
  EXPECT_TRUE(send->done());
  EXPECT_TRUE(receive->done());
  MPI_Status status{};
  EXPECT_EQ(in.finish(status), MPI_SUCCESS);
  EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
}

TEST_F(Partitioned, a_receive_that_is_freed_before_its_offer_comes_gets_it_all_the_same) {
  (void)receiver(2, 2);
  receive->free();
  receive = nullptr;
  (void)sender(3, 1);
  send->free();
  Send& out = sender(2, 2);  // the second offer, for the second receive
  (void)receiver(2, 2);
  start_both();
  out.set_ready(0);
  out.set_ready(1);
  settle();
  ASSERT_TRUE(receive->done());
  EXPECT_EQ(to, from);
}

}  // namespace
}  // namespace starling::mpi::partitioned
