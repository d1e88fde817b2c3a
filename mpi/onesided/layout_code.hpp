// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A datatype as bytes, for another process of the job. Layer: mpi. docs/design/onesided.md
///
/// The tree of the typemap is written as it is, so that a vector of a million blocks takes some 40 bytes.
///
/// Threads:   any.
/// Errors:    bytes that are no typemap, or that nest too deeply, give no type.

#include <cstddef>
#include <span>
#include <vector>

#include "mpi/datatype/datatype.hpp"

namespace starling::mpi::message {

[[nodiscard]] std::vector<std::byte> encode(const Datatype& type);
/// A committed type with the typemap and extent that were encoded; empty: the bytes are none.
[[nodiscard]] Ref<Datatype> decode(std::span<const std::byte> bytes);

}  // namespace starling::mpi::message
