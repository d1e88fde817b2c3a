// SPDX-License-Identifier: BSD-3-Clause
// Random programs of several processes against a matcher that is too simple to be wrong.
//
// The reference keeps every message of a (sender, receiver, context) in a list in the order sent. A receive
// that completes must have got the oldest of its source's messages that it could match at the time it was
// posted or that came later: this is checked by replaying the receiver's own history (its posts, and what
// each got) in order.
#include <algorithm>
#include <list>

#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

struct Sent {
  std::uint32_t from;
  int tag;
  std::uint64_t serial;  // per (from, to, context), in the order sent
  std::size_t bytes;
  bool synchronous;
  OpPtr op;
  bool received = false;
};

struct Posted {
  int source, tag;
  OpPtr op;
  bool checked = false;
};

/// One (receiver, context).
struct Box {
  std::vector<std::list<Sent>> sent;  // [from], in the order sent; gone once received and complete
  std::list<Posted> posted;           // in the order posted
};

class Program {
 public:
  Program(std::uint32_t seed, const PairOptions& options, Large large, const Config& config)
      : job_(kSize, options, large, config), random_(seed) {
    const ContextId second = ContextId::make(1, 1);
    for (std::uint32_t rank = 0; rank < kSize; ++rank) {
      contexts_[0].push_back(job_.contexts[rank]);
      contexts_[1].push_back(job_.open(rank, second));
    }
    for (auto& boxes : boxes_) {
      boxes.resize(kSize);
      for (Box& box : boxes) box.sent.resize(kSize);
    }
  }

  void run(int operations) {
    for (int i = 0; i < operations && !testing::Test::HasFatalFailure(); ++i) {
      const unsigned dice = below(calm ? 400 : 100);
      if (dice < 35)
        send();
      else if (dice < 68)
        receive(false);
      else if (dice < 73)
        probe();
      else if (dice < 76)
        receive(true);
      else if (dice < 77)
        cancel();
      else
        job_.at(below(kSize)).progress();
      if (i % 64 == 0) check();
    }
    finish();
  }

  bool calm = false;  ///< more progress between two calls, more long messages, less that waits

  std::size_t sent(wire::Kind kind) {
    std::size_t all = 0;
    for (std::uint32_t rank = 0; rank < kSize; ++rank)
      all += job_.network.at(rank).sent(static_cast<std::uint8_t>(kind));
    return all;
  }

 private:
  static constexpr std::uint32_t kSize = 4;

  unsigned below(unsigned limit) { return unsigned(random_() % limit); }
  std::size_t some_size() {
    switch (below(calm ? 4 : 8)) {
      case 0: return 0;
      case 1: return 1000 + below(50);
      case 2: return 1024 + below(3000);
      case 3: return below(6) == 0 ? 20'000 : 600;
      default: return below(64);
    }
  }
  static std::vector<std::byte> contents(const Sent& sent) {
    return filled(sent.bytes, sent.from * 1000 + sent.serial);
  }

  void send() {
    std::uint32_t from = below(kSize), to = below(kSize);
    const std::size_t which = below(2);
    Box& box = boxes_[which][to];
    int tag = int(below(3));
    if (calm && !box.posted.empty() && below(4) != 0) {  // what somebody waits for
      const Posted& wanted = *std::next(box.posted.begin(), below(unsigned(box.posted.size())));
      if (wanted.source != kAny) from = std::uint32_t(wanted.source);
      if (wanted.tag != kAnyTagInt) tag = wanted.tag;
    }
    if (box.sent[from].size() > (calm ? 4u : 60u)) return;
    Sent sent{from, tag, serials_[which][from][to]++, some_size(), below(6) == 0, nullptr};
    sent.op = job_.make(from, int(to), sent.tag, contents(sent));
    sent.op->request.context = contexts_[which][from];
    sent.op->request.mode = sent.synchronous ? Mode::synchronous : Mode::standard;
    job_[from].isend(sent.op->request);
    box.sent[from].push_back(std::move(sent));
  }

  void receive(bool and_cancel) {
    const std::uint32_t me = below(kSize);
    const std::size_t which = below(2);
    Box& box = boxes_[which][me];
    if (box.posted.size() > (calm ? 6u : 60u)) return;
    Posted posted{below(calm ? 9 : 3) == 0 ? kAny : int(below(kSize)),
                  below(calm ? 9 : 3) == 0 ? kAnyTagInt : int(below(3)), nullptr};
    posted.op = job_.make(me, posted.source, posted.tag, std::vector<std::byte>(21'000));
    posted.op->request.context = contexts_[which][me];
    job_[me].irecv(posted.op->request);
    if (and_cancel) {
      job_[me].cancel(posted.op->request);
      if (posted.op->status().cancelled && posted.op->complete()) return;
    }
    box.posted.push_back(std::move(posted));
  }

  /// Of a receive that was posted some time ago: it ends, or its message is on the way.
  void cancel() {
    const std::uint32_t me = below(kSize);
    Box& box = boxes_[below(2)][me];
    if (box.posted.empty()) return;
    const auto at = std::next(box.posted.begin(), below(unsigned(box.posted.size())));
    if (at->op->complete() || at->op->request.phase != detail::kPosted) return;
    job_[me].cancel(at->op->request);
    if (at->op->complete()) box.posted.erase(at);
  }

  void probe() {
    const std::uint32_t me = below(kSize);
    const std::size_t which = below(2);
    Status seen;
    Context& context = *contexts_[which][me];
    const bool take = below(2) == 0;
    Message* message = nullptr;
    if (take) {
      message = job_[me].mprobe(context, kAnySource, kAnyTag, &seen);
      if (message == nullptr) return;
    } else if (!job_[me].probe(context, kAnySource, kAnyTag, &seen)) {
      return;
    }
    // What was probed is what a receive with that source and tag gets.
    Posted posted{to_int(seen.source), to_int(seen.tag), nullptr};
    posted.op = job_.make(me, posted.source, posted.tag, std::vector<std::byte>(std::size_t(seen.bytes)));
    posted.op->request.context = &context;
    if (take) {
      job_[me].mrecv(message, posted.op->request);
    } else {
      job_[me].irecv(posted.op->request);
    }
    // It matched now, before anything that is still posted: nothing posted could have matched it earlier.
    boxes_[which][me].posted.push_back(std::move(posted));
  }

  /// Completed receives, per source in the order they were posted, must have got messages in the order sent.
  void check() {
    for (auto& boxes : boxes_) {
      for (Box& box : boxes) {
        check(box);
        for (auto& list : box.sent) {
          list.remove_if([](const Sent& sent) { return sent.received && sent.op->complete(); });
        }
        box.posted.remove_if([](const Posted& posted) { return posted.checked; });
      }
    }
  }

  static bool fits(const Posted& posted, std::uint32_t from, int tag) {
    return (posted.source == kAny || posted.source == int(from)) &&
           (posted.tag == kAnyTagInt || posted.tag == tag);
  }

  void check(Box& box) {
    for (auto at = box.posted.begin(); at != box.posted.end(); ++at) {
      if (!at->op->complete() || at->checked) continue;
      const Status& status = at->op->status();
      ASSERT_EQ(status.fault, Fault::none);
      ASSERT_FALSE(status.cancelled);
      const auto from = std::uint32_t(to_int(status.source));
      const int tag = to_int(status.tag);
      ASSERT_TRUE(fits(*at, from, tag));
      // The oldest unreceived message of that source and tag: exactly that one must have come, unless an
      // earlier receive that fits it is still under way (a long transfer), which then owns an older message.
      const auto earlier = std::count_if(box.posted.begin(), at, [&](const Posted& other) {
        return !other.checked && !other.op->complete() && other.op->request.phase != detail::kPosted &&
               other.op->request.status.source == status.source && other.op->request.status.tag == status.tag;
      });
      // A receive posted earlier that could have matched it must not still be waiting.
      for (auto other = box.posted.begin(); other != at; ++other) {
        ASSERT_FALSE(!other->op->complete() && other->op->request.phase == detail::kPosted &&
                     fits(*other, from, tag));
      }
      auto candidate = box.sent[from].begin();
      const auto next = [&] {
        while (candidate != box.sent[from].end() && (candidate->received || candidate->tag != tag))
          ++candidate;
      };
      next();
      for (auto skip = earlier; skip > 0; --skip) {
        ASSERT_NE(candidate, box.sent[from].end());
        ++candidate;
        next();
      }
      ASSERT_NE(candidate, box.sent[from].end());
      ASSERT_EQ(status.bytes, candidate->bytes);
      at->op->data.resize(std::size_t(status.bytes));
      ASSERT_EQ(at->op->data, contents(*candidate));
      candidate->received = true;
      at->checked = true;
    }
  }

  void finish() {
    for (int round = 0; round < 2000 && !testing::Test::HasFatalFailure(); ++round) {
      job_.settle(30);
      check();
      bool left = false;
      for (std::size_t which : {0u, 1u}) {
        for (std::uint32_t me = 0; me < kSize; ++me) {
          Box& box = boxes_[which][me];
          for (auto& list : box.sent) left |= !list.empty();
          Posted posted{kAny, kAnyTagInt, nullptr};
          posted.op = job_.make(me, kAny, kAnyTagInt, std::vector<std::byte>(21'000));
          posted.op->request.context = contexts_[which][me];
          if (!job_[me].probe(*contexts_[which][me], kAnySource, kAnyTag, nullptr)) continue;
          job_[me].irecv(posted.op->request);
          box.posted.push_back(std::move(posted));
        }
      }
      if (!left) break;
    }
    if (testing::Test::HasFatalFailure()) return;
    for (auto& boxes : boxes_) {
      for (Box& box : boxes) {
        for (auto& list : box.sent) EXPECT_TRUE(list.empty());
        for (const Posted& posted : box.posted)
          EXPECT_EQ(posted.op->request.phase, std::uint32_t(detail::kPosted));
      }
    }
    job_.settle(30);  // a probe may have asked for more, with the transport full
    EXPECT_TRUE(job_.drained());
    for (std::uint32_t rank = 0; rank < kSize; ++rank) EXPECT_EQ(job_[rank].counters().unexpected_bytes, 0u);
  }

  Job job_;
  std::mt19937 random_;
  std::vector<Context*> contexts_[2];
  std::vector<Box> boxes_[2];
  std::uint64_t serials_[2][kSize][kSize] = {};
};

constexpr int kOperations = 100'000;

TEST(Model, random_programs_over_an_easy_transport) { Program(1, {}, Large::ring, {}).run(kOperations); }

TEST(Model, random_programs_over_a_slow_and_full_transport) {
  PairOptions options;
  options.capacity = 3;
  options.again_percent = 40;
  options.delay = 3;
  Config config;
  config.unexpected_max = 1;
  Program(2, options, Large::ring, config).run(kOperations);
}

TEST(Model, random_programs_with_gets) {
  PairOptions options;
  options.capacity = 5;
  options.get = GetMode::later;
  Config config;
  config.get_chunk_bytes = 777;
  config.unexpected_max = 1;
  Program(3, options, Large::get, config).run(kOperations);
}

TEST(Model, random_programs_where_gets_break) {
  PairOptions options;
  options.get = GetMode::fails_at_second;
  options.again_percent = 10;
  Config config;
  config.get_chunk_bytes = 777;
  Program(4, options, Large::get, config).run(kOperations);
}

TEST(Model, random_programs_whose_messages_leave_out_of_the_users_memory) {
  for (const std::size_t least : {1u, 200u}) {
    PairOptions options;
    options.capacity = 5;
    options.again_percent = 20;
    options.delay = 2;
    options.send_from = least;
    Config config;
    config.unexpected_max = 1;
    Program(7 + static_cast<unsigned>(least), options, Large::ring, config).run(kOperations);
  }
}

TEST(Model, random_programs_whose_short_messages_wait_for_others) {
  PairOptions options;
  options.capacity = 5;
  options.again_percent = 20;
  options.delay = 2;
  options.send_from = 400;
  options.join = 200;
  Config config;
  config.unexpected_max = 1;
  Program(11, options, Large::ring, config).run(kOperations);
}

TEST(Model, random_programs_whose_eager_messages_go_in_parts) {
  for (const unsigned full : {0u, 1u}) {
    PairOptions options;
    options.part = 300;
    options.parts_above = 400;
    options.parted = 4000;
    if (full != 0) {
      options.capacity = 3;
      options.again_percent = 20;
      options.delay = 1;
    }
    Config config;
    config.unexpected_max = 1;
    Program program(21 + full, options, Large::ring, config);
    program.run(kOperations);
    EXPECT_GT(program.sent(wire::Kind::part), 1000u);
  }
}

TEST(Model, random_programs_whose_senders_may_announce_one_or_two) {
  for (const std::uint32_t most : {1u, 2u}) {
    PairOptions options;
    options.capacity = 2 + most * 3;
    options.again_percent = 20;
    options.delay = most;
    options.get = most == 2 ? GetMode::later : GetMode::none;
    Config config;
    config.unexpected_max = 1;
    config.announced_max = most;
    Program(4 + most, options, most == 2 ? Large::get : Large::ring, config).run(kOperations);
  }
}

TEST(Model, random_programs_whose_receivers_tell_their_senders) {
  for (const bool full : {false, true}) {
    PairOptions options;
    options.writes = options.copies = true;
    if (full) {
      options.capacity = 3;
      options.again_percent = 40;
      options.delay = 1;
    }
    Config config;
    config.early_push = EarlyPush::always;
    Program program(11 + unsigned(full), options, Large::ring, config);
    program.calm = true;
    program.run(12 * kOperations);
    EXPECT_GT(program.sent(wire::Kind::early), full ? 100u : 1000u);
  }
}

}  // namespace
}  // namespace starling::pml::test
