// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes what arrives for a window: messages of operations, layouts, locks, and the answers to an origin.
// Layer: tests.
//
// The first byte says which window (one over 96 bytes, or a dynamic one) and whether the head is given the
// right window and rank, without which nothing gets past it; the second how many bytes the first of two
// messages has.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "mpi/onesided/operations.hpp"
#include "tests/unit/mpi/onesided/lone_window.hpp"

namespace {

using namespace starling;
using mpi::message::Head;

void receive(test::LoneWindow& window, bool known, std::span<const std::byte> bytes) {
  Head head;
  if (bytes.size() < sizeof head) return;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (known) head.window = window.id();
  if (known) head.rank = 0;
  window.receive(head, bytes.subspan(sizeof head));
}

/// Something for which answers can come: the window's first bytes, to memory of the length of `to`.
void ask(test::LoneWindow& window, std::vector<std::byte>& to) {
  const mpi::Hold lock{mpi::registry().lock, mpi::Hold::always};
  const mpi::Datatype& byte = *mpi::predefined_datatype(reinterpret_cast<mpi::HandleBits>(MPI_BYTE));
  const mpi::Located found{&window.win().own(), 0, 0};
  mpi::message::get(window.win(), {to.data(), to.size(), byte}, {0, 0, to.size(), byte}, found);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static auto* const windows =
      new test::LoneWindow[2]{test::LoneWindow(96), test::LoneWindow(96, true)};  // to the end of the process
  if (size < 2) return 0;
  test::LoneWindow& window = windows[data[0] & 1];
  const bool known = (data[0] & 2) == 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(2);
  const std::size_t cut = std::min<std::size_t>(data[1] * std::size_t{4}, bytes.size());
  std::vector<std::byte> got(32);
  if ((data[0] & 4) != 0) ask(window, got);
  receive(window, known, bytes.first(cut));
  receive(window, known, bytes.subspan(cut));
  (void)window.error();
  window.renew();  // its operations end, too
  return 0;
}
