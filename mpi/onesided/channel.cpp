// SPDX-License-Identifier: BSD-3-Clause
// Operations become messages. What is hard: everything for a target goes in the order of the calls, also what
// had to wait, so whatever is new goes behind what waits. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/channel.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/error.hpp"
#include "mpi/error_class.hpp"
#include "mpi/onesided/layout_code.hpp"
#include "mpi/onesided/port.hpp"
#include "mpi/onesided/rows.hpp"
#include "mpi/onesided/window.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi::message {
namespace {

/// Shorter pieces of a long operation are not worth a record of their own.
constexpr std::size_t kLeastPiece = 128;

std::span<const std::byte> span_of(const Record& record) noexcept { return bytes_of(record); }

}  // namespace

Channel::Channel(Win& win, std::uint32_t rank)
    : win_(win), rank_(rank), proc_(win.comm().group()->at(rank)) {}

Channel::~Channel() { Port::get().forget(*this); }

/// Once there is a connection, it does not change any more.
std::size_t Channel::longest() {
  if (!longest_known_) longest_ = longest_message(proc_, longest_known_);
  return longest_;
}

/// Bytes that the open message still takes.
std::size_t Channel::room() {
  // A lock may come in front.
  const std::size_t most = longest() - sizeof(Record);
  const std::size_t used = open_.empty() ? sizeof(Head) : open_.size();
  return most > used ? most - used : 0;
}

void Channel::write(const Record& record, std::span<const std::byte> payload, std::uint64_t comes_back) {
  if (open_.empty()) {
    open_.resize(sizeof(Head));
    open_cost_ = sizeof(Head);
    Port::get().activate(*this);
  }
  const auto head = span_of(record);
  open_.insert(open_.end(), head.begin(), head.end());
  open_.insert(open_.end(), payload.begin(), payload.end());
  open_cost_ += sizeof record + payload.size() + comes_back;
}

void Channel::write_lock() {
  if (lock_ != Lock::wanted) return;
  lock_ = Lock::asked;
  Record record;
  record.what = What::lock;
  record.op = exclusive_ ? 1 : 0;
  record.flags = first_ ? kFirst : 0;
  write(record, {}, 0);
  lock_at_ = sent_ + open_cost_;
}

void Channel::take_lock() {
  if (lost_) return;
  write_lock();
  ask();
}

void Channel::send(std::uint16_t flags) {
  if (open_.empty()) {
    open_.resize(sizeof(Head));
    open_cost_ = sizeof(Head);
  }
  const Head head{win_.comm().id().bits, win_.rank(), flags, 0, open_cost_};
  std::memcpy(open_.data(), &head, sizeof head);
  sent_ += open_cost_;
  if ((flags & kAnswer) != 0) asked_ = sent_;
  const auto given = Port::get().send(proc_, open_);
  open_.clear();
  open_cost_ = 0;
  if (given || lost_) return;
  // Somebody may be writing an operation: drop() follows when it is through.
  lost_ = true;
  lost_why_ = given.error().text();
  note_loss();
}

/// The number of the target's layout; its bytes are sent in front of the operation if they are new.
std::uint32_t Channel::number_of(Operation& operation) {
  if (!operation.there) return 0;
  const ShapePtr& shape = operation.there->shape();
  const auto known = std::find(layouts_.begin(), layouts_.end(), shape);
  if (known != layouts_.end()) return static_cast<std::uint32_t>(known - layouts_.begin()) + 1;
  if (layouts_.size() < kLayouts) {
    layouts_.push_back(shape);
    next_layout_ = static_cast<std::uint32_t>(layouts_.size() - 1);
  } else {
    next_layout_ = (next_layout_ + 1) % kLayouts;
    layouts_[next_layout_] = shape;
  }
  operation.layout = encode(*operation.there);
  return next_layout_ + 1;
}

void Channel::begin(Operation& operation) {
  operation.begun = true;
  write_lock();
  operation.head.layout = number_of(operation);
  if (operation.gets) operation.head.token = ++last_token_;
}

/// False: there is no room for more now.
bool Channel::write_layout(Operation& operation) {
  while (operation.layout_sent < operation.layout.size()) {
    if (!has_credit()) return false;
    if (room() < sizeof(Record) + kLeastPiece) send(0);
    const std::size_t bytes =
        std::min<std::size_t>(room() - sizeof(Record), operation.layout.size() - operation.layout_sent);
    Record record;
    record.what = What::layout;
    record.layout = operation.head.layout;
    record.count = operation.layout.size();
    record.first = operation.layout_sent;
    record.bytes = static_cast<std::uint32_t>(bytes);
    write(record, std::span(operation.layout).subspan(operation.layout_sent, bytes), 0);
    operation.layout_sent += bytes;
  }
  return true;
}

/// One record of the operation. False: there is no room now.
bool Channel::write_some(Operation& operation) {
  if (!has_credit()) return false;
  const std::uint64_t left = operation.total - operation.sent;
  const std::uint64_t unit = operation.unit;
  const bool swap = operation.head.what == What::swap;
  const std::uint64_t whole = (swap ? 2 : left) * unit;
  const std::size_t wanted = std::min<std::uint64_t>(whole, std::max<std::uint64_t>(kLeastPiece, unit));
  if (room() < sizeof(Record) + (operation.carries ? wanted : 0)) send(0);
  const std::uint64_t most = longest() - sizeof(Head) - sizeof(Record);
  const std::uint64_t fits = (operation.carries ? room() - sizeof(Record) : most) / unit;
  const std::uint64_t now = swap ? 1 : std::min(left, fits);
  Record record = operation.head;
  record.first = operation.sent;
  record.count2 = operation.gets ? now : 0;
  std::vector<std::byte> packed;
  std::span<const std::byte> payload;
  if (operation.carries && (!operation.row.empty() || unit != 1 || swap)) {
    const auto* const row =
        operation.row.empty() ? static_cast<const std::byte*>(operation.origin.base) : operation.row.data();
    payload = std::span(row + operation.sent * unit, (swap ? 2 : now) * unit);
  } else if (operation.carries) {
    packed.resize(now);
    operation.origin.type->pack(operation.origin.base, operation.origin.count, operation.sent, packed.data(),
                                now);
    payload = packed;
  }
  record.bytes = static_cast<std::uint32_t>(payload.size());
  write(record, payload, operation.gets ? sizeof(Record) + now * unit : 0);
  operation.sent += now;
  return true;
}

void Channel::add(std::unique_ptr<Operation> operation) {
  if (lost_) {
    note_loss();
    return end(std::move(operation));
  }
  // Long ones begin to move at once.
  const bool now = operation->total * operation->unit >= kWindowBytes / 8;
  operation->number = ++last_number_;
  queue_.push_back(std::move(operation));
  Port::get().activate(*this);
  write_queue();
  if (now) (void)advance();
}

/// Writes what waits into messages, as far as the window allows.
void Channel::write_queue() {
  while (!queue_.empty() && !lost_ && write_first()) {
  }
  if (lost_) drop();
}

/// False: it has to wait for room.
bool Channel::write_first() {
  Operation& next = *queue_.front();
  if (!next.begun) begin(next);
  bool more = write_layout(next);
  while (more && !lost_ && !next.all_sent()) more = write_some(next);
  if (lost_ || !next.all_sent()) return false;
  std::unique_ptr<Operation> sent = std::move(queue_.front());
  queue_.pop_front();
  if (sent->complete()) {
    end(std::move(sent));
  } else {
    const std::uint64_t token = sent->head.token;
    getting_.emplace(token, std::move(sent));
  }
  return true;
}

int Channel::advance() {
  const std::uint64_t before = sent_;
  write_queue();
  if (!open_.empty()) send(0);
  if (lost_) drop();
  return sent_ != before ? 1 : 0;
}

void Channel::ask() {
  write_queue();
  if (lost_ || !queue_.empty() || (open_.empty() && asked_ == sent_)) return;
  send(kAnswer);
  if (lost_) drop();
}

void Channel::end(std::unique_ptr<Operation> operation) {
  if (!operation->gets || operation->back.empty() || !operation->complete()) return;
  const Kept& result = operation->result;
  scatter_row(operation->back, {result.base, result.count, *result.type},
              static_cast<Basic>(operation->head.basic));
}

void Channel::notice(What what) {
  if (lost_) return;
  auto operation = std::make_unique<Operation>();
  operation->head.what = what;
  operation->carries = false;
  operation->total = 1;
  add(std::move(operation));
}

void Channel::drop_lock() {
  const Lock was = std::exchange(lock_, Lock::none);
  if (was == Lock::asked) notice(What::unlock);
}

void Channel::on_done(std::uint64_t upto) noexcept {
  if (upto > acked_ && upto <= sent_) acked_ = upto;
}

void Channel::on_data(const Record& record, std::span<const std::byte> payload) {
  const auto found = getting_.find(record.token);
  Operation* operation = found != getting_.end() ? found->second.get() : nullptr;
  if (operation == nullptr && !queue_.empty() && queue_.front()->head.token == record.token)
    operation = queue_.front().get();
  if (operation == nullptr) return;
  const std::uint64_t unit = operation->unit, count = payload.size() / unit;
  if (record.first > operation->sent || count > operation->sent - record.first) return;
  if (!operation->back.empty()) {
    std::memcpy(operation->back.data() + record.first * unit, payload.data(), count * unit);
  } else if (unit != 1) {
    std::memcpy(static_cast<std::byte*>(operation->result.base) + record.first * unit, payload.data(),
                count * unit);
  } else {
    operation->result.type->unpack(operation->result.base, operation->result.count, record.first,
                                   payload.data(), count);
  }
  operation->received += count;
  if (found == getting_.end() || !operation->complete()) return;
  std::unique_ptr<Operation> got = std::move(found->second);
  getting_.erase(found);
  end(std::move(got));
}

void Channel::on_failed(const Record& record, std::span<const std::byte> payload) {
  if (error_class_ == 0) {
    const bool known = record.count > MPI_SUCCESS && record.count <= MPI_ERR_LASTCODE;
    error_class_ = known ? static_cast<int>(record.count) : MPI_ERR_INTERN;
    error_.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
  }
  if (record.token == 0) return;
  const auto found = getting_.find(record.token);
  if (found == getting_.end()) return;
  std::unique_ptr<Operation> failed = std::move(found->second);
  getting_.erase(found);
  end(std::move(failed));
}

void Channel::lose(std::string why) {
  if (lost_) return;
  const bool needed = !idle() || acked_ != sent_ || lock_ == Lock::asked;
  lost_ = true;
  lost_why_ = std::move(why);
  if (needed) note_loss();
  drop();
}

/// Nothing of it will be done any more.
void Channel::drop() {
  open_.clear();
  queue_.clear();
  getting_.clear();
}

void Channel::note_loss() {
  if (error_class_ != 0) return;
  error_class_ = fault_class(peer::Fault::peer_lost);
  error_ = win_.label(rank_) + ": operations cannot be completed: " + lost_why_;
}

int Channel::take_error() {
  if (error_class_ == 0) return MPI_SUCCESS;
  return error(std::exchange(error_class_, 0), std::exchange(error_, {}));
}

std::string Channel::describe() const {
  return win_.label(rank_) + ": " + std::to_string(queue_.size() + getting_.size()) + " operations and " +
         std::to_string(sent_ - acked_) + " bytes are under way" +
         (lock_ == Lock::asked ? exclusive_ ? ", with an exclusive lock" : ", with a shared lock" : "");
}

}  // namespace starling::mpi::message
