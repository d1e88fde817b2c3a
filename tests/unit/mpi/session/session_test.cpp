// SPDX-License-Identifier: BSD-3-Clause
// Sessions as users of the runtime, in a process of its own: who opens and who closes it, what stays, and
// what keeps a session alive.
#include "mpi/session/session.hpp"

#include <gtest/gtest.h>

#include "mpi/creation/factory.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/world/open.hpp"
#include "mpi/world/process_sets.hpp"

namespace starling::mpi {
namespace {

struct Sessions : testing::Test {
  Hold lock{registry().lock, Hold::always};
  static bool active() { return registry().active.load(); }
};

TEST_F(Sessions, the_runtime_is_open_while_anybody_uses_it) {
  EXPECT_FALSE(active());
  ASSERT_EQ(open_runtime(MPI_THREAD_SERIALIZED), MPI_SUCCESS);
  Runtime* const runtime = Runtime::get();
  ASSERT_EQ(open_runtime(MPI_THREAD_SERIALIZED), MPI_SUCCESS);
  close_runtime();
  EXPECT_TRUE(active()) << "one of two has left";
  close_runtime();
  EXPECT_FALSE(active());
  ASSERT_EQ(open_runtime(MPI_THREAD_SERIALIZED), MPI_SUCCESS);
  EXPECT_TRUE(active());
  EXPECT_EQ(Runtime::get(), runtime) << "what lies below stays for who comes back";
  close_runtime();
}

TEST_F(Sessions, who_wants_several_threads_makes_the_lock_serve_all_to_the_end) {
  ASSERT_EQ(open_runtime(MPI_THREAD_SERIALIZED), MPI_SUCCESS);
  EXPECT_FALSE(registry().multiple.load());
  ASSERT_EQ(open_runtime(MPI_THREAD_MULTIPLE), MPI_SUCCESS);
  EXPECT_TRUE(registry().multiple.load());
  EXPECT_TRUE(registry().lock.enabled());
  close_runtime();
  EXPECT_TRUE(registry().lock.enabled()) << "a thread may be on its way into MPI";
  close_runtime();
}

TEST_F(Sessions, the_launchers_facts_are_attributes_once_it_is_open) {
  ASSERT_EQ(open_runtime(MPI_THREAD_SERIALIZED), MPI_SUCCESS);
  EXPECT_EQ(registry().attributes.universe_size, 1);
  EXPECT_EQ(registry().attributes.wtime_is_global, 1);
  close_runtime();
}

TEST_F(Sessions, groups_and_communicators_keep_their_session) {
  ASSERT_EQ(open_runtime(MPI_THREAD_SERIALIZED), MPI_SUCCESS);
  auto session = Ref<Session>::adopt(new Session(MPI_THREAD_SERIALIZED));
  const std::weak_ptr<BsendBuffer> last = [&] {
    // Of the session's things one whose end can be seen from outside.
    session->bsend_buffer =
        std::shared_ptr<BsendBuffer>(reinterpret_cast<BsendBuffer*>(&session), [](BsendBuffer*) {});
    return session->bsend_buffer;
  }();
  const Ref<Group> all = group_of_process_set("mpi://SELF");
  ASSERT_TRUE(all);
  auto group = Ref<Group>::adopt(new Group(all->members(), session));
  const Made made = CommFactory::from_group(group, "kept", group->session());
  ASSERT_NE(made.comm, nullptr);
  EXPECT_EQ(made.comm->session.get(), session.get());
  session = {};
  EXPECT_FALSE(last.expired());
  group = {};
  EXPECT_FALSE(last.expired()) << "the communicator is still there";
  CommFactory::release(*made.comm);
  EXPECT_TRUE(last.expired());
  close_runtime();
}

TEST_F(Sessions, process_sets_of_a_process_alone_hold_it) {
  ASSERT_EQ(open_runtime(MPI_THREAD_SERIALIZED), MPI_SUCCESS);
  for (const char* const name : {"mpi://WORLD", "mpi://SELF", "mpix://NODE"}) {
    const Ref<Group> group = group_of_process_set(name);
    ASSERT_TRUE(group) << name;
    EXPECT_EQ(group->size(), 1u) << name;
    EXPECT_EQ(group->at(0), Runtime::get()->self()) << name;
  }
  EXPECT_TRUE(group_of_process_set("MPI://world")) << "the case of names does not matter";
  EXPECT_FALSE(group_of_process_set("mpi://WORLDS"));
  close_runtime();
}

}  // namespace
}  // namespace starling::mpi
