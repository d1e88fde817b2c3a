// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Sends to one peer that are held back until it has matched earlier announcements. Layer: framework
/// (pml).
///
/// There is a line for each context, since order matters within a context only: a line that is blocked blocks
/// no other. See docs/design/pml.md, "Bounded memory".
/// Threads:   the pml's.
/// Ownership: requests stay their callers'.
/// Ordering:  a line keeps the order of posting. While there is one, later sends of its context go to its
///            end.
/// Errors:    none.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "core/chain.hpp"
#include "core/ids.hpp"
#include "frameworks/pml/request.hpp"

namespace starling::pml {

class HeldBack {
 public:
  struct Line {
    ContextId context;                                         ///< as the receiver calls it
    Chain<Request, &Request::next, &Request::previous> sends;  ///< never empty between two calls
    std::uint32_t allowance = 0;  ///< announcements that the receiver has asked for beyond the limit
    bool told = false;            ///< the receiver knows that there is more
  };

  [[nodiscard]] bool empty() const noexcept { return lines_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }
  /// Index is below size().
  [[nodiscard]] Line& at(std::size_t index) noexcept { return lines_[index]; }
  [[nodiscard]] Line* find(ContextId context) noexcept {
    const auto at =
        std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) { return line.context == context; });
    return at == lines_.end() ? nullptr : &*at;
  }
  [[nodiscard]] Line* find(const Context& context) noexcept {
    const auto at = std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) {
      return !line.sends.empty() && line.sends.front()->context == &context;
    });
    return at == lines_.end() ? nullptr : &*at;
  }
  /// False: no memory.
  [[nodiscard]] bool add(ContextId context, Request& request) noexcept {
    Line* line = find(context);
    if (line == nullptr) {
      try {
        line = &lines_.emplace_back(Line{context, {}});
      } catch (const std::bad_alloc&) {
        return false;
      }
    }
    line->sends.push_back(request);
    return true;
  }
  /// Takes a send out of its line, and removes the line if it is empty then.
  void remove(ContextId context, Request& request) noexcept {
    Line* const line = find(context);
    line->sends.remove(request);
    if (line->sends.empty()) lines_.erase(lines_.begin() + (line - lines_.data()));
  }
  void erase_empty() noexcept {
    std::erase_if(lines_, [](const Line& line) { return line.sends.empty(); });
  }
  /// Calls visit(Line&) for each.
  template <class Visit>
  void each(Visit visit) {
    for (Line& line : lines_) visit(line);
  }

 private:
  std::vector<Line> lines_;
};

}  // namespace starling::pml
