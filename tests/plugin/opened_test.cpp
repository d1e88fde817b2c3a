// SPDX-License-Identifier: BSD-3-Clause
// Plugins whose code misbehaves once it is opened, or must not run at all.

#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "core/log.hpp"
#include "frameworks/stuck.hpp"
#include "site.hpp"

namespace starling::plugin {
namespace {

TEST_F(Site, a_missing_entry_symbol_is_an_error_when_opened) {
  install("no_entry");
  EXPECT_THAT(create_error("no_entry"),
              AllOf(HasSubstr("shm/no_entry: "), HasSubstr("starling_plugin_entry")));
}

TEST_F(Site, a_missing_library_is_named_and_the_parameters_are_known_nevertheless) {
  install("needs_absent");
  EXPECT_THAT(create_error("needs_absent"),
              AllOf(HasSubstr("shm/needs_absent: "), HasSubstr("libstarling_test_absent.so"),
                    HasSubstr("cannot open shared object file")));
  ASSERT_NE(params_.find("shm_needs_absent_flag"), nullptr);
}

TEST_F(Site, what_is_thrown_in_create_becomes_an_error) {
  install("throwing");
  install("throwing_int");
  install("nothing");
  EXPECT_THAT(create_error("throwing"), HasSubstr("shm/throwing: create: threw out of feathers"));
  EXPECT_THAT(create_error("throwing_int"), HasSubstr("threw something that is no std::exception"));
  EXPECT_THAT(create_error("nothing"), HasSubstr("gave neither a component nor an error"));
}

TEST_F(Site, an_error_says_once_whose_it_is) {
  install("refusing");
  install("throwing");
  for (const std::string name : {"shm/refusing", "shm/throwing"}) {
    const std::string text = create_error(name.substr(4));
    EXPECT_THAT(text, HasSubstr("\n  " + name + ": "));
    EXPECT_EQ(text.find(name), text.rfind(name)) << text;
  }
}

TEST_F(Site, those_that_fail_are_passed_over_when_nobody_named_them) {
  for (const char* name : {"no_entry", "needs_absent", "throwing", "nothing"}) install(name);
  install_with_descriptor("last", [](Descriptor& descriptor) {
    descriptor.name = "last";
    descriptor.priority = -10;
  });
  Index index = inspect();
  std::string chosen;
  auto made = index.create_first<shm::Framework>(shm::Args{params_}, &chosen);
  ASSERT_TRUE(made.has_value()) << made.error().text();
  EXPECT_EQ(chosen, "last");
  EXPECT_THAT(index.left_out(),
              testing::UnorderedElementsAre(HasSubstr("shm/no_entry: "), HasSubstr("shm/needs_absent: "),
                                            HasSubstr("shm/throwing: "), HasSubstr("shm/nothing: ")));
}

TEST_F(Site, what_has_nothing_to_do_here_is_not_said_to_be_left_out) {
  install("refusing");
  install("good");
  Index index = inspect();
  auto made = index.create<shm::Framework>(*find(index, "refusing"), shm::Args{params_});
  EXPECT_FALSE(made);
  EXPECT_TRUE(index.left_out().empty());
}

TEST_F(Site, code_of_plugins_that_are_not_selected_never_runs) {
  install("good");
  install("exiting");
  install("blocking");
  Index index = inspect();
  EXPECT_NE(params_.find("shm_exiting_flag"), nullptr) << "it was read";
  auto made = index.create_first<shm::Framework>(shm::Args{params_});
  EXPECT_TRUE(made.has_value());
  // The trap is a trap: opening it does end a process.
  EXPECT_EXIT((void)index.open(*find(index, "exiting")), testing::ExitedWithCode(42), "");
}

TEST_F(Site, a_file_is_named_before_it_is_loaded_where_information_is_wanted) {
  install("exiting");
  Index index = inspect();
  const auto open_and_tell = [&] {
    log::set_level(log::Level::info);
    (void)index.open(*find(index, "exiting"));
  };
  EXPECT_EXIT(open_and_tell(), testing::ExitedWithCode(42),
              HasSubstr("shm/exiting: loading " + find(index, "exiting")->file));
}

TEST_F(Site, a_plugin_that_does_not_come_back_ends_the_process_and_says_which) {
  install("blocking");
  install("good");
  const auto start = [this](const std::string& seconds, const std::string& name) {
    Index index = inspect({"STARLING_MCA_plugin_start_timeout=" + seconds});
    (void)index.create<shm::Framework>(*find(index, name), shm::Args{params_});
  };
  EXPECT_EXIT(start("1", "blocking"), testing::ExitedWithCode(EXIT_FAILURE),
              "shm/blocking: .*shm_blocking.so has not come back.*STARLING_MCA_shm=.blocking");
  // What knows the way to the other processes of the job tells them.
  const auto told = [&] {
    set_end_of_stuck([](int code, const std::string& why) noexcept {
      std::fprintf(stderr, "told: %s\n", why.c_str());
      std::_Exit(40 + code);
    });
    start("1", "blocking");
  };
  EXPECT_EXIT(told(), testing::ExitedWithCode(40 + EXIT_FAILURE), "told: shm/blocking: .*has not come back");
  start("1", "good");
}

TEST_F(Site, a_plugin_that_crashes_is_named_before_the_process_ends) {
  install("crashing");
  install("good");
  const auto start = [this](const std::string& name) {
    Index index = inspect();
    (void)index.create<shm::Framework>(*find(index, name), shm::Args{params_});
  };
  const auto crashed = [](int status) {
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;  // by the signal, or by a sanitizer's handler
  };
  EXPECT_EXIT(start("crashing"), crashed,
              "shm/crashing: this process crashes in .*shm_crashing.so.*STARLING_MCA_shm=.crashing");
  struct sigaction before {
  }, after{};
  ASSERT_EQ(::sigaction(SIGSEGV, nullptr, &before), 0);
  start("good");
  ASSERT_EQ(::sigaction(SIGSEGV, nullptr, &after), 0);
  EXPECT_EQ(after.sa_handler, before.sa_handler) << "crashes are taken only while a plugin is opened";
}

}  // namespace
}  // namespace starling::plugin
