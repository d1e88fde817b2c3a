// SPDX-License-Identifier: BSD-3-Clause
// Words for findings, and the file that keeps them: lines of text, the first ones saying whose they are.
// Layer: framework (pml). Design: docs/design/dynamic.md.
#include "frameworks/pml/findings.hpp"

#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string_view>

#include "core/clock.hpp"
#include "core/text_file.hpp"

namespace starling::pml {

namespace {

constexpr char kHead[] = "Starling's trials of large messages, layout 1";
constexpr unsigned kCostBits = 20;
constexpr std::uint64_t kCostMost = (std::uint64_t{1} << kCostBits) - 1;

/// {protocol + 1 in 4 bits, three costs}; 0: nothing has been found.
std::uint64_t pack(const Findings::Finding& finding) noexcept {
  std::uint64_t word = static_cast<std::uint64_t>(finding.protocol) + 1;
  for (unsigned at = 0; at < Findings::kOptions; ++at)
    word |= std::min(finding.costs[at], kCostMost) << (4 + at * kCostBits);
  return word;
}

Findings::Finding unpack(std::uint64_t word) noexcept {
  Findings::Finding finding;
  finding.protocol = static_cast<Large>((word & 15) - 1);
  for (unsigned at = 0; at < Findings::kOptions; ++at)
    finding.costs[at] = word >> (4 + at * kCostBits) & kCostMost;
  return finding;
}

bool sound(std::uint64_t word) noexcept { return (word & 15) <= kProtocolsMax; }

/// The first lines of a file.
std::string head_of(const Findings::Origin& origin) {
  return std::string(kHead) + "\npml " + origin.pml + "\nversion " + origin.version + "\nmachine " +
         origin.machine + "\n";
}

/// A name that no other process uses, also not one of another host with the same pid that writes to the same
/// file system at the same time.
std::string name_beside(const std::string& path) {
  std::uint64_t random = now_ns() ^ static_cast<std::uint64_t>(::getpid()) << 40;
  (void)!::getrandom(&random, sizeof random, GRND_NONBLOCK);
  char host[64] = "";
  (void)::gethostname(host, sizeof host - 1);
  char hex[20];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(random));
  return path + "." + host + "." + hex;
}

/// Takes the next line off the text, without its end.
std::optional<std::string_view> take_line(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

/// Takes the next number off a line; false: there is none, or it does not fit.
template <class Number>
bool take_number(std::string_view& line, Number& number) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
  const auto [stop, problem] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (problem != std::errc{}) return false;
  line.remove_prefix(static_cast<std::size_t>(stop - line.data()));
  return true;
}

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

/// 0 or errno.
int write_file(const std::string& path, const std::string& text) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "we"));
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) return errno;
  return std::fclose(file.release()) == 0 ? 0 : errno;
}

}  // namespace

void Findings::share(std::span<std::atomic<std::uint64_t>> words) noexcept {
  if (words.size() < kWords) return;
  shared_ = words.first(kWords);
  for (unsigned index = 0; index < kWords; ++index) {
    std::uint64_t none = 0;
    if (own_[index] != 0)
      shared_[index].compare_exchange_strong(none, own_[index], std::memory_order_relaxed);
  }
}

std::uint64_t Findings::word(unsigned index) const noexcept {
  return shared_.empty() ? own_[index] : shared_[index].load(std::memory_order_relaxed);
}

std::optional<Findings::Finding> Findings::find(const Key& key) const noexcept {
  const std::uint64_t found = word(key.index());
  if (found == 0 || !sound(found)) return std::nullopt;
  return unpack(found);
}

void Findings::keep(const Key& key, const Finding& finding) noexcept {
  found_some_ = true;
  if (shared_.empty()) {
    own_[key.index()] = pack(finding);
  } else {
    shared_[key.index()].store(pack(finding), std::memory_order_relaxed);
  }
}

std::string Findings::this_machine() {
  utsname system{};
  const char* const release = ::uname(&system) == 0 ? system.release : "?";
  const std::string text = text_of_file("/proc/cpuinfo");
  std::string model = "?";
  std::string_view rest = text;
  while (const auto line = take_line(rest)) {
    if (!line->starts_with("model name") && !line->starts_with("CPU part")) continue;
    model = line->substr(std::min(line->find(':') + 2, line->size()));
    break;
  }
  return model + ", " + std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + " CPUs, Linux " + release;
}

Result<void> Findings::load(const std::string& path, const Origin& origin) {
  if (::access(path.c_str(), F_OK) != 0) return fail(Errc::not_found, path, "there is no such file");
  const std::string text = text_of_file(path);
  const std::string head = head_of(origin);
  std::string_view rest = text;
  std::string_view expected = head;
  while (const auto wanted = take_line(expected)) {
    const std::string line(take_line(rest).value_or(std::string_view{}));
    if (line == *wanted) continue;
    return fail(Errc::bad_input, path,
                "it has '" + line + "' where this job has '" + std::string(*wanted) +
                    "'; name another file, or remove this one");
  }
  std::array<std::uint64_t, kWords> read{};
  for (unsigned number = 5; auto line = take_line(rest); ++number) {
    unsigned index = 0, protocol = 0;
    Finding finding;
    bool whole = take_number(*line, index) && take_number(*line, protocol);
    for (std::uint64_t& cost : finding.costs) whole = whole && take_number(*line, cost);
    finding.protocol = static_cast<Large>(protocol);
    if (!whole || index >= kWords || protocol >= kProtocolsMax) {
      return fail(Errc::bad_input, path + ":" + std::to_string(number),
                  "expected a word below " + std::to_string(kWords) + ", a protocol below " +
                      std::to_string(kProtocolsMax) + " and " + std::to_string(kOptions) + " costs");
    }
    read[index] = pack(finding);
  }
  own_ = read;
  return {};
}

Result<void> Findings::save(const std::string& path, const Origin& origin) const {
  std::string text = head_of(origin);
  for (unsigned index = 0; index < kWords; ++index) {
    if (word(index) == 0 || !sound(word(index))) continue;
    const Finding finding = unpack(word(index));
    text += std::to_string(index) + ' ' + std::to_string(static_cast<unsigned>(finding.protocol));
    for (const std::uint64_t cost : finding.costs) text += ' ' + std::to_string(cost);
    text += '\n';
  }
  // Whoever reads meanwhile reads the old one or the new one.
  const std::string beside = name_beside(path);
  if (const int error = write_file(beside, text); error != 0) {
    (void)std::remove(beside.c_str());
    return fail(system_error(path, "cannot be written", error));
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) {
    const int error = errno;
    (void)std::remove(beside.c_str());
    return fail(system_error(path, "cannot be replaced", error));
  }
  return {};
}

}  // namespace starling::pml
