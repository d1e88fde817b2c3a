// SPDX-License-Identifier: BSD-3-Clause
// Memory objects: made, found, handed to other processes, mapped there, and given back.

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "core/clock.hpp"
#include "frameworks/shm/mailbox.hpp"
#include "frameworks/shm/memory/maps.hpp"
#include "frameworks/shm/memory/object.hpp"
#include "frameworks/shm/memory/owned.hpp"
#include "frameworks/shm/memory/table.hpp"
#include "tests/unit/shm/processes.hpp"
#include "tests/unit/shm/segments.hpp"

namespace starling {
namespace {

using shm::Mailbox;
using shm::MemoryMaps;
using shm::MemoryObject;
using shm::OwnedMemory;
using State = shm::MemoryMaps::State;
using test::Process;
using test::Signal;

std::uint64_t address_of(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

int open_descriptors() {
  int count = 0;
  DIR* const all = ::opendir("/proc/self/fd");
  while (::readdir(all) != nullptr) ++count;
  ::closedir(all);
  return count;
}

std::uint64_t blocks_of(int fd) {
  struct stat facts {};
  EXPECT_EQ(::fstat(fd, &facts), 0);
  return static_cast<std::uint64_t>(facts.st_blocks);
}

TEST(MemoryObject, is_sparse_zeroed_and_sealed) {
  auto made = MemoryObject::create(std::size_t{1} << 30);
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(made->size(), std::size_t{1} << 30);
  EXPECT_EQ(blocks_of(made->fd()), 0u);
  EXPECT_EQ(made->data()[12345], std::byte{0});
  EXPECT_NE(::ftruncate(made->fd(), 0), 0);
  EXPECT_NE(::ftruncate(made->fd(), off_t{1} << 31), 0);
}

TEST(MemoryObject, gives_its_pages_back_also_those_mapped_elsewhere) {
  auto made = MemoryObject::create(100'000);
  ASSERT_TRUE(made);
  const UniqueFd copy(::fcntl(made->fd(), F_DUPFD_CLOEXEC, 0));
  auto elsewhere = shm::map_object(copy, made->size(), made->inode(), Access::read);
  ASSERT_TRUE(elsewhere) << elsewhere.error().text();
  std::memset(made->data(), 5, made->size());
  EXPECT_EQ(elsewhere->data()[99'999], std::byte{5});
  EXPECT_GT(blocks_of(copy.get()), 0u);
  made->give_back();
  EXPECT_EQ(blocks_of(copy.get()), 0u);
  EXPECT_EQ(elsewhere->data()[99'999], std::byte{0});
}

TEST(MemoryObject, what_cannot_be_had_is_an_error_with_its_size) {
  for (const std::size_t bytes : {std::size_t{1} << 62, ~std::size_t{0}, std::size_t{0}}) {
    auto made = MemoryObject::create(bytes);
    ASSERT_FALSE(made) << bytes;
    EXPECT_NE(made.error().text().find("bytes"), std::string::npos) << made.error().text();
  }
}

TEST(MemoryObject, another_object_than_the_expected_one_is_refused) {
  auto one = MemoryObject::create(8192);
  auto other = MemoryObject::create(8192);
  ASSERT_TRUE(one && other);
  const UniqueFd copy(::fcntl(other->fd(), F_DUPFD_CLOEXEC, 0));
  EXPECT_FALSE(shm::map_object(copy, 8192, one->inode(), Access::read));
  EXPECT_FALSE(shm::map_object(copy, 4096, other->inode(), Access::read));
  EXPECT_TRUE(shm::map_object(copy, 8192, other->inode(), Access::read));
  const UniqueFd open(::memfd_create("not sealed", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(open.get(), 8192), 0);
  struct stat facts {};
  ASSERT_EQ(::fstat(open.get(), &facts), 0);
  EXPECT_FALSE(shm::map_object(open, 8192, facts.st_ino, Access::read));
}

TEST(Mailbox, brings_datagrams_with_and_without_a_descriptor) {
  auto a = Mailbox::open(false);
  auto b = Mailbox::open(false);
  ASSERT_TRUE(a && b);
  const std::array<std::byte, 3> datagram{std::byte{1}, std::byte{2}, std::byte{3}};
  std::array<std::byte, 8> read{};
  EXPECT_FALSE(b->receive(read));
  ASSERT_EQ(a->send(b->name(), datagram), 0);
  auto got = b->receive(read);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->bytes, 3u);
  EXPECT_EQ(got->from, a->name());
  EXPECT_FALSE(got->descriptor);
  EXPECT_EQ(read[2], std::byte{3});
  ASSERT_EQ(a->send(b->name(), datagram, 1), 0);
  got = b->receive(read);
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->descriptor);
  const std::uint64_t gone = b->name();
  b = Mailbox::open(false);
  EXPECT_EQ(a->send(gone, datagram), ECONNREFUSED);
}

/// One process owns (rank 0), the others look; all inside this program, each with its own mapping.
class Memory : public testing::Test {
 protected:
  shm::Geometry geometry = test::small_geometry(3);
  UniqueFd memfd = test::make_memfd(geometry);
  shm::NodeSegment owner = test::join(memfd, geometry, 0);
  shm::NodeSegment reader = test::join(memfd, geometry, 1);
  OwnedMemory owned{owner, 8};
  MemoryMaps maps{reader, 4, Access::read};

  /// Asks until something has come of it.
  MemoryMaps::View find(const void* at, std::size_t bytes, MemoryMaps* in = nullptr) {
    MemoryMaps& all = in == nullptr ? maps : *in;
    const Deadline deadline = Deadline::after_seconds(60);
    MemoryMaps::View view = all.find(0, address_of(at), bytes, true);
    while ((view.state == State::coming || view.state == State::seen) && !deadline.passed()) {
      ::usleep(100);
      view = all.find(0, address_of(at), bytes, true);
    }
    return view;
  }
};

TEST_F(Memory, is_found_mapped_and_shared) {
  auto made = owned.allocate(70'000);
  ASSERT_TRUE(made) << made.error().text();
  std::byte* const at = *made;
  at[69'999] = std::byte{9};
  EXPECT_EQ(owned.find(at + 69'999).look, shm::Look::found);
  const auto view = find(at + 60'000, 10'000);
  ASSERT_EQ(view.state, State::mapped) << maps.why();
  EXPECT_NE(view.at, at + 60'000);
  EXPECT_EQ(view.at[9'999], std::byte{9});
  at[60'000] = std::byte{8};
  EXPECT_EQ(view.at[0], std::byte{8});
  EXPECT_EQ(maps.mapped(), 1u);
  EXPECT_TRUE(owned.release(at));
}

TEST_F(Memory, is_asked_for_at_the_second_sight_unless_insisted) {
  std::byte* const at = *owned.allocate(70'000);
  EXPECT_EQ(maps.find(0, address_of(at), 100, false).state, State::seen);
  EXPECT_EQ(maps.mapped(), 0u);
  EXPECT_NE(maps.find(0, address_of(at), 100, false).state, State::seen);
  EXPECT_EQ(find(at, 100).state, State::mapped);
}

TEST_F(Memory, knows_which_bytes_were_used_before) {
  std::byte* const at = *owned.allocate(70'000);
  EXPECT_FALSE(find(at, 1000).used);
  EXPECT_TRUE(find(at, 1000).used);
  EXPECT_FALSE(find(at + 500, 1000).used);
  EXPECT_TRUE(find(at + 1000, 500).used);
}

TEST_F(Memory, of_others_is_not_found) {
  std::byte* const at = *owned.allocate(4096);
  std::vector<std::byte> own(4096);
  EXPECT_EQ(owned.find(own.data()).look, shm::Look::none);
  EXPECT_EQ(maps.find(0, address_of(own.data()), 10, true).state, State::none);
  EXPECT_EQ(maps.find(0, address_of(at), 4097, true).state, State::none);
  EXPECT_EQ(maps.find(2, address_of(at), 10, true).state, State::none);  // has no table
  EXPECT_FALSE(maps.possible(0, address_of(own.data())));
  EXPECT_TRUE(maps.possible(0, address_of(at)));
  EXPECT_FALSE(owned.release(own.data()));
  EXPECT_FALSE(owned.release(at + 1));
  EXPECT_TRUE(owned.release(at));
  EXPECT_FALSE(owned.release(at));
}

TEST_F(Memory, made_anew_at_the_same_addresses_is_not_read_through_the_old_map) {
  std::byte* const at = *owned.allocate(1 << 20);
  at[0] = std::byte{1};
  ASSERT_EQ(find(at, 16).at[0], std::byte{1});
  ASSERT_TRUE(owned.release(at));
  EXPECT_EQ(maps.find(0, address_of(at), 16, true).state, State::none);
  bool again = false;
  for (int i = 0; i < 100 && !again; ++i) {
    std::byte* const next = *owned.allocate(1 << 20);
    again = next == at;
    next[0] = std::byte{2};
    const auto view = find(next, 16);
    ASSERT_EQ(view.state, State::mapped) << maps.why();
    ASSERT_EQ(view.at[0], std::byte{2});
    ASSERT_TRUE(owned.release(next));
  }
  EXPECT_TRUE(again) << "no object came to lie where the first was, so nothing was tested";
}

TEST_F(Memory, maps_are_bounded_and_the_least_used_goes) {
  std::vector<std::byte*> all;
  for (int i = 0; i < 6; ++i) {
    all.push_back(*owned.allocate(8192));
    all.back()[0] = static_cast<std::byte>(i);
    ASSERT_EQ(find(all.back(), 16).state, State::mapped);
    ASSERT_EQ(find(all.front(), 16).at[0], std::byte{0});
  }
  EXPECT_EQ(maps.mapped(), 4u);
  EXPECT_EQ(maps.find(0, address_of(all[0]), 16, false).state, State::mapped);
  EXPECT_EQ(maps.find(0, address_of(all[1]), 16, false).state, State::seen);
}

TEST_F(Memory, freed_memory_and_dead_owners_are_dropped) {
  std::byte* const a = *owned.allocate(8192);
  std::byte* const b = *owned.allocate(8192);
  ASSERT_EQ(find(a, 16).state, State::mapped);
  ASSERT_EQ(find(b, 16).state, State::mapped);
  maps.drop_freed();
  EXPECT_EQ(maps.mapped(), 2u);
  a[0] = std::byte{5};
  const std::byte* const mapped = maps.find(0, address_of(a), 16, false).at;
  EXPECT_EQ(mapped[0], std::byte{5});
  ASSERT_TRUE(owned.release(a));
  EXPECT_EQ(mapped[0], std::byte{0}) << "its pages have not been given back";
  maps.drop_freed();
  EXPECT_EQ(maps.mapped(), 1u);
  maps.drop(2);
  EXPECT_EQ(maps.mapped(), 1u);
  maps.drop(0);
  EXPECT_EQ(maps.mapped(), 0u);
}

TEST_F(Memory, has_a_bound_that_names_the_limit) {
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(owned.allocate(4096));
  auto refused = owned.allocate(4096);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::no_space);
  EXPECT_NE(refused.error().text().find("ulimit -n"), std::string::npos) << refused.error().text();
  EXPECT_LE(shm::memory_objects_most(), shm::kMemoryObjectsMost);
}

TEST_F(Memory, takes_no_descriptor_longer_than_it_lives) {
  std::byte* first = *owned.allocate(4096);
  ASSERT_EQ(find(first, 16).state, State::mapped);
  const int before = open_descriptors();
  for (int i = 0; i < 3000; ++i) {
    std::byte* const at = *owned.allocate(4096 + static_cast<std::size_t>(i));
    if (i % 10 == 0) {
      ASSERT_EQ(find(at, 16).state, State::mapped) << maps.why();
    }
    ASSERT_TRUE(owned.release(at));
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_LE(maps.mapped(), 4u);
}

TEST_F(Memory, is_not_given_to_who_does_not_know_the_secret) {
  std::byte* const at = *owned.allocate(4096);
  const shm::MemoryTable& table = *shm::memory_table(reader, 0);
  auto box = Mailbox::open(false);
  ASSERT_TRUE(box);
  shm::MemoryRequest request;
  request.secret[0] = table.secret[0] ^ 1;
  request.secret[1] = table.secret[1];
  request.id = owned.find(at).range.id;
  const auto ask = [&] {
    EXPECT_EQ(box->send(table.segment_server, std::as_bytes(std::span(&request, 1))), 0);
  };
  ask();
  request.secret[0] ^= 1;
  request.id += 1;  // no such object
  ask();
  request.id -= 1;
  ask();
  // Datagrams are answered in order: the first answer is that to the third.
  std::array<std::byte, 64> answer{};
  const Deadline deadline = Deadline::after_seconds(60);
  int answers = 0;
  std::uint64_t id = 0;
  while (answers == 0 && !deadline.passed()) {
    if (auto datagram = box->receive(answer)) {
      ++answers;
      std::memcpy(&id, answer.data(), sizeof id);
      EXPECT_TRUE(datagram->descriptor);
    }
  }
  EXPECT_EQ(id, request.id);
  ::usleep(20'000);
  EXPECT_FALSE(box->receive(answer));
}

TEST_F(Memory, without_a_segment_server_is_refused_with_the_reason) {
  std::byte* const at = *owned.allocate(4096);
  shm::memory_table(owner, 0)->segment_server.store(0x3030303030);  // a name that nobody has
  EXPECT_EQ(find(at, 16).state, State::refused);
  EXPECT_NE(maps.why().find("refused"), std::string::npos) << maps.why();
  EXPECT_FALSE(maps.possible(0, address_of(at)));
}

TEST_F(Memory, without_a_descriptor_left_falls_back_with_an_error) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(owned.allocate(4096));
  const UniqueFd next(::dup(0));
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(next.get());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  auto refused = owned.allocate(4096);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("memfd_create"), std::string::npos) << refused.error().text();
  EXPECT_TRUE(owned.allocate(4096));
}

TEST_F(Memory, of_another_process_is_handed_over_and_survives_its_death) {
  Signal made, freed, go_on;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Process process([&] {
    shm::NodeSegment segment = test::join(memfd, geometry, 2);
    segment.enter();
    OwnedMemory its(segment, 8);
    std::byte* const at = *its.allocate(100'000);
    std::memset(at, 6, 100'000);
    if (::write(ends[1], &at, sizeof at) != sizeof at) return 1;
    made.give();
    for (;;) ::pause();
  });
  made.take();
  std::uint64_t address = 0;
  ASSERT_EQ(::read(ends[0], &address, sizeof address), static_cast<ssize_t>(sizeof address));
  MemoryMaps::View view = maps.find(2, address, 100'000, true);
  for (const Deadline deadline = Deadline::after_seconds(60);
       view.state == State::coming && !deadline.passed();) {
    ::usleep(100);
    view = maps.find(2, address, 100'000, true);
  }
  ASSERT_EQ(view.state, State::mapped) << maps.why();
  EXPECT_EQ(view.at[99'999], std::byte{6});
  process.kill();
  EXPECT_EQ(view.at[99'999], std::byte{6});  // as long as it is mapped here
  // Another program in its place: its addresses mean something else.
  shm::NodeSegment next = test::join(memfd, geometry, 2);
  next.enter();
  EXPECT_EQ(maps.find(2, address, 16, true).state, State::none);
  maps.drop_freed();
  EXPECT_EQ(maps.mapped(), 0u);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Memory, is_not_lost_to_a_forked_child_that_ends) {
  std::byte* const at = *owned.allocate(100'000);
  at[0] = std::byte{1};
  Process child([&] { return at[0] == std::byte{1} ? 0 : 1; });
  EXPECT_EQ(child.wait(), 0);
  const auto view = find(at, 16);
  ASSERT_EQ(view.state, State::mapped) << maps.why();
  EXPECT_EQ(view.at[0], std::byte{1});
  EXPECT_TRUE(owned.release(at));
}

TEST_F(Memory, is_allocated_and_looked_up_by_several_threads_at_once) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        auto made = owned.allocate(4096);
        if (!made) continue;
        (*made)[0] = static_cast<std::byte>(t);
        const shm::Found found = owned.find(*made);
        if (found.look == shm::Look::none || (*made)[0] != static_cast<std::byte>(t)) ++wrong;
        if (!owned.release(*made)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(owned.count(), 0u);
}

}  // namespace
}  // namespace starling
