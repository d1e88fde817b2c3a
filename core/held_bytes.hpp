// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Bytes that stay where somebody else has them until they are released. Layer: core.
///
/// Threads:   the one that drives whoever made it.
/// Ownership: whoever has the pointer gives it back once, by release().

namespace starling {

class HeldBytes {
 public:
  virtual void release() noexcept = 0;

 protected:
  ~HeldBytes() = default;
};

}  // namespace starling
