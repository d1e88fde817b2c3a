// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A datatype as bytes, for another process of the job. Layer: mpi. docs/design/onesided.md
///
/// The typemap's tree, as it is: a vector of a million blocks is some 40 bytes.
///
/// Threads:   any.
/// Errors:    bytes that are no typemap, or nest too deeply, give nothing.

#include <cstddef>
#include <span>
#include <vector>

#include "mpi/datatype/datatype.hpp"

namespace starling::mpi::message {

[[nodiscard]] std::vector<std::byte> encode(const Datatype& type);
/// A committed type with the same typemap and extent; empty: these bytes are none.
[[nodiscard]] Ref<Datatype> decode(std::span<const std::byte> bytes);

}  // namespace starling::mpi::message
