// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What became of the messages of one sender, in words for the author of a transport. Layer: tests.

#include <algorithm>
#include <string>
#include <vector>

#include "tests/conformance/btl/collector.hpp"

namespace starling::conformance {

/// A message of make_message(number, bytes).
struct Sent {
  std::uint64_t number = 0;
  std::size_t bytes = 0;
};

namespace detail {

using Arrived = std::vector<test::Collector::Message>;

inline bool is(const test::Collector::Message& arrived, const Sent& sent) {
  return arrived.bytes.size() == sent.bytes && arrived.bytes == test::make_message(sent.number, sent.bytes);
}

/// Why the message at `at` is not the one that was sent as number `at`.
inline std::string difference(const Arrived& arrived, const std::vector<Sent>& sent, std::size_t at) {
  const std::string which = "message " + std::to_string(at) + " of " + std::to_string(sent.size());
  const auto later = [&](const Sent& wanted) {
    return std::any_of(arrived.begin() + static_cast<std::ptrdiff_t>(at), arrived.end(),
                       [&](const auto& each) { return is(each, wanted); });
  };
  for (std::size_t before = at; before-- > 0 && at - before < 200;) {
    if (is(arrived[at], sent[before]))
      return "message " + std::to_string(before) + " was delivered twice: a message is delivered once";
  }
  for (std::size_t behind = at + 1; behind < sent.size() && behind < at + 200; ++behind) {
    if (!is(arrived[at], sent[behind])) continue;
    if (later(sent[at])) {
      return which + " was overtaken by message " + std::to_string(behind) +
             ": per endpoint, messages arrive in posting order";
    }
    return which + " was lost: send() gave done or commit() was called, and message " +
           std::to_string(behind) + " has come";
  }
  const auto& bytes = arrived[at].bytes;
  if (bytes.size() != sent[at].bytes) {
    return which + " came with " + std::to_string(bytes.size()) + " bytes, sent were " +
           std::to_string(sent[at].bytes) + ": a message arrives as a whole";
  }
  const auto wanted = test::make_message(sent[at].number, sent[at].bytes);
  const auto wrong = std::mismatch(bytes.begin(), bytes.end(), wanted.begin()).first - bytes.begin();
  return which + " was damaged: byte " + std::to_string(wrong) + " of " + std::to_string(bytes.size()) +
         " is wrong";
}

}  // namespace detail

/// Whether exactly these messages have arrived, in this order and whole.
inline testing::AssertionResult came_as_sent(const detail::Arrived& arrived, const std::vector<Sent>& sent) {
  for (std::size_t at = 0; at < std::min(arrived.size(), sent.size()); ++at) {
    if (!detail::is(arrived[at], sent[at]))
      return testing::AssertionFailure() << detail::difference(arrived, sent, at);
  }
  if (arrived.size() < sent.size()) {
    return testing::AssertionFailure()
           << "message " << arrived.size() << " of " << sent.size()
           << " was lost, or progress() does not deliver it: it has not come in time";
  }
  if (arrived.size() > sent.size()) {
    return testing::AssertionFailure() << "more messages were delivered (" << arrived.size()
                                       << ") than sent (" << sent.size() << "): a message is delivered once";
  }
  return testing::AssertionSuccess();
}

}  // namespace starling::conformance
