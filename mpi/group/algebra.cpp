// SPDX-License-Identifier: BSD-3-Clause
// Group algebra. Hard part: a job of a million processes must not pay for its size when it asks for every
// second rank of the world, so the range forms work on {first, stride, count}.
#include "mpi/group/algebra.hpp"

#include <string>

namespace starling::mpi {
namespace {

bool same_form(const Strided& a, const Strided& b) {
  return a.first == b.first && a.count == b.count && (a.stride == b.stride || a.count <= 1);
}

/// True if the two lists are known to be equal without looking at the members.
bool surely_equal(const ProcList& a, const ProcList& b) {
  if (&a == &b) return true;
  const auto left = strided_form(a);
  const auto right = strided_form(b);
  return left && right && same_form(*left, *right);
}

/// The members of `list` whose being in `other` is `wanted`.
ProcListPtr filter(const ProcListPtr& list, const ProcList& other, bool wanted) {
  std::vector<ProcId> kept;
  for (std::uint32_t i = 0; i < list->size(); ++i) {
    const ProcId proc = list->at(i);
    if (other.find(proc).has_value() == wanted) kept.push_back(proc);
  }
  if (kept.size() == list->size()) return list;
  return make_list(std::move(kept));
}

Unexpected bad(std::string detail) { return fail(Errc::bad_parameter, "group", std::move(detail)); }

std::string bounds_text(std::uint32_t size) {
  return size == 0 ? std::string("the group is empty") : "expected 0.." + std::to_string(size - 1);
}

Result<void> check_rank(std::int64_t rank, std::uint32_t size, const std::string& what) {
  if (rank >= 0 && rank < std::int64_t{size}) return {};
  return bad(what + " is " + std::to_string(rank) + ", " + bounds_text(size));
}

/// Marks ranks, refusing one that comes twice.
class Marks {
 public:
  explicit Marks(std::uint32_t size) : seen_(size, false) {}
  Result<void> add(std::uint32_t rank) {
    if (seen_[rank]) return bad("rank " + std::to_string(rank) + " is given twice");
    seen_[rank] = true;
    return {};
  }
  [[nodiscard]] bool has(std::uint32_t rank) const { return seen_[rank]; }

 private:
  std::vector<bool> seen_;
};

ProcListPtr without(const ProcListPtr& group, const Marks& marks) {
  std::vector<ProcId> kept;
  for (std::uint32_t i = 0; i < group->size(); ++i) {
    if (!marks.has(i)) kept.push_back(group->at(i));
  }
  return make_list(std::move(kept));
}

/// Ranks of one range as {first, stride, count}; count 0 is not possible.
struct Span {
  std::int64_t first, stride, count;
  [[nodiscard]] std::int64_t last() const { return first + stride * (count - 1); }
};

Result<Span> span_of(const RankRange& range, std::uint32_t size, std::size_t index) {
  const std::string what = "ranges[" + std::to_string(index) + "]";
  if (range.stride == 0) return bad(what + " has stride 0");
  const std::int64_t way = std::int64_t{range.last} - range.first;
  if ((way < 0) != (range.stride < 0) && way != 0) {
    return bad(what + " = {" + std::to_string(range.first) + ", " + std::to_string(range.last) + ", " +
               std::to_string(range.stride) + "} is empty: its stride leads away from its last rank");
  }
  const Span span{range.first, range.stride, way / range.stride + 1};
  if (auto ok = check_rank(span.first, size, "first rank of " + what); !ok)
    return fail(std::move(ok).error());
  if (auto ok = check_rank(span.last(), size, "last rank of " + what); !ok)
    return fail(std::move(ok).error());
  return span;
}

Result<std::vector<Span>> spans_of(std::span<const RankRange> ranges, std::uint32_t size) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    auto span = span_of(ranges[i], size, i);
    if (!span) return fail(std::move(span).error());
    spans.push_back(*span);
  }
  return spans;
}

ProcListPtr strided_part(const Strided& form, const Span& span) {
  const auto rank = static_cast<std::uint32_t>(std::int64_t{form.first.rank} + form.stride * span.first);
  return make_strided({form.first.world, rank}, form.stride * span.stride,
                      static_cast<std::uint32_t>(span.count));
}

Result<Marks> mark_spans(const std::vector<Span>& spans, std::uint32_t size) {
  Marks marks(size);
  for (const Span& span : spans) {
    for (std::int64_t i = 0; i < span.count; ++i) {
      if (auto ok = marks.add(static_cast<std::uint32_t>(span.first + i * span.stride)); !ok) {
        return fail(std::move(ok).error());
      }
    }
  }
  return marks;
}

}  // namespace

Likeness compare(const ProcList& a, const ProcList& b) {
  if (surely_equal(a, b)) return Likeness::identical;
  if (a.size() != b.size()) return Likeness::unequal;
  bool same_order = true;
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    const ProcId proc = a.at(i);
    same_order = same_order && b.at(i) == proc;
    if (!same_order && !b.find(proc)) return Likeness::unequal;
  }
  return same_order ? Likeness::identical : Likeness::similar;
}

bool includes(const ProcList& all, const ProcList& some) {
  if (surely_equal(all, some)) return true;
  std::uint32_t next = 0;
  while (next < some.size() && all.find(some.at(next))) ++next;
  return next == some.size();
}

ProcListPtr union_of(const ProcListPtr& a, const ProcListPtr& b) {
  if (b->size() == 0 || surely_equal(*a, *b)) return a;
  if (a->size() == 0) return b;
  std::vector<ProcId> added;
  for (std::uint32_t i = 0; i < b->size(); ++i) {
    const ProcId proc = b->at(i);
    if (!a->find(proc)) added.push_back(proc);
  }
  if (added.empty()) return a;
  std::vector<ProcId> all;
  all.reserve(a->size() + added.size());
  for (std::uint32_t i = 0; i < a->size(); ++i) all.push_back(a->at(i));
  all.insert(all.end(), added.begin(), added.end());
  return make_list(std::move(all));
}

ProcListPtr intersection_of(const ProcListPtr& a, const ProcListPtr& b) {
  if (a->size() == 0 || b->size() == 0) return empty_list();
  if (surely_equal(*a, *b)) return a;
  return filter(a, *b, true);
}

ProcListPtr difference_of(const ProcListPtr& a, const ProcListPtr& b) {
  if (b->size() == 0) return a;
  if (a->size() == 0 || surely_equal(*a, *b)) return empty_list();
  return filter(a, *b, false);
}

Result<ProcListPtr> include(const ProcListPtr& group, std::span<const int> ranks) {
  Marks marks(group->size());
  std::vector<ProcId> procs;
  procs.reserve(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (auto ok = check_rank(ranks[i], group->size(), "ranks[" + std::to_string(i) + "]"); !ok) {
      return fail(std::move(ok).error());
    }
    const auto rank = static_cast<std::uint32_t>(ranks[i]);
    if (auto ok = marks.add(rank); !ok) return fail(std::move(ok).error());
    procs.push_back(group->at(rank));
  }
  return make_list(std::move(procs));
}

Result<ProcListPtr> exclude(const ProcListPtr& group, std::span<const int> ranks) {
  if (ranks.empty()) return group;
  Marks marks(group->size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (auto ok = check_rank(ranks[i], group->size(), "ranks[" + std::to_string(i) + "]"); !ok) {
      return fail(std::move(ok).error());
    }
    if (auto ok = marks.add(static_cast<std::uint32_t>(ranks[i])); !ok) return fail(std::move(ok).error());
  }
  return without(group, marks);
}

Result<ProcListPtr> include_ranges(const ProcListPtr& group, std::span<const RankRange> ranges) {
  auto spans = spans_of(ranges, group->size());
  if (!spans) return fail(std::move(spans).error());
  const auto form = strided_form(*group);
  if (form && spans->size() == 1) return strided_part(*form, spans->front());
  auto marks = mark_spans(*spans, group->size());
  if (!marks) return fail(std::move(marks).error());
  std::vector<ProcId> procs;
  for (const Span& span : *spans) {
    for (std::int64_t i = 0; i < span.count; ++i) {
      procs.push_back(group->at(static_cast<std::uint32_t>(span.first + i * span.stride)));
    }
  }
  return make_list(std::move(procs));
}

Result<ProcListPtr> exclude_ranges(const ProcListPtr& group, std::span<const RankRange> ranges) {
  if (ranges.empty()) return group;
  auto spans = spans_of(ranges, group->size());
  if (!spans) return fail(std::move(spans).error());
  auto marks = mark_spans(*spans, group->size());
  if (!marks) return fail(std::move(marks).error());
  return without(group, *marks);
}

}  // namespace starling::mpi
