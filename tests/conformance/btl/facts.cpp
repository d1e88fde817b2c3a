// SPDX-License-Identifier: BSD-3-Clause
// Every btl: what it says that it can, it can; who ends is reported; nobody sleeps over a message.

#include <poll.h>

#include "tests/conformance/btl/getting.hpp"
#include "tests/conformance/btl/suite.hpp"

namespace starling::conformance {
namespace {

using test::make_message;

TEST_F(Btl, get_copies_what_the_other_process_has) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  if (!job.component(0).limits().can.has(btl::Capability::get))
    GTEST_SKIP() << "it does not say that it can get";
  if (!job.endpoint(0, 1).can_get({})) GTEST_SKIP() << "this machine does not let one process read another";
  job.endpoint(1, 0);
  for (const std::size_t bytes : {1u, 4096u, 70'001u, 1u << 20, 5'000'003u}) {
    test::Getting get(bytes);
    Post post = Post::again;
    ASSERT_TRUE(progress_until(job, [&] {
      if (post == Post::again) post = get.start(job.endpoint(0, 1));
      return post != Post::again;
    })) << "Capability::get is set and can_get() is true, but get() gives again for ever";
    if (post == Post::posted) {
      ASSERT_TRUE(progress_until(job, [&] { return get.ended(); }))
          << "the Completion of a get is never called";
      EXPECT_TRUE(get.ok) << "Capability::get is set and can_get() is true, but a get of " << bytes
                          << " bytes failed";
    }
    EXPECT_EQ(get.times_told, post == Post::posted ? 1 : 0) << "posted: called once; done: not at all";
    ASSERT_TRUE(get.copied()) << "a get of " << bytes
                              << " bytes has ended, and the bytes are not those of the other process: does "
                                 "this transport have the Capability::get that it claims?";
  }
  EXPECT_EQ(job.endpoint(0, 1).get({0, 0}, {}, nullptr), Post::done) << "nothing to copy is done at once";
}

TEST_F(Btl, a_process_that_ends_is_reported_once) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  if (job.reach() != btl::Reach::network)
    GTEST_SKIP() << "within a node the segment tells of ends, and not the transport";
  btl::Endpoint& to_peer = job.endpoint(0, 1);
  job.endpoint(1, 0);
  ASSERT_NO_FATAL_FAILURE(send(job, 0, 1, {1, 50}, 0));
  ASSERT_NO_FATAL_FAILURE(receive(job, 1, {{1, 50}}));
  job.end(1);
  // Who sends finds out; a small message may still be taken by the kernel.
  const auto message =
      make_message(3, std::min<std::size_t>(30'000, job.component(0).limits().message_max_bytes));
  EXPECT_TRUE(progress_until(job, [&] {
    (void)to_peer.send({}, message);
    return !job.sink(0).lost.empty();
  })) << "a process has ended, and who sends to it is not told by Sink::on_peer_lost";
  for (int i = 0; i < 100; ++i) {
    (void)to_peer.send({}, message);
    job.progress();
  }
  ASSERT_EQ(job.sink(0).lost.size(), 1u) << "a loss is reported once";
  EXPECT_EQ(job.sink(0).lost[0], (ProcId{0, 1})) << "another process is reported than the one that has ended";
  const Errc code = job.sink(0).why_lost[0];
  EXPECT_TRUE(code == Errc::peer_lost || code == Errc::unreachable)
      << "expected peer_lost or unreachable: it has not left in order; got: " << job.sink(0).reasons[0];
}

TEST_F(Btl, nobody_sleeps_over_a_message) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  job.endpoint(1, 0);
  ASSERT_NO_FATAL_FAILURE(send(job, 0, 1, {7, 100}, 0));
  bool awake = false;
  for (const Deadline deadline = patience(); !awake && !deadline.passed();) {
    if (!job.within_one_process()) job.component(0).progress();  // it may have to push
    awake = !job.component(1).begin_sleep();
    if (awake) break;
    pollfd descriptor{job.component(1).wait_fd(), POLLIN, 0};
    awake = ::poll(&descriptor, 1, 10) > 0;
    job.component(1).end_sleep();
  }
  EXPECT_TRUE(awake) << "a message has come, but begin_sleep() allows to sleep and wait_fd() does not wake";
  receive(job, 1, {{7, 100}});
}

}  // namespace
}  // namespace starling::conformance
