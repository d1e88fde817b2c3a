// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  MPI's matching rules (MPI 5.0, 3.5): the hot part, compiled into each pml. Layer: framework (pml).
///
/// An arriving message takes the earliest posted receive that fits; a receive takes the earliest message that
/// fits. Messages of one source are in one list in the order sent, so nothing overtakes; a receive with a
/// wildcard source goes through the arrival list, which keeps that order per source too.
/// Threads: the pml's. Ownership: none. Errors: none.

#include "frameworks/pml/context.hpp"

namespace starling::pml {

[[nodiscard]] inline bool tag_fits(Tag wanted, Tag tag) noexcept {
  return wanted == tag || wanted == kAnyTag;
}

[[nodiscard]] inline Request* first_fitting(const RequestChain& posted, Tag tag) noexcept {
  Request* request = posted.front();
  while (request != nullptr && !tag_fits(request->tag, tag)) request = RequestChain::after(*request);
  return request;
}

/// Takes the receive that a message from `source` with `tag` matches out of the posted queues; null if none.
[[nodiscard]] inline Request* take_posted(Context& context, Source& source, Tag tag) noexcept {
  Request* const named = first_fitting(source.posted, tag);
  if (!context.any_source.empty()) [[unlikely]] {
    Request* const any = first_fitting(context.any_source, tag);
    if (any != nullptr && (named == nullptr || any->order < named->order)) {
      context.any_source.remove(*any);
      return any;
    }
  }
  if (named != nullptr) source.posted.remove(*named);
  return named;
}

/// The earliest unexpected message that a receive would match; null if none. It stays where it is.
[[nodiscard]] inline Message* find_unexpected(const Context& context, Rank rank, Tag tag) noexcept {
  if (rank == kAnySource) {
    Message* message = context.arrivals.front();
    while (message != nullptr && !tag_fits(tag, message->tag)) message = ArrivalChain::after(*message);
    return message;
  }
  const Source* const source = context.touched(rank);
  if (source == nullptr) return nullptr;
  Message* message = source->unexpected.front();
  while (message != nullptr && !tag_fits(tag, message->tag)) message = MessageChain::after(*message);
  return message;
}

inline void add_unexpected(Context& context, Source& source, Message& message) noexcept {
  message.from = &source;
  source.unexpected.push_back(message);
  context.arrivals.push_back(message);
}

inline void remove_unexpected(Context& context, Message& message) noexcept {
  message.from->unexpected.remove(message);
  context.arrivals.remove(message);
  message.from = nullptr;
}

}  // namespace starling::pml
