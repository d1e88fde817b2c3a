// SPDX-License-Identifier: BSD-3-Clause
// Host lists, in the notation that resource managers use. Layer: framework.

#include "frameworks/btl/net/hosts.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <charconv>
#include <memory>

namespace starling::btl::net {
namespace {

Unexpected bad(std::string_view part, const char* what) {
  return fail(Errc::bad_parameter, "host list", "\"" + std::string(part) + "\" " + what);
}

/// Takes the text up to the first separator outside of brackets off the front.
std::string_view take_name(std::string_view& rest) {
  std::size_t at = 0;
  bool inside = false;
  while (at < rest.size() && (inside || rest[at] != ',')) {
    if (rest[at] == '[') inside = true;
    if (rest[at] == ']') inside = false;
    ++at;
  }
  const std::string_view name = rest.substr(0, at);
  rest.remove_prefix(at < rest.size() ? at + 1 : at);
  return name;
}

struct Range {
  std::uint32_t first = 0, last = 0;
  std::size_t digits = 0;  // that the first number was written with
};

Result<Range> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view first = text.substr(0, dash);
  const std::string_view last = dash == text.npos ? first : text.substr(dash + 1);
  Range range;
  range.digits = first.size();
  const auto number = [](std::string_view digits, std::uint32_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc{} && end == digits.data() + digits.size() && !digits.empty();
  };
  if (!number(first, range.first) || !number(last, range.last) || range.last < range.first) {
    return bad(text, "is no range of numbers");
  }
  return range;
}

std::string padded(std::uint32_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return text;
}

/// One name with or without a bracket.
Result<void> expand_name(std::string_view name, std::vector<std::string>& hosts) {
  const std::size_t open = name.find('[');
  if (open == name.npos) {
    if (name.empty() || name.find(']') != name.npos) return bad(name, "is no host");
    hosts.emplace_back(name);
    return {};
  }
  const std::size_t close = name.find(']', open);
  if (close == name.npos || name.find('[', open + 1) != name.npos) {
    return bad(name, "has not one pair of brackets");
  }
  std::string_view ranges = name.substr(open + 1, close - open - 1);
  do {
    auto range = parse_range(take_name(ranges));
    if (!range) return fail(std::move(range).error());
    if (range->last - range->first >= kHostsMost - hosts.size()) return bad(name, "are too many hosts");
    for (std::uint64_t i = range->first; i <= range->last; ++i) {
      hosts.push_back(std::string(name.substr(0, open)) +
                      padded(static_cast<std::uint32_t>(i), range->digits) +
                      std::string(name.substr(close + 1)));
    }
  } while (!ranges.empty());
  return {};
}

}  // namespace

Result<std::vector<std::string>> expand_hosts(std::string_view list) {
  std::vector<std::string> hosts;
  std::string_view rest = list;
  do {
    if (hosts.size() >= kHostsMost) return bad(list.substr(0, 40), "... are too many hosts");
    if (auto done = expand_name(take_name(rest), hosts); !done) return fail(std::move(done).error());
  } while (!rest.empty());
  return hosts;
}

Result<std::string> resolve(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (code != 0) return fail(Errc::bad_parameter, "host " + host, ::gai_strerror(code));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, &::freeaddrinfo);
  char text[INET_ADDRSTRLEN] = {};
  const auto* const address = reinterpret_cast<const sockaddr_in*>(found->ai_addr);
  ::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
  return std::string(text);
}

}  // namespace starling::btl::net
