// SPDX-License-Identifier: BSD-3-Clause
// Two jobs that have counted alike meet: a communicator has an id in each of the two worlds, and a message
// carries that of its receiver. See docs/design/worlds.md.
#include "core/worlds.hpp"
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

/// Processes of one world after the other, as `viewer` calls them.
class Members final : public ProcList {
 public:
  Members(const PairNetwork& network, std::uint32_t viewer, std::vector<std::uint32_t> members)
      : network_(network), viewer_(viewer), members_(std::move(members)) {}
  std::uint32_t size() const noexcept override { return std::uint32_t(members_.size()); }
  ProcId at(std::uint32_t index) const noexcept override { return network_.proc(viewer_, members_[index]); }
  std::optional<std::uint32_t> find(ProcId proc) const noexcept override {
    for (std::uint32_t index = 0; index < members_.size(); ++index) {
      if (at(index) == proc) return index;
    }
    return std::nullopt;
  }
  bool consecutive() const noexcept override { return false; }

 private:
  const PairNetwork& network_;
  std::uint32_t viewer_;
  std::vector<std::uint32_t> members_;
};

constexpr std::uint32_t kTheirs[] = {2, 1};  // how world 0 calls world 1, and the reverse
constexpr std::size_t kAnnounced = 5000;     // is announced

/// Two worlds of two processes each. In both, rank 0 has led the same number of creations: every id of one
/// world is an id of the other as well.
class Meeting {
 public:
  explicit Meeting(Large large = Large::ring, Config config = {}, PairOptions options = {})
      : job_(4, with_worlds(std::move(options)), large, config) {
    for (std::uint32_t process = 0; process < 4; ++process) {
      const std::uint32_t base = process / 2 * 2;
      own_.push_back(open(process, ContextId::make(0, 2), {base, base + 1}));
    }
  }
  /// A communicator of all four, which world 0 calls `first` and world 1 `second`.
  void merge(ContextId first, ContextId second) {
    for (std::uint32_t process = 0; process < 4; ++process) {
      ContextIds ids(process < 2 ? first : second);
      ids.add(kTheirs[process / 2], process < 2 ? second : first);
      all_.push_back(open(process, std::move(ids), {0, 1, 2, 3}));
    }
  }
  void within_worlds() { job_.contexts = own_; }
  void among_all() { job_.contexts = all_; }
  Job& job() { return job_; }
  Context& of_all(std::uint32_t process) { return *all_[process]; }

 private:
  static PairOptions with_worlds(PairOptions options) {
    options.worlds = {0, 0, 1, 1};
    return options;
  }
  Context* open(std::uint32_t process, ContextIds ids, const std::vector<std::uint32_t>& members) {
    const auto me = std::find(members.begin(), members.end(), process) - members.begin();
    auto made = job_[process].open(std::move(ids), Rank{std::int32_t(me)},
                                   std::make_shared<Members>(job_.network, process, members));
    EXPECT_TRUE(made);
    return *made;
  }
  Job job_;
  std::vector<Context*> own_, all_;
};

/// Everybody sends to everybody, everybody names the sender: what arrives is what was sent on this
/// communicator.
void expect_exchange(Job& job, const std::vector<std::uint32_t>& group, std::size_t bytes, std::uint64_t seed,
                     Mode mode = Mode::standard) {
  std::vector<OpPtr> sends, receives;
  const auto size = std::uint32_t(group.size());
  for (std::uint32_t from = 0; from < size; ++from) {
    for (std::uint32_t to = 0; to < size; ++to)
      sends.push_back(job.isend(group[from], int(to), 3, filled(bytes, seed + from * 16 + to), mode));
  }
  job.settle();
  for (std::uint32_t from = 0; from < size; ++from) {
    for (std::uint32_t to = 0; to < size; ++to) receives.push_back(job.irecv(group[to], int(from), 3, bytes));
  }
  job.settle();
  for (std::uint32_t pair = 0; pair < size * size; ++pair) {
    const std::uint32_t from = pair / size, to = pair % size;
    ASSERT_TRUE(receives[pair]->complete()) << from << " to " << to;
    EXPECT_EQ(receives[pair]->data, filled(bytes, seed + from * 16 + to)) << from << " to " << to;
    EXPECT_EQ(to_int(receives[pair]->status().source), int(from));
    EXPECT_TRUE(sends[pair]->complete());
  }
}

TEST(MeetingWorlds, with_equal_counters_exchange_messages) {
  for (const Large large : {Large::ring, Large::get}) {
    PairOptions options;
    options.get = GetMode::done;
    Meeting meeting(large, {}, options);
    // World 1 calls the communicator by an id that world 0 uses for its own two, and the reverse does not
    // hold.
    meeting.merge(ContextId::make(0, 3), ContextId::make(1, 1));
    meeting.among_all();
    for (const Mode mode : {Mode::standard, Mode::synchronous}) {
      expect_exchange(meeting.job(), {0, 1, 2, 3}, 8, 1, mode);
      expect_exchange(meeting.job(), {0, 1, 2, 3}, kAnnounced, 2, mode);
    }
    EXPECT_TRUE(meeting.job().drained());
  }
}

// Both communicators are in use at once: what is sent on one is never received on the other.
TEST(MeetingWorlds, an_id_of_one_world_is_no_id_of_the_other) {
  Meeting meeting;
  // World 0 calls the communicator of all by the id by which world 1 calls that of its own two.
  meeting.merge(ContextId::make(0, 5), ContextId::make(0, 3));
  Job& job = meeting.job();
  meeting.among_all();
  std::vector<OpPtr> sends;
  sends.push_back(job.isend(0, 3, 7, filled(8, 40)));  // to rank 1 of world 1
  meeting.within_worlds();
  sends.push_back(job.isend(2, 1, 7, filled(8, 41)));  // to the same process
  job.settle();
  auto here = job.irecv(3, kAny, 7, 8);
  auto none = job.irecv(3, kAny, 7, 8);
  meeting.among_all();
  auto there = job.irecv(3, kAny, 7, 8);
  job.settle();
  EXPECT_EQ(here->data, filled(8, 41));
  EXPECT_EQ(there->data, filled(8, 40));
  EXPECT_EQ(to_int(there->status().source), 0);
  EXPECT_FALSE(none->complete());
  job[3].cancel(none->request);
}

TEST(MeetingWorlds, what_is_held_back_goes_on_between_them) {
  Config config;
  config.announced_max = 4;
  Meeting meeting(Large::ring, config);
  meeting.merge(ContextId::make(0, 3), ContextId::make(1, 9));
  meeting.among_all();
  Job& job = meeting.job();
  std::vector<OpPtr> sends;
  for (int i = 0; i < 40; ++i) sends.push_back(job.isend(1, 2, i, filled(kAnnounced, std::uint64_t(i))));
  auto taken_back = job.isend(1, 2, 99, filled(kAnnounced, 99));
  job.settle();
  job[1].cancel(taken_back->request);
  for (int i = 39; i >= 0; --i) {  // the last first
    auto receive = job.irecv(2, 1, i, kAnnounced);
    job.settle();
    ASSERT_TRUE(receive->complete()) << i;
    ASSERT_EQ(receive->data, filled(kAnnounced, std::uint64_t(i)));
  }
  EXPECT_TRUE(taken_back->status().cancelled);
  for (const OpPtr& send : sends) EXPECT_TRUE(send->complete());
  EXPECT_TRUE(job.drained());
}

TEST(MeetingWorlds, an_announced_send_is_taken_back_from_the_other_world) {
  Meeting meeting;
  meeting.merge(ContextId::make(0, 3), ContextId::make(1, 9));
  meeting.among_all();
  Job& job = meeting.job();
  auto send = job.isend(3, 0, 1, filled(kAnnounced, 5));
  job.settle();
  job[3].cancel(send->request);
  job.settle();
  ASSERT_TRUE(send->complete());
  EXPECT_TRUE(send->status().cancelled);
  EXPECT_FALSE(job[0].probe(meeting.of_all(0), kAnySource, kAnyTag, nullptr));
}

TEST(MeetingWorlds, who_is_lost_there_ends_what_waits_here) {
  Meeting meeting;
  meeting.merge(ContextId::make(0, 3), ContextId::make(1, 9));
  meeting.among_all();
  Job& job = meeting.job();
  expect_exchange(job, {0, 1, 2, 3}, 8, 9);
  auto from_there = job.irecv(0, 3, 1, 8);  // rank 1 of world 1
  auto from_here = job.irecv(0, 1, 1, 8);   // rank 1 of world 0
  job.network.at(0).lose(3);
  job.settle();
  ASSERT_TRUE(from_there->complete());
  EXPECT_EQ(from_there->status().fault, Fault::peer_lost);
  EXPECT_FALSE(from_here->complete());
  auto send = job.isend(1, 0, 1, filled(8, 3));
  job.settle();
  EXPECT_EQ(from_here->data, filled(8, 3));
}

TEST(ContextIds, each_world_has_its_own_on_every_channel) {
  ContextIds ids(ContextId::make(4, 2));
  ids.add(7, ContextId::make(1, 1));
  const ContextIds collective = ids.on(Channel::collective);
  EXPECT_EQ(ids.of(Worlds::kOwn), ContextId::make(4, 2));
  EXPECT_EQ(collective.own(), ContextId::make(4, 2).on(Channel::collective));
  EXPECT_EQ(collective.of(7), ContextId::make(1, 1).on(Channel::collective));
}

TEST(ContextIdsDeath, a_world_without_an_id_is_a_bug_that_is_named) {
  EXPECT_DEATH((void)ContextIds(ContextId::make(0, 1)).of(3), "a world whose id for it is not known");
}

TEST(MeetingWorlds, what_is_told_of_a_process_names_its_world_unless_it_is_the_own_one) {
  Meeting meeting;
  Job& job = meeting.job();
  job.network.at(0).lose(1);
  job.progress();
  job.network.at(0).lose(3);
  job.progress();
  job.network.inject(2, 0, {std::byte{255}});
  job.progress();
  const auto notes = job.notes(0);
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(notes[0].find("rank 1 is lost"), 0u) << notes[0];
  EXPECT_EQ(notes[1].find("rank 1 of the world with index 2 is lost"), 0u) << notes[1];
  EXPECT_EQ(notes[2].find("dropped a message of rank 0 of the world with index 2"), 0u) << notes[2];
}

}  // namespace
}  // namespace starling::pml::test
