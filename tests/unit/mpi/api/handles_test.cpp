// SPDX-License-Identifier: BSD-3-Clause
// Handles: live, stale, random and predefined ones.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "mpi/errhandler/errhandler.hpp"
#include "mpi/handles.hpp"
#include "mpi/info/info.hpp"

namespace starling::mpi {
namespace {

struct Thing : Object {};
using Things = Handles<Thing, Kind::win, 0x110, 8>;

class HandlesTest : public ::testing::Test {
 protected:
  static Things things;  // as large as a table of the library: not for the stack
};
Things HandlesTest::things;

TEST_F(HandlesTest, an_inserted_object_is_found_until_it_is_removed) {
  Thing thing;
  const HandleBits handle = things.insert(&thing);
  EXPECT_EQ(things.find(handle), &thing);
  EXPECT_EQ(thing.handle(), handle);
  things.remove(handle);
  EXPECT_EQ(things.find(handle), nullptr);
}

TEST_F(HandlesTest, a_stale_handle_does_not_find_the_object_that_took_its_place) {
  Thing first, second;
  const HandleBits stale = things.insert(&first);
  things.remove(stale);
  const HandleBits fresh = things.insert(&second);
  EXPECT_EQ(stale & 0xffffffffu, fresh & 0xffffffffu) << "the place is used again";
  EXPECT_EQ(things.find(stale), nullptr);
  EXPECT_EQ(things.find(fresh), &second);
  things.remove(fresh);
}

TEST_F(HandlesTest, no_handle_looks_like_a_predefined_one_or_a_small_integer) {
  Thing thing;
  const HandleBits handle = things.insert(&thing);
  EXPECT_GE(handle, 0x400u);
  EXPECT_FALSE(thing.predefined());
  things.remove(handle);
}

TEST_F(HandlesTest, many_objects_have_different_handles_over_several_pages) {
  std::vector<Thing> many(3000);
  std::set<HandleBits> handles;
  for (Thing& thing : many) handles.insert(things.insert(&thing));
  EXPECT_EQ(handles.size(), many.size());
  for (const Thing& thing : many) EXPECT_EQ(things.find(thing.handle()), &thing);
  EXPECT_EQ(things.alive(), many.size());
  for (const Thing& thing : many) things.remove(thing.handle());
  EXPECT_EQ(things.alive(), 0u);
}

TEST_F(HandlesTest, random_values_find_nothing) {
  Thing thing;
  const HandleBits handle = things.insert(&thing);
  std::mt19937_64 random(7);
  for (int round = 0; round < 200000; ++round) {
    const HandleBits bits = random();
    if (bits != handle) {
      EXPECT_EQ(things.find(bits), nullptr) << std::hex << bits;
    }
    const HandleBits near = handle ^ (HandleBits{1} << (random() % 64));
    EXPECT_EQ(things.find(near), nullptr) << std::hex << near;
    const HandleBits same_index = (bits << 32) | (handle & 0xffffffffu);
    if (same_index != handle) {
      EXPECT_EQ(things.find(same_index), nullptr);
    }
  }
  things.remove(handle);
}

TEST_F(HandlesTest, an_integer_leads_back_to_the_whole_handle) {
  Thing thing;
  const HandleBits handle = things.insert(&thing);
  EXPECT_EQ(things.from_int(things.to_int(handle)), handle);
  const std::int32_t integer = things.to_int(handle);
  things.remove(handle);
  EXPECT_EQ(things.from_int(integer), Things::kNull) << "the object is gone";
}

TEST_F(HandlesTest, integers_of_constants_are_the_constants) {
  EXPECT_EQ(tables().comm.from_int(0x101), 0x101u);
  EXPECT_EQ(tables().comm.from_int(0x209), as_bits(MPI_COMM_NULL))
      << "a datatype's constant is no communicator";
  EXPECT_EQ(tables().datatype.to_int(as_bits(MPI_INT)), 0x209);
}

TEST_F(HandlesTest, constants_are_found_in_their_own_kind_only) {
  Thing thing;
  things.define(0x111, &thing);
  EXPECT_EQ(things.find(HandleBits{0x111}), &thing);
  EXPECT_EQ(things.find(HandleBits{0x110}), nullptr) << "the null handle";
  for (HandleBits constant = 0; constant < 0x400; ++constant) {
    if (constant != 0x111) {
      EXPECT_EQ(things.find(constant), nullptr) << constant;
    }
  }
  things.define(0x111, nullptr);
}

TEST_F(HandlesTest, predefined_objects_exist_before_any_initialisation) {
  EXPECT_NE(find_errhandler(MPI_ERRORS_RETURN), nullptr);
  EXPECT_EQ(find_errhandler(MPI_ERRORS_RETURN), find_errhandler(MPI_ERRORS_RETURN));
  EXPECT_EQ(find_errhandler(MPI_ERRHANDLER_NULL), nullptr);
  EXPECT_NE(find_info(MPI_INFO_ENV), nullptr);
  EXPECT_EQ(find_info(MPI_INFO_NULL), nullptr);
  EXPECT_NE(find_datatype(MPI_INT), nullptr);
  EXPECT_NE(find_op(MPI_SUM), nullptr);
  EXPECT_NE(find_group(MPI_GROUP_EMPTY), nullptr);
  EXPECT_EQ(find_comm(MPI_COMM_WORLD), nullptr) << "a communicator needs a runtime";
}

}  // namespace
}  // namespace starling::mpi
