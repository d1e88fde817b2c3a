// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets by the transport that fail: who waits for them is told, once, and waits for nothing that will
// not come. Layer: tests.

#include <gtest/gtest.h>

#include <array>

#include "mpi/onesided/operations.hpp"
#include "mpi/request/request.hpp"
#include "tests/unit/mpi/onesided/fake_remote.hpp"

namespace starling::mpi::message {
namespace {

using test::FakeRemote;
using test::InTheWait;
using test::LoneWindow;

struct NativeAccess : testing::Test {
  FakeRemote fake;
  LoneWindow window{64};
  Hold lock{registry().lock, Hold::always};
  peer::Peer& self = Runtime::get()->peers().table().peer(Runtime::get()->place().self());
  btl::Endpoint* before = nullptr;
  std::unique_ptr<test::RemoteEndpoint> endpoint;
  std::array<std::byte, 8> buffer{};

  NativeAccess() {
    EXPECT_EQ(Runtime::get()->peers().table().connect(self), peer::Contact::made);
    before = self.endpoint;
    endpoint = std::make_unique<test::RemoteEndpoint>(*before, fake);
    self.endpoint = endpoint.get();
    renew();
  }
  /// A window to which nothing has happened.
  void renew() {
    window.renew();
    NativeKey key;
    const std::string_view name = self.transport->name();
    std::copy(name.begin(), name.end(), key.transport.begin());
    key.bytes = 1;
    auto native = std::make_unique<Native>(window.win());
    native->take({key});
    part().use(std::move(native));
  }
  ~NativeAccess() override {
    while (fake.open() != 0) fake.end(false);
    self.endpoint = before;
  }
  Part& part() { return window.part(); }
  Native& native() { return *part().native(); }
  void put() { EXPECT_TRUE(native().put(0, part().to(0).next_number(), 0, buffer)); }
  void get() { EXPECT_TRUE(native().get(0, part().to(0).next_number(), 0, buffer)); }
  /// What the operation called last ends with, if it has ended; it must.
  int result_of_last(MPI_Request handle) {
    Request* const request = find_request(handle);
    if (request == nullptr) return MPI_ERR_REQUEST;
    EXPECT_TRUE(request->done());
    MPI_Status status;
    const int rc = request->done() ? request->result(status) : MPI_ERR_PENDING;
    request->free();
    return rc;
  }
  int flush(bool all) { return all ? part().flush_all(false, "test") : part().flush(0, false, "test"); }
  static void pass() { (void)Runtime::get()->polling().progress(); }
};

TEST_F(NativeAccess, a_request_ends_with_its_access) {
  get();
  const MPI_Request first = request_of_last(window.win(), 0);
  get();
  const MPI_Request second = request_of_last(window.win(), 0);
  pass();
  EXPECT_FALSE(find_request(first)->done());
  fake.end(true);
  pass();
  EXPECT_EQ(result_of_last(first), MPI_SUCCESS);
  EXPECT_FALSE(find_request(second)->done());
  fake.end(true);
  pass();
  EXPECT_EQ(result_of_last(second), MPI_SUCCESS);
}

TEST_F(NativeAccess, what_is_longer_than_one_access_goes_by_messages) {
  fake.allow(sizeof buffer - 1);
  EXPECT_FALSE(native().put(0, part().to(0).next_number(), 0, buffer));
  EXPECT_FALSE(native().get(0, part().to(0).next_number(), 0, buffer));
  EXPECT_EQ(fake.open(), 0u);
  fake.allow(sizeof buffer);
  put();
  EXPECT_EQ(fake.open(), 1u);
}

TEST_F(NativeAccess, a_request_tells_of_an_access_that_fails) {
  get();
  const MPI_Request well = request_of_last(window.win(), 0);
  get();
  const MPI_Request later = request_of_last(window.win(), 0);
  fake.broken = true;
  get();
  const MPI_Request at_once = request_of_last(window.win(), 0);
  fake.end(true);
  fake.end(false);
  EXPECT_EQ(part().flush(0, true, "test"), MPI_ERR_PROC_ABORTED);
  pass();
  EXPECT_EQ(result_of_last(well), MPI_SUCCESS);
  EXPECT_EQ(result_of_last(later), MPI_ERR_PROC_ABORTED) << "also after a flush has told of it";
  EXPECT_EQ(result_of_last(at_once), MPI_ERR_PROC_ABORTED);
}

TEST_F(NativeAccess, after_a_failure_messages_do_it) {
  fake.broken = true;
  get();
  EXPECT_EQ(part().flush(0, false, "test"), MPI_ERR_PROC_ABORTED);
  EXPECT_FALSE(native().get(0, part().to(0).next_number(), 0, buffer));
  part().to(0).notice(What::leave);
  const MPI_Request by_message = request_of_last(window.win(), 0);
  while (!find_request(by_message)->done()) pass();
  EXPECT_EQ(result_of_last(by_message), MPI_SUCCESS);
}

TEST_F(NativeAccess, after_a_put_that_fails_nobody_waits_for_a_flush) {
  put();
  put();
  fake.end(true);
  fake.end(false);
  EXPECT_EQ(part().flush(0, true, "test"), MPI_ERR_PROC_ABORTED);
  EXPECT_EQ(part().flush(0, false, "test"), MPI_ERR_PROC_ABORTED) << "the first put may not be there";
  EXPECT_EQ(part().flush(0, false, "test"), MPI_SUCCESS);
  EXPECT_EQ(fake.flushes, 0);
}

TEST_F(NativeAccess, puts_that_were_not_flushed_before_the_loss_have_failed) {
  put();
  fake.end(true);
  part().lose(self.proc);
  fake.broken = true;
  EXPECT_EQ(part().flush(0, false, "test"), MPI_ERR_PROC_ABORTED);
  EXPECT_EQ(fake.flushes, 0);
}

TEST_F(NativeAccess, a_loss_frees_no_buffer_that_the_transport_still_uses) {
  for (const bool here : {true, false}) {
    get();
    put();
    const MPI_Request request = request_of_last(window.win(), 0);
    part().lose(self.proc);
    pass();
    EXPECT_FALSE(find_request(request)->done());
    InTheWait ending([&] {
      fake.end(true);
      fake.end(false);
    });
    EXPECT_EQ(part().flush(0, here, "test"), MPI_ERR_PROC_ABORTED);
    EXPECT_TRUE(ending.done());
    pass();
    EXPECT_EQ(result_of_last(request), MPI_ERR_PROC_ABORTED);
    renew();
  }
}

TEST_F(NativeAccess, what_fails_twice_leaves_nothing_for_the_next_epoch) {
  for (const bool all : {false, true}) {
    get();
    fake.end(false);
    Record failed;
    failed.what = What::failed;
    failed.count = MPI_ERR_RMA_RANGE;
    part().to(0).on_failed(failed, {});
    EXPECT_EQ(flush(all), MPI_ERR_RMA_RANGE);
    EXPECT_EQ(flush(all), MPI_SUCCESS);
    renew();
  }
}

TEST_F(NativeAccess, beyond_a_number_that_are_under_way_the_next_one_waits) {
  for (const bool ok : {true, false}) {
    for (std::size_t i = 0; i < Native::kOpenMost; ++i) get();
    EXPECT_EQ(fake.open(), Native::kOpenMost);
    InTheWait ending([&] { fake.end(ok); });
    EXPECT_EQ(native().get(0, part().to(0).next_number(), 0, buffer), ok) << "after a failure messages do it";
    EXPECT_TRUE(ending.done());
    EXPECT_LE(fake.open(), Native::kOpenMost);
    while (fake.open() != 0) fake.end(true);
    renew();
  }
}

}  // namespace
}  // namespace starling::mpi::message
