// SPDX-License-Identifier: BSD-3-Clause
// The records that mpiexec hands down: what comes out is what went in, and damage is noticed.

#include "frameworks/handed_records.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "params/value.hpp"
#include "site.hpp"

namespace starling::plugin {
namespace {

/// What was written, at an address that is aligned as a mapping is.
std::vector<std::uint64_t> words_of(const UniqueFd& fd) {
  struct stat facts {};
  EXPECT_EQ(::fstat(fd.get(), &facts), 0);
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  std::vector<std::uint64_t> words((bytes + 7) / 8);
  EXPECT_EQ(::pread(fd.get(), words.data(), bytes, 0), facts.st_size);
  return words;
}

class Handed : public Site {
 protected:
  void SetUp() override {
    install("good");
    install("bare");
    install_damaged("text", [](std::string& bytes) { bytes = "hello\n"; });
    for (const char* name : {"good", "bare", "text"})
      examined_.push_back(examine_file(site_ / ("shm_" + std::string(name) + ".so")));
    for (const Examined& plugin : examined_) plugins_.push_back(plugin.candidate);
    auto written = write_records(site_, plugins_);
    ASSERT_TRUE(written) << written.error().text();
    words_ = words_of(*written);
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }

  std::vector<Examined> examined_;
  std::vector<Candidate> plugins_;
  std::vector<std::uint64_t> words_;
};

TEST_F(Handed, what_comes_out_is_what_went_in) {
  const auto read = read_records(bytes(), site_);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Candidate &mine = plugins_[i], &theirs = (*read)[i];
    EXPECT_EQ(theirs.framework, mine.framework);
    EXPECT_EQ(theirs.name, mine.name);
    EXPECT_EQ(theirs.file, mine.file);
    EXPECT_EQ(theirs.refusal, mine.refusal);
    EXPECT_EQ(std::memcmp(&theirs.descriptor, &mine.descriptor, sizeof(Descriptor)), 0);
    ASSERT_EQ(theirs.manifest.size(), mine.manifest.size());
    if (mine.manifest.empty()) continue;
    EXPECT_EQ(std::memcmp(theirs.manifest.data(), mine.manifest.data(), mine.manifest.size_bytes()), 0);
  }
  EXPECT_FALSE((*read)[0].manifest.empty());
  EXPECT_THAT((*read)[2].refusal, HasSubstr("is not an ELF file"));
}

TEST_F(Handed, files_of_other_directories_are_not_in_it) {
  const auto none = words_of(write_records(root_, plugins_).value());
  const auto read = read_records(std::as_bytes(std::span(none)), root_);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->empty());
}

TEST_F(Handed, who_looks_for_another_directory_finds_none) {
  EXPECT_FALSE(read_records(bytes(), root_));
  EXPECT_FALSE(read_records({}, site_));
}

TEST_F(Handed, nobody_can_change_them) {
  const UniqueFd fd = std::move(write_records(site_, plugins_)).value();
  EXPECT_EQ(::pwrite(fd.get(), "x", 1, 0), -1);
  EXPECT_EQ(::ftruncate(fd.get(), 0), -1);
}

TEST_F(Handed, every_other_build_and_every_shorter_piece_is_refused) {
  for (std::size_t word = 0; word < 3; ++word) {  // the magic, and the sizes of what it consists of
    words_[word] ^= 1;
    EXPECT_FALSE(read_records(bytes(), site_)) << word;
    words_[word] ^= 1;
  }
  std::size_t whole = 0;
  for (std::size_t size = 0; size < bytes().size(); size += 8) {
    const auto read = read_records(bytes().first(size), site_);
    whole += read ? 1 : 0;  // one that ends after a plugin
    for (const Candidate& plugin : read.value_or(std::vector<Candidate>{}))
      for (const params::Decl& decl : plugin.manifest) EXPECT_TRUE(params::check(decl));
  }
  EXPECT_EQ(whole, 3u);
}

TEST_F(Handed, more_declarations_than_there_can_be_are_refused) {
  words_ = words_of(write_records(site_, std::span(plugins_).subspan(1, 1)).value());
  const std::size_t entry = 3 + (site_.string().size() + 7) / 8;  // behind the head and the directory
  std::uint64_t& decls = words_[entry + (sizeof(Descriptor) + 16) / 8];
  ASSERT_EQ(decls, 0u);
  EXPECT_TRUE(read_records(bytes(), site_));
  for (const std::uint64_t most : {std::uint64_t{1} << 61, std::uint64_t{1} << 24, std::uint64_t{1}}) {
    decls = most;  // the first one takes 0 bytes, modulo 2^64
    EXPECT_FALSE(read_records(bytes(), site_)) << most;
  }
}

TEST_F(Handed, a_file_elsewhere_cannot_be_named) {
  auto* const text = reinterpret_cast<char*>(words_.data());
  const std::string_view all(text, bytes().size());
  text[all.find("shm_good.so") + 3] = '/';
  EXPECT_FALSE(read_records(bytes(), site_));
}

}  // namespace
}  // namespace starling::plugin
