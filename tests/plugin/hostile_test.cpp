// SPDX-License-Identifier: BSD-3-Clause
// Files that are no plugin for us: an error with the reason where the user named them, else skipped and
// listed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "frameworks/select.hpp"
#include "frameworks/shm/shm.hpp"
#include "params/core_params.hpp"

namespace starling::plugin {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// A directory of plugins that a test fills, an empty prefix, and an index over both.
class Site : public testing::Test {
 protected:
  Site() {
    ::umask(022);  // what its group can write is refused
    std::string pattern = (fs::temp_directory_path() / "starling-plugins-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    fs::create_directories(root_ / "prefix/lib/starling");
    fs::create_directories(root_ / "site");
    site_ = root_ / "site";
  }
  ~Site() override { fs::remove_all(root_); }

  static fs::path built(const std::string& name) {
    return fs::path(HOSTILE_PLUGINS) / ("shm_" + name + ".so");
  }
  void install(const std::string& name) {
    const fs::path copy = site_ / ("shm_" + name + ".so");
    fs::copy_file(built(name), copy);
    ASSERT_EQ(::chmod(copy.c_str(), 0755), 0) << "whatever umask the build had";
  }

  /// A copy of the good plugin with some bytes changed.
  template <class Change>
  void install_damaged(const std::string& name, Change&& change) {
    std::ifstream in(built("good"), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    change(bytes);
    std::ofstream(site_ / ("shm_" + name + ".so"), std::ios::binary) << bytes;
  }
  template <class Change>
  void install_with_descriptor(const std::string& name, Change&& change) {
    install_damaged(name, [&](std::string& bytes) {
      char magic[sizeof kMagic];
      std::memcpy(magic, &kMagic, sizeof magic);
      const auto at = bytes.find(std::string_view(magic, sizeof magic));
      ASSERT_NE(at, std::string::npos);
      Descriptor descriptor;
      std::memcpy(&descriptor, bytes.data() + at, sizeof descriptor);
      change(descriptor);
      std::memcpy(bytes.data() + at, &descriptor, sizeof descriptor);
    });
  }

  Index inspect(std::vector<std::string> environment = {}, bool at_secure = false) {
    params::Places places;
    places.environment = std::move(environment);
    places.environment.push_back("STARLING_MCA_plugin_path=" + (path_.empty() ? site_.string() : path_));
    params_ = params::Registry();
    EXPECT_TRUE(params_.load(places).has_value());
    return Index::inspect(params_, (root_ / "prefix").string(), {.at_secure = at_secure, .linked_in = false});
  }

  static const Candidate* find(const Index& index, const std::string& name) {
    for (const Candidate& candidate : index.candidates()) {
      if (candidate.framework == "shm" && candidate.name == name) return &candidate;
    }
    return nullptr;
  }
  /// The file is listed with this refusal, others are chosen, and naming it is an error with the same reason.
  void expect_refused(const std::string& name, const std::string& reason) {
    const Index index = inspect();
    const Candidate* const candidate = find(index, name);
    ASSERT_NE(candidate, nullptr) << name;
    EXPECT_THAT(candidate->refusal, AllOf(HasSubstr(candidate->file), HasSubstr(reason)));
    const auto others = index.admitted("shm");
    ASSERT_TRUE(others.has_value()) << others.error().text();
    EXPECT_EQ(std::count(others->begin(), others->end(), candidate), 0);

    const Index asked = inspect({"STARLING_MCA_shm=" + name});
    const auto named = asked.admitted("shm");
    ASSERT_FALSE(named.has_value()) << name;
    EXPECT_THAT(named.error().text(), AllOf(HasSubstr("shm = '" + name + "' (environment STARLING_MCA_shm)"),
                                            HasSubstr("cannot be used"), HasSubstr(reason)));
    const Index unwanted = inspect({"STARLING_MCA_shm=^" + name});
    EXPECT_TRUE(unwanted.admitted("shm").has_value()) << "to exclude what is refused anyway asks for nothing";
  }
  std::string create_error(const std::string& name) {
    Index index = inspect({"STARLING_MCA_shm=" + name});
    auto made = index.create_first<shm::Framework>(shm::Args{params_});
    EXPECT_FALSE(made.has_value()) << name;
    return made ? std::string{} : made.error().text();
  }

  fs::path root_;
  fs::path site_;
  std::string path_;
  params::Registry params_;
};

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

TEST_F(Site, a_list_that_leaves_nothing_is_an_error) {
  install("good");
  const auto admitted = inspect({"STARLING_MCA_shm=^good"}).admitted("shm");
  ASSERT_FALSE(admitted.has_value());
  EXPECT_THAT(admitted.error().text(),
              HasSubstr("shm = '^good' (environment STARLING_MCA_shm) leaves no component"));
  EXPECT_FALSE(inspect().admitted("pml").has_value()) << "a framework without components";
}

TEST_F(Site, wrong_magic_is_refused) {
  install("good");
  install_with_descriptor("magic", [](Descriptor& descriptor) { descriptor.magic = 7; });
  expect_refused("magic", "descriptor field magic is '0x0000000000000007', expected '0x31676e696c726174'");
}

TEST_F(Site, an_older_core_interface_is_refused) {
  install("good");
  install_with_descriptor("old", [](Descriptor& descriptor) {
    descriptor.core_interface = kCoreInterface - 1;
    descriptor.name = "old";
  });
  expect_refused("old", "descriptor field core_interface is " + std::to_string(kCoreInterface - 1) +
                            ", expected " + std::to_string(kCoreInterface));
}

TEST_F(Site, a_newer_framework_interface_is_refused) {
  install("good");
  install_with_descriptor("newer", [](Descriptor& descriptor) {
    descriptor.framework_interface = shm::Framework::kInterface + 1;
    descriptor.name = "newer";
  });
  expect_refused("newer", "descriptor field framework_interface is " +
                              std::to_string(shm::Framework::kInterface + 1) + ", expected " +
                              std::to_string(shm::Framework::kInterface) + " for framework shm");
}

TEST_F(Site, a_record_of_another_size_is_refused) {
  install("good");
  install_with_descriptor("small", [](Descriptor& descriptor) { descriptor.bytes = 300; });
  expect_refused("small", "descriptor field bytes is 300, expected 384");
}

TEST_F(Site, another_compilers_fingerprint_is_refused) {
  install("good");
  install_with_descriptor("alien", [](Descriptor& descriptor) {
    descriptor.fingerprint = "cxx98 stlport";
    descriptor.name = "alien";
  });
  expect_refused("alien", "descriptor field fingerprint is 'cxx98 stlport', expected 'cxx20 libstdc++");
}

TEST_F(Site, names_and_frameworks_that_do_not_exist_are_refused) {
  install("good");
  install_with_descriptor("dots", [](Descriptor& descriptor) { descriptor.name = "../x"; });
  expect_refused("dots", "descriptor field name is '../x', expected 'letters, digits and _'");
  install_with_descriptor("unframed", [](Descriptor& descriptor) { descriptor.framework = "rml"; });
  const Index index = inspect();
  const auto unframed = std::find_if(index.candidates().begin(), index.candidates().end(),
                                     [](const Candidate& c) { return c.framework == "rml"; });
  ASSERT_NE(unframed, index.candidates().end());
  EXPECT_THAT(unframed->refusal,
              HasSubstr("descriptor field framework is 'rml', expected 'pmi|shm|btl|pml|bootstrap'"));
}

TEST_F(Site, a_field_without_an_end_is_read_to_its_size_only) {
  install("good");
  install_with_descriptor("endless", [](Descriptor& descriptor) {
    std::memset(descriptor.fingerprint.bytes, 'x', sizeof descriptor.fingerprint.bytes);
    descriptor.name = "endless";
  });
  expect_refused("endless", "fingerprint is '" + std::string(64, 'x') + "', expected");
}

TEST_F(Site, a_truncated_file_is_refused_wherever_it_ends) {
  install("good");
  for (const std::size_t keep : {0u, 3u, 4u, 63u, 64u, 1000u, 5000u}) {
    install_damaged("cut",
                    [&](std::string& bytes) { bytes.resize(std::min<std::size_t>(keep, bytes.size())); });
    expect_refused("cut", keep < 4 ? "is not an ELF file" : "truncated: ");
  }
  install_damaged("cut", [](std::string& bytes) { bytes.pop_back(); });
  expect_refused("cut", "truncated: the section table");
}

TEST_F(Site, another_class_order_type_or_machine_is_refused) {
  install("good");
  install_damaged("elf", [](std::string& bytes) { bytes[4] = 1; });
  expect_refused("elf", "ELF class is 1, expected 2 (64-bit)");
  install_damaged("elf", [](std::string& bytes) { bytes[5] = 2; });
  expect_refused("elf", "ELF byte order is 2, expected 1 (little endian)");
  install_damaged("elf", [](std::string& bytes) { bytes[16] = 2; });
  expect_refused("elf", "ELF type is 2, expected 3 (shared object)");
  install_damaged("elf", [](std::string& bytes) { bytes[18] = 8; });
  expect_refused("elf", "ELF machine is 8, expected ");
}

TEST_F(Site, a_text_file_and_a_foreign_library_are_refused) {
  install("good");
  install_damaged("text", [](std::string& bytes) { bytes = "#!/bin/sh\nexit 0\n"; });
  expect_refused("text", "is not an ELF file: it does not begin with 0x7f 'ELF'");
  fs::copy_file(fs::path(HOSTILE_PLUGINS) / "../absent/libstarling_test_absent.so", site_ / "shm_foreign.so");
  expect_refused("foreign", "has no section .starling.plugin; it is no Starling plugin");
}

TEST_F(Site, what_is_no_regular_file_is_refused_without_waiting) {
  install("good");
  fs::create_directory(site_ / "shm_directory.so");
  expect_refused("directory", "is not a regular file");
  ASSERT_EQ(::mkfifo((site_ / "shm_fifo.so").c_str(), 0600), 0);
  expect_refused("fifo", "is not a regular file");
  fs::create_symlink("nowhere", site_ / "shm_dangling.so");
  expect_refused("dangling", "cannot open it: No such file or directory");
}

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

TEST_F(Site, a_plugin_that_does_not_come_back_ends_the_process_and_says_which) {
  install("blocking");
  install("good");
  const auto start = [this](const std::string& seconds, const std::string& name) {
    Index index = inspect({"STARLING_MCA_plugin_start_timeout=" + seconds});
    (void)index.create<shm::Framework>(*find(index, name), shm::Args{params_});
  };
  EXPECT_EXIT(start("1", "blocking"), testing::ExitedWithCode(EXIT_FAILURE),
              "shm/blocking: .*shm_blocking.so has not come back.*STARLING_MCA_shm=.blocking");
  start("1", "good");
}

TEST_F(Site, a_manifest_that_takes_anothers_parameter_is_refused) {
  install("good");
  install("greedy");
  expect_refused("greedy", "declares parameter 'plugin_path', which core has declared already");
}

TEST_F(Site, a_manifest_that_is_damaged_is_refused) {
  install("good");
  install_damaged("manifest", [](std::string& bytes) {
    const auto at = bytes.find("shm_good_width");
    ASSERT_NE(at, std::string::npos);
    bytes[at] = '/';
  });
  Index index = inspect();
  const auto refused = std::find_if(index.candidates().begin(), index.candidates().end(),
                                    [](const Candidate& c) { return c.file.ends_with("shm_manifest.so"); });
  ASSERT_NE(refused, index.candidates().end());
  EXPECT_THAT(refused->refusal,
              HasSubstr("declaration of parameter '/hm_good_width': its name is not made of letters"));
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

TEST_F(Site, directories_that_others_can_write_or_that_are_relative_are_not_searched) {
  install("good");
  fs::permissions(site_, fs::perms::others_write, fs::perm_options::add);
  path_ = site_.string() + ":relative/path::" + (root_ / "absent").string();
  const Index index = inspect();
  EXPECT_EQ(find(index, "good"), nullptr);
  EXPECT_THAT(index.refused_directories(),
              testing::ElementsAre(site_.string() + ": it is writable by others; use `chmod o-w`",
                                   "relative/path: it is not an absolute path",
                                   (root_ / "absent").string() + ": it does not exist"));
  const auto named = inspect({"STARLING_MCA_shm=good"}).admitted("shm");
  ASSERT_FALSE(named.has_value());
  EXPECT_THAT(named.error().text(),
              HasSubstr("not searched: " + site_.string() + ": it is writable by others"));
}

TEST_F(Site, a_directory_of_another_user_is_not_searched) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  install("good");
  ASSERT_EQ(::chown(site_.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  const Index index = inspect();
  ASSERT_EQ(index.refused_directories().size(), 1u);
  EXPECT_THAT(index.refused_directories()[0], HasSubstr("its owner is user 12345, expected root or user 0"));
}

TEST_F(Site, a_directory_that_its_group_can_write_is_not_searched) {
  install("good");
  ASSERT_EQ(::chmod(site_.c_str(), 0775), 0);
  EXPECT_THAT(inspect().refused_directories(),
              testing::ElementsAre(site_.string() + ": it is writable by its group; use `chmod g-w`"));
  ASSERT_EQ(::chmod(site_.c_str(), 0777), 0);
  EXPECT_THAT(inspect().refused_directories(),
              testing::ElementsAre(site_.string() + ": it is writable by others; use `chmod go-w`"));
}

TEST_F(Site, a_directory_in_one_that_others_can_write_is_not_searched_unless_that_one_is_sticky) {
  install("good");
  ASSERT_EQ(::chmod(root_.c_str(), 0770), 0);
  EXPECT_THAT(inspect().refused_directories(),
              testing::Contains(site_.string() + ": the folder " + root_.string() +
                                ": it is writable by its group; use `chmod g-w`"));
  ASSERT_EQ(::chmod(root_.c_str(), 01777), 0);
  EXPECT_EQ(find(inspect(), "good")->refusal, "");
  // Sticky does not help where entries matter: others may add one.
  ASSERT_EQ(::chmod(site_.c_str(), 01777), 0);
  EXPECT_EQ(inspect().refused_directories().size(), 1u);
}

TEST_F(Site, a_file_that_others_can_write_is_refused) {
  install("good");
  for (const auto& [mode, reason] : {std::pair{0775u, "it is writable by its group; use `chmod g-w`"},
                                     std::pair{0757u, "it is writable by others; use `chmod o-w`"},
                                     std::pair{0777u, "it is writable by others; use `chmod go-w`"}}) {
    fs::remove(site_ / "shm_open.so");
    install_with_descriptor("open", [](Descriptor& descriptor) { descriptor.name = "open"; });
    ASSERT_EQ(::chmod((site_ / "shm_open.so").c_str(), mode), 0);
    expect_refused("open", reason);
  }
}

TEST_F(Site, a_file_or_a_link_of_another_user_is_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  install("good");
  const fs::path theirs = root_ / "theirs";
  fs::create_directory(theirs);
  install_with_descriptor("linked", [](Descriptor& descriptor) { descriptor.name = "linked"; });
  fs::rename(site_ / "shm_linked.so", theirs / "shm_linked.so");
  fs::create_symlink(theirs / "shm_linked.so", site_ / "shm_linked.so");
  ASSERT_EQ(::chown(theirs.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  expect_refused("linked", "the folder " + theirs.string() + ": its owner is user 12345");
  ASSERT_EQ(::chown(theirs.c_str(), 0, static_cast<gid_t>(-1)), 0);
  ASSERT_EQ(::chown((theirs / "shm_linked.so").c_str(), 12345, static_cast<gid_t>(-1)), 0);
  expect_refused("linked", "it leads to " + (theirs / "shm_linked.so").string() +
                               ": its owner is user 12345, expected root or user 0");
  install_with_descriptor("given", [](Descriptor& descriptor) { descriptor.name = "given"; });
  ASSERT_EQ(::chmod((site_ / "shm_given.so").c_str(), 0755), 0);
  ASSERT_EQ(::chown((site_ / "shm_given.so").c_str(), 12345, static_cast<gid_t>(-1)), 0);
  expect_refused("given", "its owner is user 12345, expected root or user 0");
}

TEST_F(Site, a_link_to_a_sound_file_is_followed_and_the_file_itself_is_opened) {
  fs::create_directory(root_ / "own");
  install("good");
  fs::rename(site_ / "shm_good.so", root_ / "own/shm_good.so.1");
  fs::create_symlink(root_ / "own/shm_good.so.1", site_ / "shm_good.so");
  const Index index = inspect();
  ASSERT_NE(find(index, "good"), nullptr);
  EXPECT_EQ(find(index, "good")->refusal, "");
  EXPECT_EQ(find(index, "good")->file, (root_ / "own/shm_good.so.1").string());
}

TEST_F(Site, set_uid_processes_search_the_installation_only) {
  install("good");
  EXPECT_EQ(find(inspect({}, true), "good"), nullptr);
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

TEST_F(Site, every_single_byte_of_the_elf_header_may_be_wrong) {
  install("good");
  for (std::size_t at = 0; at < 64; ++at) {
    for (const char value : {'\x00', '\x01', '\x7f', '\xff'}) {
      install_damaged("byte", [&](std::string& bytes) { bytes[at] = value; });
      const Index index = inspect();  // must return; whether the copy is usable depends on the byte
      EXPECT_TRUE(index.admitted("shm").has_value());
    }
  }
}

TEST_F(Site, every_byte_of_the_section_table_may_be_wrong) {
  install("good");
  std::uint64_t table = 0;
  install_damaged("byte", [&](std::string& bytes) { std::memcpy(&table, bytes.data() + 40, sizeof table); });
  const auto size = fs::file_size(built("good"));
  ASSERT_LT(table, size);
  for (std::size_t at = table; at < size; at += 3) {
    install_damaged("byte", [&](std::string& bytes) { bytes[at] = '\xff'; });
    EXPECT_TRUE(inspect().admitted("shm").has_value());
  }
}

}  // namespace
}  // namespace starling::plugin
