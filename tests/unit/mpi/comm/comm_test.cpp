// SPDX-License-Identifier: BSD-3-Clause
// What a communicator keeps count of, and what people call it. No process but this one, and no messages.

#include "mpi/comm/comm.hpp"

#include <gtest/gtest.h>

#include <set>

namespace starling::mpi {
namespace {

Ref<Group> group_of(std::uint32_t first, std::uint32_t count) {
  return Ref<Group>::adopt(new Group(make_strided({0, first}, 1, count)));
}

constexpr ContextId kId{0x128};  // the three lowest bits are the channel

struct Intra {
  Comm comm{kId, group_of(0, 4), {}, 2};
};
struct Inter {
  Comm comm{kId, group_of(0, 4), group_of(4, 3), 2};
};

TEST(Comm, sends_to_its_own_group_or_to_the_remote_one) {
  Intra one;
  EXPECT_FALSE(one.comm.inter());
  EXPECT_EQ(one.comm.size(), 4u);
  EXPECT_EQ(one.comm.peer_count(), 4u);
  Inter two;
  EXPECT_TRUE(two.comm.inter());
  EXPECT_EQ(two.comm.size(), 4u);
  EXPECT_EQ(two.comm.peer_count(), 3u);
}

TEST(Comm, each_form_of_a_collective_counts_for_itself) {
  Intra a, b;  // two members of one communicator: what one has called more of another form does not matter
  for (int i = 0; i < 5; ++i) (void)b.comm.next_collective_tag(Comm::Form::nonblocking);
  std::set<std::int32_t> seen;
  for (int i = 0; i < 100; ++i) {
    const Tag blocking = a.comm.next_collective_tag();
    EXPECT_EQ(to_int(blocking), to_int(b.comm.next_collective_tag()));
    seen.insert(to_int(blocking));
    seen.insert(to_int(a.comm.next_collective_tag(Comm::Form::nonblocking)));
    seen.insert(to_int(a.comm.next_collective_tag(Comm::Form::persistent)));
  }
  EXPECT_EQ(seen.size(), 300u) << "a tag was given twice";
  EXPECT_GE(*seen.begin(), 0) << "a wildcard";
}

TEST(Comm, tags_of_partitions_are_never_wildcards_and_do_not_overlap) {
  Intra one;
  EXPECT_EQ(one.comm.take_partition_tags(3), -16);
  EXPECT_EQ(one.comm.take_partition_tags(1), -19);
  EXPECT_EQ(one.comm.take_partition_tags(1), -20);
}

TEST(Comm, tags_of_partitions_begin_again_where_they_end) {
  constexpr std::uint32_t kAll = 0x7ffffff0;
  Intra one;
  EXPECT_EQ(one.comm.take_partition_tags(kAll - 1), -16);
  EXPECT_EQ(one.comm.take_partition_tags(1), -0x7fffffff) << "the last one that there is";
  EXPECT_EQ(one.comm.take_partition_tags(2), -16);
}

TEST(Comm, is_called_by_its_name_or_described) {
  Inter two;
  EXPECT_EQ(two.comm.label(), "an unnamed intercommunicator of 4 (id 25)");
  two.comm.name = "halo";
  EXPECT_EQ(two.comm.label(), "\"halo\"");
  two.comm.name = "MPI_COMM_WORLD";
  EXPECT_EQ(two.comm.label(), "MPI_COMM_WORLD");
}

TEST(Comm, is_found_by_the_id_of_any_of_its_channels_while_it_lives) {
  {
    Intra one;
    one.comm.name = "halo";
    EXPECT_EQ(Comm::label_of(kId), "\"halo\"");
    EXPECT_EQ(Comm::label_of(kId.on(Channel::collective)), "\"halo\"");
    EXPECT_EQ(Comm::label_of(ContextId{0x130}), "a communicator that was freed");
  }
  EXPECT_EQ(Comm::label_of(kId), "a communicator that was freed");
}

}  // namespace
}  // namespace starling::mpi
