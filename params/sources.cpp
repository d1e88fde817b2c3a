// SPDX-License-Identifier: BSD-3-Clause
// Files, environment and command line as texts. Hard: which failures to read are errors. See
// docs/design/parameters.md.

#include "params/sources.hpp"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "core/trust.hpp"
#include "core/unique_fd.hpp"
#include "params/core_params.hpp"
#include "params/excerpt.hpp"
#include "params/value.hpp"

// The process's environment; unistd.h declares it only for GNU sources.
extern char** environ;  // NOLINT

namespace starling::params {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // some editors begin a file with it
constexpr std::size_t kMaxFileBytes = 1 << 20;  // a path to a device or a core file must not fill the memory

std::string_view trim(std::string_view text) noexcept {
  constexpr std::string_view kBlank = " \t\r";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// A line without its comment. A '#' inside a word stays: file names and port texts may have one.
std::string_view without_comment(std::string_view line) noexcept {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) return line.substr(0, i);
  }
  return line;
}

/// What is known of a file before it is opened.
enum class Expected {
  perhaps,  ///< of the installation: may be absent
  own,      ///< of the user's home: may be absent, and counts only if nobody else can write it
  named     ///< the user has named it: must be there, whoever wrote it
};

const char* kind_of(mode_t mode) noexcept {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "no plain file";
}

Unexpected wrong_kind(const std::string& path, mode_t mode) {
  return fail(Errc::bad_parameter, "parameters",
              path + " is " + kind_of(mode) + "; a parameter file is a plain file with lines `name = value`");
}

Result<std::string> whole_text(int fd, const std::string& path) {
  std::string text;
  char buffer[16384];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(system_error("parameters", "cannot read the parameter file " + path, errno));
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > kMaxFileBytes) {
      return fail(Errc::bad_parameter, "parameters",
                  path + " is larger than 1 MiB; expected lines `name = value`");
    }
  }
}

Result<void> read_file(const std::string& path, Source source, Expected expected, Settings& into) {
  if (path.empty()) return {};
  struct stat facts {};
  // By its name first: some devices do something when they are opened, and a socket cannot be.
  if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) return wrong_kind(path, facts.st_mode);
  // O_NONBLOCK: by now it may have become a FIFO, which waits for a writer.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) {
    const int problem = errno;
    if (expected != Expected::named && (problem == ENOENT || problem == ENOTDIR)) return {};
    // Under su or in a container HOME may be somebody else's and closed to us; then there is no user file.
    if (expected == Expected::own && problem == EACCES) return {};
    return fail(system_error("parameters", "cannot open the parameter file " + path, problem));
  }
  if (::fstat(fd.get(), &facts) != 0)
    return fail(system_error("parameters", "cannot examine the parameter file " + path, errno));
  if (!S_ISREG(facts.st_mode)) return wrong_kind(path, facts.st_mode);
  // It names folders of plugins. Under sudo HOME may be that of a user who must not choose root's.
  if (expected == Expected::own && !distrust(facts).empty()) return {};
  auto text = whole_text(fd.get(), path);
  if (!text) return fail(std::move(text).error());
  return parse_file_text(*text, path, source, into);
}

/// STARLING_eager_limit: perhaps a parameter, with half of the prefix. Variables that Starling reads itself
/// are in capitals.
bool looks_like_half_prefixed(std::string_view name) {
  if (!name.starts_with(kHalfPrefix)) return false;
  name.remove_prefix(kHalfPrefix.size());
  return std::none_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

void read_environment(const std::vector<std::string>& environment, Settings& into) {
  for (const std::string_view entry : environment) {
    const auto equal = entry.find('=');
    if (equal == std::string_view::npos) continue;
    std::string_view name = entry.substr(0, equal);
    if (name.starts_with(kEnvironmentPrefix)) {
      name.remove_prefix(kEnvironmentPrefix.size());
    } else if (!looks_like_half_prefixed(name)) {
      continue;  // else kept as it is: nobody declares such a name, which Registry::unclaimed() finds
    }
    into.insert_or_assign(std::string(name),
                          Setting{std::string(entry.substr(equal + 1)), Origin{Source::environment, {}, 0}});
  }
}

/// Lines `name=value` that mpiexec put into kCommandLineVariable. Names are checked there; here they only
/// become unknown.
void read_command_line(const std::vector<std::string>& environment, Settings& into) {
  for (const std::string_view entry : environment) {
    const auto equal = entry.find('=');
    if (equal == std::string_view::npos || entry.substr(0, equal) != kCommandLineVariable) continue;
    std::string_view rest = entry.substr(equal + 1);
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      const std::string_view line = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
      if (line.empty()) continue;
      const auto split = line.find('=');
      const std::string_view written =
          split == std::string_view::npos ? std::string_view{} : line.substr(split + 1);
      into.insert_or_assign(std::string(line.substr(0, split)),
                            Setting{std::string(written), Origin{Source::command_line, {}, 0}});
    }
  }
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string(value);
}

}  // namespace

Result<void> parse_file_text(std::string_view text, const std::string& path, Source source, Settings& into) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const std::string_view line = trim(without_comment(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (line.empty()) continue;
    const auto equal = line.find('=');
    const std::string_view name = trim(line.substr(0, equal));
    if (equal == std::string_view::npos || !valid_name(name) || line.find('\0') != std::string_view::npos) {
      return fail(Errc::bad_parameter, "parameters",
                  path + ":" + std::to_string(number) + ": '" + excerpt(line) +
                      "' is not understood; expected `name = value`, or a comment that begins with #");
    }
    into.insert_or_assign(std::string(name),
                          Setting{std::string(trim(line.substr(equal + 1))), Origin{source, path, number}});
  }
  return {};
}

Result<Settings> read_sources(const Places& places) {
  Settings settings;
  const std::string shipped = places.prefix.empty() ? std::string{} : places.prefix + "/etc/starling/";
  const auto read = [&](const std::string& path, Source source, Expected expected) {
    return read_file(path, source, expected, settings);
  };
  if (!shipped.empty()) {
    auto done = read(shipped + "params.conf", Source::system_file, Expected::perhaps);
    if (!done) return fail(std::move(done).error());
  }
  if (!places.at_secure) {
    auto done = read(places.user_file, Source::user_file, Expected::own);
    if (done) done = read(places.job_file, Source::job_file, Expected::named);
    if (!done) return fail(std::move(done).error());
    read_environment(places.environment, settings);
    read_command_line(places.environment, settings);
  }
  if (!shipped.empty()) {
    auto done = read(shipped + "override.conf", Source::override_file, Expected::perhaps);
    if (!done) return fail(std::move(done).error());
  }
  return settings;
}

std::vector<std::string> files_not_read(const Places& places) {
  struct stat facts {};
  if (places.at_secure || places.user_file.empty() || ::stat(places.user_file.c_str(), &facts) != 0)
    return {};
  const std::string why = distrust(facts);
  if (why.empty()) return {};
  return {"the parameter file " + places.user_file + " is not read: " + why};
}

std::string Origin::text(std::string_view name) const {
  switch (source) {
    case Source::default_value: return "default";
    case Source::environment:
      return std::string("environment ") + std::string(kEnvironmentPrefix) + std::string(name);
    case Source::command_line: return "mpiexec --mca";
    case Source::system_file:
    case Source::user_file:
    case Source::job_file:
    case Source::override_file: break;
  }
  return file + ":" + std::to_string(line);
}

Places Places::of_this_process(std::string prefix) {
  Places places;
  places.prefix = std::move(prefix);
  places.at_secure = ::getauxval(AT_SECURE) != 0;
  if (places.at_secure) return places;
  const std::string config = variable("XDG_CONFIG_HOME");
  const std::string home = variable("HOME");
  if (!config.empty() && config.front() == '/') {
    places.user_file = config + "/starling/params.conf";
  } else if (!home.empty()) {
    places.user_file = home + "/.config/starling/params.conf";
  }
  places.job_file = variable(kJobFileVariable.data());
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("STARLING_")) places.environment.emplace_back(text);
  }
  return places;
}

Result<std::string> command_line_value(std::span<const CommandLineSetting> settings) {
  std::string lines;
  for (const auto& [name, written] : settings) {
    if (!valid_name(name)) {
      return fail(Errc::bad_parameter, "--mca",
                  "'" + excerpt(name) +
                      "' is no parameter name; expected letters, digits and _, as in `--mca btl self,shm`");
    }
    if (written.find('\n') != std::string::npos) {
      return fail(Errc::bad_parameter, "--mca",
                  "the value of " + excerpt(name) + " has a line break; expected one line");
    }
    lines.append(name).append("=").append(written).append("\n");
  }
  return lines;
}

}  // namespace starling::params
