// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A stream of PMI messages, cut into reads in two ways that must mean the same. Layer: tests.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "frameworks/pmi/wire.hpp"

namespace starling::fuzz {

/// Reads the bytes in pieces of `chunk` and gives `each` every message, until that gives false; adds the
/// reader's error to the log.
template <class Each>
void read_all(std::string_view bytes, std::size_t chunk, pmi::wire::Limits limits, std::string& log,
              Each each) {
  pmi::wire::Reader reader(limits);
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    reader.append(bytes.substr(at, chunk));
    for (;;) {
      auto message = reader.next();
      if (!message) {
        log += message.error().text();
        return;
      }
      if (!*message) break;
      if (!each(**message)) return;
    }
  }
}

/// The input's first byte chooses how the rest is cut; `told`(bytes, chunk) says what came of it.
template <class Told>
void expect_the_same_however_cut(const std::uint8_t* data, std::size_t size, Told told) {
  if (size == 0) return;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (told(bytes, bytes.size() + 1) != told(bytes, data[0] % 32u + 1)) std::abort();
}

}  // namespace starling::fuzz
