// SPDX-License-Identifier: BSD-3-Clause
// Operations as messages. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/operations.hpp"

#include <cstring>
#include <memory>
#include <utility>

#include "mpi/error.hpp"
#include "mpi/error_class.hpp"
#include "mpi/onesided/part.hpp"
#include "mpi/onesided/rows.hpp"
#include "mpi/request/request.hpp"

namespace starling::mpi::message {
namespace {

Ref<Datatype> share(const Datatype& type) { return Ref<Datatype>::share(const_cast<Datatype*>(&type)); }

Kept keep(const Data& data) { return {data.base, data.count, share(data.type)}; }

std::unique_ptr<Operation> made(What what, const Spot& place, const Located& found, bool row) {
  auto operation = std::make_unique<Operation>();
  operation->head.what = what;
  operation->head.offset = found.offset;
  if (!row) {
    operation->head.count = place.count;
    operation->there = share(place.type);
  }
  return operation;
}

/// An operation behind a request.
class Moving final : public mpi::Operation {
 public:
  Moving(Win& win, Channel& channel) noexcept
      : win_(Ref<Win>::share(&win)), channel_(channel), number_(channel.number()) {}
  ~Moving() override { Runtime::get()->polling().remove(*this); }

  int start(Request& request) override {
    request_ = &request;
    Runtime::get()->polling().add(*this);
    return MPI_SUCCESS;
  }
  int progress() noexcept override {
    if (!channel_.done_here(number_)) return 0;
    const Native* const native = Part::of(*win_).native();
    if (native != nullptr && !native->done_here(channel_.rank(), number_)) return 0;
    Runtime::get()->polling().remove(*this);
    request_->core.complete.store(true, std::memory_order_release);
    return 1;
  }
  [[nodiscard]] bool one_sided() const noexcept override { return true; }
  int finish(MPI_Status&) override {
    const Native* const native = Part::of(*win_).native();
    if (native != nullptr && native->failed(channel_.rank(), number_))
      return error(fault_class(peer::Fault::peer_lost),
                   win_->label(channel_.rank()) + ": its connection broke");
    if (!channel_.lost()) return MPI_SUCCESS;
    return error(fault_class(peer::Fault::peer_lost),
                 win_->label(channel_.rank()) + ": " + channel_.lost_why());
  }

 private:
  Ref<Win> win_;
  Channel& channel_;
  std::uint64_t number_;
  Request* request_ = nullptr;
};

}  // namespace

void put(Win& win, const Data& origin, const Spot& place, const Located& found) {
  if (origin.type.contiguous() && place.type.contiguous()) {
    Native* const native = Part::of(win).native_for(found.rank, origin.bytes());
    const std::span from(static_cast<const std::byte*>(origin.base), origin.bytes());
    if (native != nullptr &&
        native->put(found.rank, Part::of(win).to(found.rank).next_number(), found.offset, from))
      return;
  }
  auto operation = made(What::put, place, found, place.type.contiguous());
  operation->origin = keep(origin);
  operation->total = origin.bytes();
  Part::of(win).for_operation(found.rank).add(std::move(operation));
}

void get(Win& win, const Data& origin, const Spot& place, const Located& found) {
  const std::uint64_t bytes = place.count * place.type.size();
  if (origin.type.contiguous() && place.type.contiguous()) {
    Native* const native = Part::of(win).native_for(found.rank, bytes);
    const std::span to(static_cast<std::byte*>(origin.base), bytes);
    if (native != nullptr &&
        native->get(found.rank, Part::of(win).to(found.rank).next_number(), found.offset, to))
      return;
  }
  auto operation = made(What::get, place, found, place.type.contiguous());
  operation->result = keep(origin);
  operation->total = bytes;
  operation->gets = true;
  operation->carries = false;
  Part::of(win).for_operation(found.rank).add(std::move(operation));
}

void accumulate(Win& win, const Data& origin, const Data* result, const Spot& place, const Located& found,
                OpCode code, Basic element) {
  const bool carries = code != OpCode::no_op;
  if (!carries && result == nullptr) return;
  auto operation = made(result != nullptr ? What::fetch : What::accumulate, place, found,
                        lies_in_row(place.type, element));
  operation->head.op = static_cast<std::uint8_t>(code);
  operation->head.basic = static_cast<std::uint8_t>(element);
  operation->unit = info_of(element).extent;
  operation->total = place.count * place.type.size() / info_of(element).bytes;
  operation->carries = carries;
  operation->gets = result != nullptr;
  if (carries) operation->origin = keep(origin);
  if (carries && !lies_in_row(origin.type, element))
    operation->row = gather_row(origin, element, operation->total);
  if (result != nullptr) operation->result = keep(*result);
  if (result != nullptr && !lies_in_row(result->type, element))
    operation->back.resize(operation->total * operation->unit);
  Part::of(win).for_operation(found.rank).add(std::move(operation));
}

void compare_and_swap(Win& win, const void* origin, const void* compare, void* result, const Spot& place,
                      const Located& found) {
  auto operation = made(What::swap, place, found, true);
  operation->unit = place.type.size();
  operation->total = 1;
  operation->gets = true;
  operation->row.resize(2 * operation->unit);
  std::memcpy(operation->row.data(), compare, operation->unit);
  std::memcpy(operation->row.data() + operation->unit, origin, operation->unit);
  operation->result = keep({result, 1, place.type});
  Part::of(win).for_operation(found.rank).add(std::move(operation));
}

MPI_Request request_of_last(Win& win, std::uint32_t rank) {
  Channel& channel = Part::of(win).to(rank);
  (void)channel.advance();
  const std::uint64_t number = channel.number();
  const Native* const native = Part::of(win).native();
  const bool moved = native == nullptr || (native->done_here(rank, number) && !native->failed(rank, number));
  if (channel.done_here(number) && moved && !channel.lost())
    return as_handle<MPI_Request>(Request::moved().handle());
  Request* const request = Request::make(Request::Form::operation);
  request->operation = std::make_unique<Moving>(win, channel);
  (void)request->start();
  return as_handle<MPI_Request>(request->handle());
}

}  // namespace starling::mpi::message
