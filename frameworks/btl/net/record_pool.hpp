// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Records that a network library holds while something is under way. Layer: framework.
///
/// Their addresses do not change, and records are used again and again.
/// Threads:   as btl::Component.
/// Ownership: the pool's. It has to outlive what the library does with them.

#include <cstddef>
#include <deque>

#include "core/stack.hpp"

namespace starling::btl::net {

/// `Record` has a member `next`, which is the pool's while the record is not out.
template <class Record>
class RecordPool {
 public:
  [[nodiscard]] Record* take() {
    Record* const used = free_.pop();
    Record* const record = used != nullptr ? used : &all_.emplace_back();
    ++out_;
    return record;
  }
  void give(Record* record) noexcept {
    free_.push(*record);
    --out_;
  }
  [[nodiscard]] std::size_t out() const noexcept { return out_; }

 private:
  std::deque<Record> all_;
  Stack<Record, &Record::next> free_;
  std::size_t out_ = 0;
};

}  // namespace starling::btl::net
