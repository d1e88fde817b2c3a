// SPDX-License-Identifier: BSD-3-Clause
// The two kinds of member lists. Hard part: the reverse look-up of an array is built by whichever thread asks
// first, since most groups are only passed on to MPI_Comm_create and never searched.
#include "mpi/group/group.hpp"

#include <bit>
#include <mutex>

#include "core/expects.hpp"
#include "mpi/session/session.hpp"

namespace starling::mpi {
namespace {

class StridedList final : public ProcList {
 public:
  explicit StridedList(Strided form) : form_(form) {}

  [[nodiscard]] std::uint32_t size() const noexcept override { return form_.count; }
  [[nodiscard]] ProcId at(std::uint32_t index) const noexcept override {
    return {form_.first.world,
            static_cast<std::uint32_t>(form_.first.rank + std::int64_t{index} * form_.stride)};
  }
  [[nodiscard]] std::optional<std::uint32_t> find(ProcId proc) const noexcept override {
    if (proc.world != form_.first.world) return std::nullopt;
    const std::int64_t distance = std::int64_t{proc.rank} - std::int64_t{form_.first.rank};
    if (distance % form_.stride != 0) return std::nullopt;
    const std::int64_t index = distance / form_.stride;
    if (index < 0 || index >= std::int64_t{form_.count}) return std::nullopt;
    return static_cast<std::uint32_t>(index);
  }
  [[nodiscard]] bool consecutive() const noexcept override { return form_.stride == 1 || form_.count == 1; }
  [[nodiscard]] const Strided& form() const noexcept { return form_; }

 private:
  Strided form_;
};

class ArrayList final : public ProcList {
 public:
  explicit ArrayList(std::vector<ProcId> procs) : procs_(std::move(procs)) {}

  [[nodiscard]] std::uint32_t size() const noexcept override {
    return static_cast<std::uint32_t>(procs_.size());
  }
  [[nodiscard]] ProcId at(std::uint32_t index) const noexcept override { return procs_[index]; }
  [[nodiscard]] std::optional<std::uint32_t> find(ProcId proc) const noexcept override {
    if (procs_.size() <= kScan) {
      for (std::uint32_t i = 0; i < procs_.size(); ++i) {
        if (procs_[i] == proc) return i;
      }
      return std::nullopt;
    }
    std::call_once(built_, [this] { build(); });
    for (std::size_t slot = slot_of(proc);; slot = (slot + 1) & mask_) {
      const std::uint32_t index = slots_[slot];
      if (index == kFree) return std::nullopt;
      if (procs_[index] == proc) return index;
    }
  }
  [[nodiscard]] bool consecutive() const noexcept override { return false; }

 private:
  /// Up to this many members are searched one after the other.
  static constexpr std::size_t kScan = 16;
  static constexpr std::uint32_t kFree = 0xffffffffu;

  [[nodiscard]] std::size_t slot_of(ProcId proc) const noexcept {
    const std::uint64_t key = (std::uint64_t{proc.world} << 32) | proc.rank;
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 32) & mask_;
  }

  void build() const {
    mask_ = std::bit_ceil(procs_.size() * 2) - 1;
    slots_.assign(mask_ + 1, kFree);
    for (std::uint32_t i = 0; i < procs_.size(); ++i) {
      std::size_t slot = slot_of(procs_[i]);
      while (slots_[slot] != kFree) slot = (slot + 1) & mask_;
      slots_[slot] = i;
    }
  }

  std::vector<ProcId> procs_;
  // Written once under built_, read by those who passed it.
  mutable std::once_flag built_;
  mutable std::vector<std::uint32_t> slots_;
  mutable std::size_t mask_ = 0;
};

}  // namespace

Group::Group(ProcListPtr members) : members_(std::move(members)) {}
Group::Group(ProcListPtr members, const Ref<Session>& session)
    : members_(std::move(members)), session_(session) {}
Group::~Group() = default;

const ProcListPtr& empty_list() {
  static const ProcListPtr* const empty = new ProcListPtr(std::make_shared<StridedList>(Strided{}));
  return *empty;
}

ProcListPtr make_strided(ProcId first, std::int64_t stride, std::uint32_t count) {
  if (count == 0) return empty_list();
  if (count == 1) stride = 1;
  expects(stride != 0, "a group of several processes has a stride other than 0");
  const std::int64_t last = first.rank + std::int64_t{count - 1} * stride;
  expects(last >= 0 && last <= std::int64_t{0xffffffff}, "a strided group stays inside its world");
  return std::make_shared<StridedList>(Strided{first, stride, count});
}

ProcListPtr make_list(std::vector<ProcId> procs) {
  if (procs.empty()) return empty_list();
  if (procs.size() == 1) return make_strided(procs[0], 1, 1);
  const std::int64_t stride = std::int64_t{procs[1].rank} - std::int64_t{procs[0].rank};
  bool strided = stride != 0;
  for (std::size_t i = 1; strided && i < procs.size(); ++i) {
    strided = procs[i].world == procs[0].world &&
              std::int64_t{procs[i].rank} - std::int64_t{procs[i - 1].rank} == stride;
  }
  if (strided) return make_strided(procs[0], stride, static_cast<std::uint32_t>(procs.size()));
  return std::make_shared<ArrayList>(std::move(procs));
}

std::optional<Strided> strided_form(const ProcList& list) noexcept {
  const auto* const strided = dynamic_cast<const StridedList*>(&list);
  if (strided == nullptr) return std::nullopt;
  return strided->form();
}

Group* predefined_group(HandleBits handle) noexcept {
  constexpr HandleBits kEmpty = 0x109;
  static Group* const empty = [] {
    auto* group = new Group(empty_list());
    group->set_handle(kEmpty);
    return group;
  }();
  return handle == kEmpty ? empty : nullptr;
}

}  // namespace starling::mpi
