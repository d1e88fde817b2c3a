// SPDX-License-Identifier: BSD-3-Clause
// A reader for ELF64 section tables. Hard: the file is untrusted and may shrink while it is read, so it is
// never mapped, and each number is checked before it is used. See docs/design/plugins.md.

#include "core/plugin/elf.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "core/unique_fd.hpp"

namespace starling::plugin {
namespace {

static_assert(std::endian::native == std::endian::little, "big-endian machines need their own reader");

#if defined(__x86_64__)
constexpr unsigned kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr unsigned kMachine = EM_RISCV;
#elif defined(__powerpc64__)
constexpr unsigned kMachine = EM_PPC64;
#else
#error "add this machine's e_machine value"
#endif

// A section table or a section of ours is small; anything larger is damage, not a plugin.
constexpr std::uint64_t kMaxTableBytes = 4 << 20;
constexpr std::uint64_t kMaxSectionBytes = 4 << 20;

struct File {
  UniqueFd fd;
  std::uint64_t bytes = 0;
};

Unexpected refuse(std::string detail) { return fail(Errc::bad_input, {}, std::move(detail)); }

Unexpected misfit(const char* field, std::uint64_t found, std::uint64_t wanted, const char* meaning) {
  return refuse(std::string(field) + " is " + std::to_string(found) + ", expected " + std::to_string(wanted) +
                " (" + meaning + ")");
}

Result<void> read_exactly(const File& file, std::uint64_t offset, std::uint64_t bytes, void* into,
                          const char* what) {
  if (offset > file.bytes || bytes > file.bytes - offset) {
    return refuse(std::string("truncated: ") + what + " is at bytes " + std::to_string(offset) + " to " +
                  std::to_string(offset + bytes) + ", the file has " + std::to_string(file.bytes));
  }
  auto* cursor = static_cast<std::byte*>(into);
  while (bytes > 0) {
    const ssize_t got = ::pread(file.fd.get(), cursor, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(system_error({}, std::string("cannot read ") + what, errno));
    if (got == 0) return refuse(std::string("truncated: ") + what + " ends while it is read");
    cursor += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::uint64_t>(got);
  }
  return {};
}

Result<File> open_file(const std::string& path) {
  // O_NONBLOCK: a FIFO of that name must not stop the process.
  File file{UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)), 0};
  if (!file.fd) return fail(system_error({}, "cannot open it", errno));
  struct stat status {};
  if (::fstat(file.fd.get(), &status) != 0) return fail(system_error({}, "cannot examine it", errno));
  if (!S_ISREG(status.st_mode)) return refuse("is not a regular file");
  file.bytes = static_cast<std::uint64_t>(status.st_size);
  return file;
}

Result<void> check_header(const Elf64_Ehdr& header) {
  const unsigned char* const ident = header.e_ident;
  if (ident[EI_CLASS] != ELFCLASS64) return misfit("ELF class", ident[EI_CLASS], ELFCLASS64, "64-bit");
  if (ident[EI_DATA] != ELFDATA2LSB)
    return misfit("ELF byte order", ident[EI_DATA], ELFDATA2LSB, "little endian");
  if (header.e_type != ET_DYN) return misfit("ELF type", header.e_type, ET_DYN, "shared object");
  if (header.e_machine != kMachine) return misfit("ELF machine", header.e_machine, kMachine, "this machine");
  if (header.e_shentsize != sizeof(Elf64_Shdr)) {
    return misfit("ELF section entry size", header.e_shentsize, sizeof(Elf64_Shdr), "bytes");
  }
  if (header.e_shnum == 0) return refuse("has no section table; it may have been stripped of it");
  if (header.e_shstrndx >= header.e_shnum) {
    return refuse("ELF section name index is " + std::to_string(header.e_shstrndx) + ", expected below " +
                  std::to_string(header.e_shnum));
  }
  return {};
}

Result<std::vector<Elf64_Shdr>> read_table(const File& file) {
  Elf64_Ehdr header{};
  if (file.bytes < SELFMAG)
    return refuse("is not an ELF file: it has " + std::to_string(file.bytes) + " bytes");
  if (auto done = read_exactly(file, 0, SELFMAG, header.e_ident, "the magic number"); !done)
    return fail(done.error());
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return refuse("is not an ELF file: it does not begin with 0x7f 'ELF'");
  }
  if (auto done = read_exactly(file, 0, sizeof header, &header, "the ELF header"); !done)
    return fail(done.error());
  if (auto done = check_header(header); !done) return fail(done.error());
  std::vector<Elf64_Shdr> table(header.e_shnum);
  auto done = read_exactly(file, header.e_shoff, table.size() * sizeof(Elf64_Shdr), table.data(),
                           "the section table");
  if (!done) return fail(done.error());
  // The names' section comes first, so that the caller need not carry the header around.
  std::swap(table.front(), table[header.e_shstrndx]);
  return table;
}

std::string_view name_at(const std::vector<char>& names, std::uint32_t offset) noexcept {
  if (offset >= names.size()) return {};
  return {names.data() + offset, ::strnlen(names.data() + offset, names.size() - offset)};
}

}  // namespace

Result<Sections> read_sections(const std::string& path, std::span<const std::string_view> wanted) {
  auto file = open_file(path);
  if (!file) return fail(std::move(file).error());
  auto table = read_table(*file);
  if (!table) return fail(std::move(table).error());

  const Elf64_Shdr& names_header = table->front();
  if (names_header.sh_size > kMaxTableBytes) {
    return refuse("its section names take " + std::to_string(names_header.sh_size) +
                  " bytes, expected at most " + std::to_string(kMaxTableBytes));
  }
  std::vector<char> names(names_header.sh_size);
  auto done =
      read_exactly(*file, names_header.sh_offset, names.size(), names.data(), "the table of section names");
  if (!done) return fail(std::move(done).error());

  Sections sections(wanted.size());
  for (const Elf64_Shdr& header : *table) {
    const std::string_view name = name_at(names, header.sh_name);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (name != wanted[i]) continue;
      const std::string what = "section " + std::string(name);
      if (sections[i].has_value()) return refuse(what + " stands in it twice, expected once");
      if (header.sh_type != SHT_PROGBITS)
        return misfit("the section's type", header.sh_type, SHT_PROGBITS, what.c_str());
      if (header.sh_size > kMaxSectionBytes) {
        return refuse(what + " has " + std::to_string(header.sh_size) + " bytes, expected at most " +
                      std::to_string(kMaxSectionBytes));
      }
      std::vector<std::byte> bytes(header.sh_size);
      auto read = read_exactly(*file, header.sh_offset, bytes.size(), bytes.data(), what.c_str());
      if (!read) return fail(std::move(read).error());
      sections[i] = std::move(bytes);
    }
  }
  return sections;
}

}  // namespace starling::plugin
