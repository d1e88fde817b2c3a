// SPDX-License-Identifier: BSD-3-Clause
// Records in one piece of memory. Layer: framework.
//
// Hard here: the descriptor's number comes from the environment, so it may be any file. It counts only if it
// is of this user and sealed, and begins as it should; then its numbers are still checked. Only names of
// files are in it, and the directory is this process's own: no more than other priorities could be forged.

#include "frameworks/handed_records.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace starling::plugin {
namespace {

constexpr std::uint64_t kRecordsMagic = 0x31736472636c7473u;  // "stlcrds1" in memory order
constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
constexpr std::size_t kMostBytes = 16 << 20;

struct RecordsHead {
  std::uint64_t magic = kRecordsMagic;
  std::uint32_t core_interface = kCoreInterface;
  std::uint32_t descriptor_bytes = sizeof(Descriptor), decl_bytes = sizeof(params::Decl);
  std::uint32_t directory_bytes = 0;
};

/// Of one plugin; its texts follow, then its declarations. Each part begins at a multiple of 8.
struct PluginHead {
  Descriptor descriptor;
  std::uint32_t file_bytes = 0, framework_bytes = 0, name_bytes = 0, refusal_bytes = 0;
  std::uint64_t decls = 0;
};

std::size_t rounded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

std::uint32_t append(std::string& bytes, std::string_view text) {
  bytes += text;
  bytes.resize(rounded(bytes.size()));
  return static_cast<std::uint32_t>(text.size());
}

void append_entry(std::string& bytes, const Candidate& plugin, std::string_view file) {
  std::string texts;
  PluginHead entry;
  entry.descriptor = plugin.descriptor;
  entry.file_bytes = append(texts, file);
  entry.framework_bytes = append(texts, plugin.framework);
  entry.name_bytes = append(texts, plugin.name);
  entry.refusal_bytes = append(texts, plugin.refusal);
  entry.decls = plugin.manifest.size();
  bytes.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  bytes += texts;
  bytes.append(reinterpret_cast<const char*>(plugin.manifest.data()), plugin.manifest.size_bytes());
}

/// Takes one part after the other off the bytes; after one that does not fit it gives nothing more.
class Parts {
 public:
  explicit Parts(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}
  template <class T>
  [[nodiscard]] std::span<const T> take(std::size_t count) noexcept {
    const std::size_t bytes = rounded(count * sizeof(T));
    fits_ = fits_ && count <= kMostBytes && bytes <= rest_.size();
    if (!fits_) return {};
    const auto* const first = reinterpret_cast<const T*>(rest_.data());
    rest_ = rest_.subspan(bytes);
    return {first, count};
  }
  [[nodiscard]] std::string_view text(std::size_t bytes) noexcept {
    const auto part = take<char>(bytes);
    return {part.data(), part.size()};
  }
  [[nodiscard]] bool fits() const noexcept { return fits_; }
  [[nodiscard]] bool left() const noexcept { return fits_ && !rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool fits_ = true;
};

/// The whole of the inherited memory, or nothing.
std::span<const std::byte> map_inherited() noexcept {
  const char* const text = ::secure_getenv(kHandedRecordsVariable);
  if (text == nullptr) return {};
  int fd = -1;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, fd);
  if (error != std::errc{} || stop != end || fd < 0) return {};
  struct stat facts {};
  if (::fcntl(fd, F_GET_SEALS) != kSeals || ::fstat(fd, &facts) != 0) return {};
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  if (facts.st_uid != ::geteuid() || bytes < sizeof(RecordsHead) || bytes > kMostBytes) return {};
  // Private: a kernel may take a shared mapping for one that could be written.
  void* const address = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return {};
  return {static_cast<const std::byte*>(address), bytes};
}

}  // namespace

Result<UniqueFd> write_records(const std::string& directory, std::span<const Candidate> plugins) {
  RecordsHead head;
  std::string bytes(sizeof head, '\0');
  head.directory_bytes = append(bytes, directory);
  std::memcpy(bytes.data(), &head, sizeof head);
  for (const Candidate& plugin : plugins) {
    const std::string_view file = plugin.file;
    const auto slash = file.rfind('/');
    if (slash != std::string_view::npos && file.substr(0, slash) == directory)
      append_entry(bytes, plugin, file.substr(slash + 1));
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
      limit.rlim_cur < bytes.size())  // SIGXFSZ would end the process
    return fail(Errc::no_space, "plugin records", "the size of files is limited (ulimit -f)");
  UniqueFd fd(::memfd_create("starling-plugins", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return fail(system_error("plugin records", "memfd_create", errno));
  if (::write(fd.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
      ::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) {
    return fail(system_error("plugin records", "cannot write them", errno));
  }
  return fd;
}

std::optional<std::vector<Candidate>> read_records(std::span<const std::byte> bytes,
                                                   const std::string& directory) {
  Parts parts(bytes);
  const auto head = parts.take<RecordsHead>(1);
  const RecordsHead wanted;
  if (!parts.fits() || std::memcmp(head.data(), &wanted, offsetof(RecordsHead, directory_bytes)) != 0 ||
      parts.text(head[0].directory_bytes) != directory) {
    return std::nullopt;
  }
  std::vector<Candidate> plugins;
  plugins.reserve(16);  // each is half a KiB, and growing would touch twice as many pages
  while (parts.left()) {
    const auto entry = parts.take<PluginHead>(1);
    if (!parts.fits()) return std::nullopt;
    Candidate& plugin = plugins.emplace_back();
    plugin.descriptor = entry[0].descriptor;
    const std::string_view file = parts.text(entry[0].file_bytes);
    plugin.file = directory + "/" + std::string(file);
    plugin.framework = parts.text(entry[0].framework_bytes);
    plugin.name = parts.text(entry[0].name_bytes);
    plugin.refusal = parts.text(entry[0].refusal_bytes);
    plugin.manifest = parts.take<params::Decl>(entry[0].decls);
    if (!parts.fits() || file.find('/') != std::string_view::npos) return std::nullopt;
  }
  return plugins;
}

std::optional<std::vector<Candidate>> handed_records(const std::string& directory) {
  static const std::span<const std::byte> bytes = map_inherited();
  return read_records(bytes, directory);
}

}  // namespace starling::plugin
