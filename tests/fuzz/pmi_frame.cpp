// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes the reader of PMI messages by itself, frames above all: the same bytes cut differently mean the
// same, what was read can be written, and what was written reads the same. Layer: tests.

#include "tests/fuzz/cut.hpp"

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
  std::string log;
  const auto note = [&](const wire::Message& message) {
    if (message.fields().size() > 64) std::abort();
    log += std::to_string(message.offset()) + told(message);
    if (message.form() == wire::Form::frame) check_round_trip(message);
    return true;
  };
  starling::fuzz::read_all(bytes, chunk, {.line_bytes = kMost, .command_bytes = kMost, .fields = 64}, log,
                           note);
  return log;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  starling::fuzz::expect_the_same_however_cut(data, size, read);
  return 0;
}
