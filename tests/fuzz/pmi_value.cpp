// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes values from a process manager: only what encode() writes is accepted. Layer: tests.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frameworks/pmi/environment.hpp"
#include "frameworks/pmi/value.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace starling;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = pmi::ValueCodec::decode(text);
  if (value && pmi::ValueCodec::encode(*value) != text) std::abort();
  const auto codec = pmi::ValueCodec::make({.keylen_max = 40, .vallen_max = 32 + size % 64});
  const auto count = codec->piece_count(text);
  if (value && codec->pieces(text).size() > 1 && count) std::abort();  // longer than a first piece can be
  (void)pmi::Features::parse(text);
  return 0;
}
