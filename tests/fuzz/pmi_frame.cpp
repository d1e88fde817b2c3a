// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes the reader of PMI messages by itself, frames above all: the same bytes cut differently mean the
// same, what was read can be written, and what was written reads the same. Layer: tests.
//
// The input's first byte chooses how the stream is cut into reads.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frameworks/pmi/wire.hpp"

namespace {

using namespace starling::pmi;

/// Everything about a message but its place.
std::string told(const wire::Message& message) {
  std::string text = std::string(message.name()) + "\n";
  for (const wire::Field& field : message.fields()) {
    text.append(field.key) += '\0';
    text.append(field.value) += '\0';
  }
  return text;
}

/// Writes a frame again and reads it.
void check_round_trip(const wire::Message& message) {
  if (!wire::is_plain(message.name()))
    return;  // the reader takes names and keys that Starling does not write
  wire::Frame frame(message.name());
  for (const wire::Field& field : message.fields()) {
    if (!wire::is_plain(field.key) || field.key.find(';') != std::string_view::npos) return;
    frame.add(field.key, field.value);
  }
  if (message.name().find(';') != std::string_view::npos) return;
  wire::Reader reader;
  reader.append(std::move(frame).take());
  auto again = reader.next();
  if (!again || !*again || reader.in_message() || told(**again) != told(message)) std::abort();
}

std::string read(std::string_view bytes, std::size_t chunk) {
  constexpr std::size_t kMost = 4096;
  wire::Reader reader({.line_bytes = kMost, .command_bytes = kMost, .fields = 64});
  std::string log;
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    reader.append(bytes.substr(at, chunk));
    for (;;) {
      auto message = reader.next();
      if (!message) return log + message.error().text();
      if (!*message) break;
      if ((*message)->fields().size() > 64) std::abort();
      log += std::to_string((*message)->offset()) + told(**message);
      if ((*message)->form() == wire::Form::frame) check_round_trip(**message);
    }
  }
  return log;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (read(bytes, bytes.size() + 1) != read(bytes, data[0] % 32u + 1)) std::abort();
  return 0;
}
