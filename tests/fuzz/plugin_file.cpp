// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes the records in plugin files: whatever stands there is refused with a reason, or sound and harmless
// to declare. Layer: tests.
//
// The first byte chooses: the rest is the whole file, or changes {offset, byte} to a small file that is
// right.

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "frameworks/examine.hpp"
#include "frameworks/shm/shm.hpp"
#include "params/registry.hpp"
#include "params/value.hpp"

namespace {

using namespace starling;

void require(bool condition) {
  if (!condition) std::abort();
}

template <class T>
void append(std::string& bytes, const T& object) {
  bytes.append(reinterpret_cast<const char*>(&object), sizeof object);
}

Elf64_Shdr section(std::uint32_t name, std::uint32_t type, std::size_t offset, std::size_t size) {
  Elf64_Shdr header{};
  header.sh_name = name;
  header.sh_type = type;
  header.sh_offset = offset;
  header.sh_size = size;
  return header;
}

/// An ELF file with nothing but the records of a plugin with two parameters.
std::string right_file() {
  plugin::Descriptor descriptor;
  descriptor.bytes = sizeof descriptor;
  descriptor.core_interface = plugin::kCoreInterface;
  descriptor.framework_interface = shm::Framework::kInterface;
  descriptor.framework = "shm";
  descriptor.name = "odd";
  descriptor.version = "1";
  descriptor.fingerprint = plugin::kFingerprint;
  descriptor.summary = "a plugin";
  constexpr params::Decl kParams[] = {params::integer("shm_odd_width", "5", 1, 9, "a width"),
                                      params::choice("shm_odd_way", "on", "on|off", "a way")};
  const std::string names(std::string("\0.starling.plugin\0.starling.params\0.shstrtab\0", 45));
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
#if defined(__x86_64__)
  header.e_machine = EM_X86_64;
#elif defined(__aarch64__)
  header.e_machine = EM_AARCH64;
#endif
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 3;
  header.e_shoff = sizeof header;
  const std::size_t records = sizeof header + 4 * sizeof(Elf64_Shdr);
  const std::size_t table = records + sizeof descriptor;
  std::string bytes;
  append(bytes, header);
  append(bytes, Elf64_Shdr{});
  append(bytes, section(1, SHT_PROGBITS, records, sizeof descriptor));
  append(bytes, section(18, SHT_PROGBITS, table, sizeof kParams));
  append(bytes, section(35, SHT_STRTAB, table + sizeof kParams, names.size()));
  append(bytes, descriptor);
  append(bytes, kParams);
  return bytes + names;
}

std::string changed(std::string bytes, const std::uint8_t* data, std::size_t size) {
  for (std::size_t at = 0; at + 3 <= size; at += 3) {
    bytes[(data[at] | std::size_t{data[at + 1]} << 8) % bytes.size()] = static_cast<char>(data[at + 2]);
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string right = right_file();
  static const int fd = ::memfd_create("plugin", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (size == 0) return 0;
  const bool whole = data[0] % 2 == 1;
  const std::string bytes = whole ? std::string(reinterpret_cast<const char*>(data) + 1, size - 1)
                                  : changed(right, data + 1, size - 1);
  require(::ftruncate(fd, 0) == 0);
  require(::pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  const plugin::Examined found = plugin::examine_file(path);
  const std::string& refusal = found.candidate.refusal;
  if (bytes == right) require(refusal.empty() && found.candidate.manifest.size() == 2);
  if (!refusal.empty()) {
    require(refusal.starts_with(path + ": ") && found.candidate.manifest.empty());
    return 0;
  }
  require(params::valid_name(found.candidate.name) && !found.candidate.framework.empty());
  params::Registry registry;
  const auto added =
      registry.add("shm/odd", found.candidate.manifest);  // a default that does not parse is refused before
  require(added.has_value());
  for (const params::Decl& decl : found.candidate.manifest) {
    require(params::valid_name(decl.name.view()));
    require(!params::expected(decl).empty() || decl.type == params::Type::text);
  }
  return 0;
}
