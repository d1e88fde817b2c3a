// SPDX-License-Identifier: BSD-3-Clause
// Several threads at one process manager: nobody holds the runtime's lock while it waits, and nobody is
// inside while another thread is. Layer: tests.

#include "mpi/runtime/process_manager.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/mpi/runtime/fake_pmi.hpp"

namespace starling::mpi {
namespace {

/// Answers a look-up when it is told to, and notices who else is inside meanwhile.
class SlowPmi final : public test::FakePmi {
 public:
  std::atomic<bool> asked{false}, answers{false};
  std::atomic<int> inside{0}, most_inside{0}, checks{0};

  Result<std::string> lookup(std::string_view) override {
    const In in(*this);
    asked = true;
    while (!answers) std::this_thread::yield();
    everybody_came = true;  // its answer came behind the end of a fence
    return std::string("port");
  }
  Result<void> put(std::string_view key, std::span<const std::byte>) override {
    const In in(*this);
    log.push_back("put " + std::string(key));
    return {};
  }
  Result<pmi::Lookup> get(std::uint32_t, std::string_view) override {
    const In in(*this);
    return pmi::Lookup{};
  }
  Result<void> check() override {
    const In in(*this);
    ++checks;
    return {};
  }
  Result<bool> fence_left(pmi::Fence fence) override {
    const In in(*this);
    return FakePmi::fence_left(fence);
  }

 private:
  struct In {
    explicit In(SlowPmi& pmi) : pmi_(pmi) {
      const int now = ++pmi_.inside;
      if (now > pmi_.most_inside) pmi_.most_inside = now;
    }
    ~In() { --pmi_.inside; }
    SlowPmi& pmi_;
  };
};

/// Gives the lock away between two looks, as a wait of the runtime does.
class Waiter final : public TurnWaiter {
 public:
  explicit Waiter(BigLock& lock) noexcept : lock_(lock) {}
  std::atomic<int> waiting{0};
  int wakes = 0;
  void wait(const std::function<bool()>& ready) override {
    while (!ready()) {
      waiting = 1;
      const auto depth = lock_.release_all();
      std::this_thread::yield();
      lock_.reacquire(depth);
    }
  }
  void wake() noexcept override { ++wakes; }

 private:
  BigLock& lock_;
};

struct Turns : ::testing::Test {
  Turns() {
    lock.acquire();
    lock.enable();
    lock.release();
  }
  /// A thread that looks something up; returns once it is inside.
  void look_up() {
    thread = std::thread([this] {
      lock.acquire();
      port = manager.lookup("name").value();
      lock.release();
    });
    while (!pmi->asked) std::this_thread::yield();
  }
  ~Turns() override {
    if (thread.joinable()) answer();
  }
  void answer() {
    pmi->answers = true;
    thread.join();
  }

  BigLock lock;
  Waiter waiter{lock};
  SlowPmi* pmi = new SlowPmi;
  ProcessManager manager{
      ProcessManager::Handle(pmi, {[](void* made) noexcept { delete static_cast<SlowPmi*>(made); }}), lock,
      waiter};
  std::thread thread;
  std::string port;
};

TEST_F(Turns, the_lock_is_free_while_the_process_manager_is_slow) {
  look_up();
  lock.acquire();  // hangs if the other thread has it
  EXPECT_TRUE(manager.check()) << "nothing new";
  EXPECT_FALSE(manager.fence_left({}).value());
  EXPECT_EQ(pmi->checks, 0) << "another thread reads what the process manager says";
  lock.release();
  answer();
  EXPECT_EQ(port, "port");
  EXPECT_EQ(waiter.wakes, 1) << "the others are told that something may have come for them";
  EXPECT_TRUE(manager.fence_left({}).value());
  EXPECT_TRUE(manager.check());
  EXPECT_EQ(pmi->checks, 1);
  EXPECT_EQ(pmi->most_inside, 1);
}

TEST_F(Turns, a_second_thread_waits_until_the_first_is_through) {
  look_up();
  std::thread second([this] {
    lock.acquire();
    EXPECT_TRUE(manager.put("key", {}));
    lock.release();
  });
  while (waiter.waiting == 0) std::this_thread::yield();
  EXPECT_TRUE(pmi->log.empty());
  answer();
  second.join();
  EXPECT_EQ(pmi->log, std::vector<std::string>{"put key"});
  EXPECT_EQ(pmi->most_inside, 1);
}

TEST_F(Turns, first_contact_waits_with_the_lock_for_who_does_not_need_it) {
  look_up();
  std::thread second([this] {
    lock.acquire();
    EXPECT_TRUE(manager.get(0, "key"));
    lock.release();
  });
  answer();  // hangs if the first thread wants the lock before it has left
  second.join();
  EXPECT_EQ(pmi->most_inside, 1);
}

TEST_F(Turns, one_thread_needs_no_lock) {
  BigLock never_enabled;
  pmi->answers = true;
  Waiter alone(never_enabled);
  ProcessManager of_one{manager.release(), never_enabled, alone};
  EXPECT_EQ(of_one.lookup("name").value(), "port");
  EXPECT_EQ(alone.waiting, 0);
}

}  // namespace
}  // namespace starling::mpi
