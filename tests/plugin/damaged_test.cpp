// SPDX-License-Identifier: BSD-3-Clause
// Files that are no plugin for us, by their records or their form: an error with the reason where the user
// named them, else skipped and listed.

#include "site.hpp"

namespace starling::plugin {
namespace {

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

TEST_F(Site, what_is_refused_goes_by_its_own_name_where_that_is_sound) {
  install("good");
  install_with_descriptor("outer", [](Descriptor& descriptor) {
    descriptor.fingerprint = "cxx98 stlport";
    descriptor.name = "inner";
  });
  expect_refused("inner", "fingerprint is 'cxx98 stlport'");
  EXPECT_EQ(find(inspect(), "outer"), nullptr);
  // Neither a name of a record of another size nor one with other letters can be relied on.
  for (const bool size : {true, false}) {
    install_with_descriptor("outer", [size](Descriptor& descriptor) {
      descriptor.name = "in ner";
      if (!size) return;
      descriptor.name = "inner";
      descriptor.bytes = sizeof descriptor - 1;
    });
    expect_refused("outer", size ? "bytes is 383" : "name is 'in ner'");
    EXPECT_EQ(find(inspect(), "inner"), nullptr);
  }
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
