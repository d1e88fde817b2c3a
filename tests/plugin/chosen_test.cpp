// SPDX-License-Identifier: BSD-3-Clause
// Which plugins of several are chosen: by priority, by the user's list, by the order of folders.

#include "site.hpp"

namespace starling::plugin {
namespace {

TEST_F(Site, a_good_plugin_is_listed_created_and_destroyed) {
  install("good");
  Index index = inspect({"STARLING_MCA_shm_good_width=7"});
  EXPECT_TRUE(index.problems().empty());
  const Candidate* const candidate = find(index, "good");
  ASSERT_NE(candidate, nullptr);
  EXPECT_EQ(candidate->refusal, "");
  EXPECT_EQ(candidate->descriptor.summary.view(), "a plugin without fault");
  EXPECT_EQ(params_.find("shm_good_width")->number, 7);
  EXPECT_EQ(params_.find("shm_good_breadth")->owner, "shm/good");
  std::string chosen;
  auto made = index.create_first<shm::Framework>(shm::Args{params_}, &chosen);
  ASSERT_TRUE(made.has_value()) << made.error().text();
  EXPECT_EQ(chosen, "good");
}

TEST_F(Site, a_plugin_without_parameters_works) {
  install("bare");
  Index index = inspect();
  auto made = index.create_first<shm::Framework>(shm::Args{params_});
  EXPECT_TRUE(made.has_value()) << made.error().text();
}

TEST_F(Site, priority_orders_and_a_list_orders_otherwise) {
  install("good");
  install("bare");
  const Index index = inspect();
  const auto by_priority = index.admitted("shm").value();
  ASSERT_EQ(by_priority.size(), 2u);
  EXPECT_EQ(by_priority[0]->name, "bare");
  EXPECT_FALSE(index.named_by_user(*by_priority[0]));

  const Index listed = inspect({"STARLING_MCA_shm=good,bare,good"});
  const auto by_list = listed.admitted("shm").value();
  ASSERT_EQ(by_list.size(), 2u);
  EXPECT_EQ(by_list[0]->name, "good");
  EXPECT_TRUE(listed.named_by_user(*by_list[0]));

  const auto excluded = inspect({"STARLING_MCA_shm=^bare"}).admitted("shm");
  ASSERT_EQ(excluded->size(), 1u);
}

TEST_F(Site, an_unknown_name_is_an_error_in_either_form_and_says_what_exists) {
  install("good");
  install_damaged("text", [](std::string& bytes) { bytes = "hello\n"; });
  for (const std::string list : {"goud", "^goud"}) {
    const auto admitted = inspect({"STARLING_MCA_shm=" + list}).admitted("shm");
    ASSERT_FALSE(admitted.has_value());
    EXPECT_THAT(admitted.error().text(),
                AllOf(HasSubstr("names 'goud', which does not exist (did you mean 'good'?)"),
                      HasSubstr("usable: good"), HasSubstr("shm_text.so: is not an ELF file"),
                      HasSubstr("searched: linked in, "), HasSubstr(site_.string())));
  }
}

TEST_F(Site, components_of_other_libraries_lead_to_what_is_here) {
  for (const auto& [framework, name, use] : {std::array{"btl", "vader", "here use 'shm'"},
                                             {"btl", "openib", "here use 'ucx'"},
                                             {"pml", "ob1", "here use 'static' or 'dynamic'"},
                                             {"pml", "ucx", "btl=self,shm,ucx"}}) {
    const auto admitted =
        inspect({"STARLING_MCA_" + std::string(framework) + "=" + name}).admitted(framework);
    ASSERT_FALSE(admitted.has_value());
    EXPECT_THAT(admitted.error().text(), HasSubstr(use));
  }
}

TEST_F(Site, excluding_what_is_not_there_changes_nothing) {
  install("good");
  for (const char* list : {"^openib", "^ucx,tcp"}) {
    const auto admitted = inspect({std::string("STARLING_MCA_shm=") + list}).admitted("shm");
    ASSERT_TRUE(admitted.has_value()) << admitted.error().text();
    EXPECT_EQ(admitted->size(), 1u);
  }
}

TEST_F(Site, a_list_that_leaves_nothing_is_an_error) {
  install("good");
  const auto admitted = inspect({"STARLING_MCA_shm=^good"}).admitted("shm");
  ASSERT_FALSE(admitted.has_value());
  EXPECT_THAT(admitted.error().text(),
              HasSubstr("shm = '^good' (environment STARLING_MCA_shm) leaves no component"));
  EXPECT_FALSE(inspect().admitted("pml").has_value()) << "a framework without components";
}

TEST_F(Site, the_first_directory_wins_and_the_other_is_listed) {
  install("good");
  fs::copy_file(built("good"), root_ / "prefix/lib/starling/shm_good.so");
  const Index index = inspect();
  const auto admitted = index.admitted("shm").value();
  ASSERT_EQ(admitted.size(), 1u);
  EXPECT_EQ(admitted[0]->file, (root_ / "prefix/lib/starling/shm_good.so").string());
  EXPECT_THAT(index.candidates().back().refusal, HasSubstr("hidden by " + admitted[0]->file));
}

TEST_F(Site, a_broken_first_does_not_hide_a_sound_second) {
  install("good");
  std::ofstream(root_ / "prefix/lib/starling/shm_good.so") << "text";
  const Index index = inspect({"STARLING_MCA_shm=good"});
  const auto admitted = index.admitted("shm");
  ASSERT_TRUE(admitted.has_value()) << admitted.error().text();
  EXPECT_EQ((*admitted)[0]->file, (site_ / "shm_good.so").string());
}

TEST_F(Site, bad_values_of_a_plugins_parameters_are_all_reported) {
  install("good");
  const Index index = inspect({"STARLING_MCA_shm_good_width=10", "STARLING_MCA_shm_good_fast=perhaps"});
  ASSERT_EQ(index.problems().size(), 1u);
  EXPECT_THAT(
      index.problems()[0],
      AllOf(HasSubstr("shm_good_width = '10' (environment STARLING_MCA_shm_good_width) is out of range"),
            HasSubstr("shm_good_fast = 'perhaps'")));
}

}  // namespace
}  // namespace starling::plugin
