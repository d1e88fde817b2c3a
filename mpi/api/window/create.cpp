// SPDX-License-Identifier: BSD-3-Clause
// Windows: making them, freeing them, what they are. Layer: mpi. MPI 5.0 section 12.2.

#include "mpi/onesided/create.hpp"

#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/error.hpp"
#include "mpi/group/group.hpp"
#include "mpi/onesided/regions.hpp"

namespace starling::mpi::api {
namespace {

int allocate(Comm& comm, const WinRequest& request, void* baseptr, MPI_Win* win) {
  *win = MPI_WIN_NULL;
  const MadeWin made = make_window(comm, request);
  if (made.win == nullptr) return made.error_class;
  *static_cast<void**>(baseptr) = made.win->own().base;
  *win = as_handle<MPI_Win>(made.win->handle());
  return MPI_SUCCESS;
}

/// The lowest rank of this process's domain whose part has a size, whether or not it can be mapped; else the
/// window's size.
std::uint32_t first_with_memory(const Win& win) {
  for (const std::uint32_t rank : win.domain().local_peers) {
    if (win.target(rank).size != 0) return rank;
  }
  return win.size();
}

}  // namespace

int Win_allocate(MPI_Aint size, MPI_Count disp_unit, Info* info, Comm& comm, void* baseptr, MPI_Win* win) {
  return allocate(comm, {MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info}, baseptr, win);
}

int Win_allocate_shared(MPI_Aint size, MPI_Count disp_unit, Info* info, Comm& comm, void* baseptr,
                        MPI_Win* win) {
  return allocate(comm, {MPI_WIN_FLAVOR_SHARED, size, disp_unit, info}, baseptr, win);
}

int Win_create(void* base, MPI_Aint size, MPI_Count disp_unit, Info* info, Comm& comm, MPI_Win* win) {
  *win = MPI_WIN_NULL;
  const MadeWin made = make_window(comm, {MPI_WIN_FLAVOR_CREATE, size, disp_unit, info, base});
  if (made.win == nullptr) return made.error_class;
  *win = as_handle<MPI_Win>(made.win->handle());
  return MPI_SUCCESS;
}

int Win_create_dynamic(Info* info, Comm& comm, MPI_Win* win) {
  *win = MPI_WIN_NULL;
  const MadeWin made = make_window(comm, {MPI_WIN_FLAVOR_DYNAMIC, 0, 1, info});
  if (made.win == nullptr) return made.error_class;
  *win = as_handle<MPI_Win>(made.win->handle());
  return MPI_SUCCESS;
}

int Win_attach(Win& win, void* base, MPI_Aint size) { return attach(win, base, size); }
int Win_detach(Win& win, const void* base) { return detach(win, base); }

/// Of MPI_PROC_NULL: first_with_memory(). Of a member whose memory is not mapped, on another node or brought
/// by the program: size 0 and no address, and no error (section 12.2.3). A part of no bytes has an address
/// only where the parts follow each other.
int Win_shared_query(Win& win, int rank, MPI_Aint* size, MPI_Count* disp_unit, void* baseptr) {
  if (win.flavor() == MPI_WIN_FLAVOR_DYNAMIC) {
    return error(MPI_ERR_RMA_FLAVOR,
                 win.label() + ": it is of MPI_Win_create_dynamic, which has no memory of its own");
  }
  std::uint32_t found = 0;
  if (rank == MPI_PROC_NULL) {
    found = first_with_memory(win);
  } else if (rank < 0 || static_cast<std::uint32_t>(rank) >= win.size()) {
    return error(MPI_ERR_RANK, "rank is " + std::to_string(rank) + ", expected 0.." +
                                   std::to_string(win.size() - 1) + " or MPI_PROC_NULL");
  } else {
    found = static_cast<std::uint32_t>(rank);
  }
  const Target none{};
  // What is not mapped has no size here, either.
  const bool mapped = found < win.size() && win.target(found).base != nullptr;
  const Target& target = mapped ? win.target(found) : none;
  *size = static_cast<MPI_Aint>(target.size);
  *disp_unit = target.unit;
  *static_cast<void**>(baseptr) = target.size != 0 || win.contiguous() ? target.base : nullptr;
  return MPI_SUCCESS;
}

int Win_free(MPI_Win* win) {
  bool freed = false;
  const int rc = free_window(*find_win(*win), freed);
  if (freed) *win = MPI_WIN_NULL;
  return rc;
}

int Win_get_group(Win& win, MPI_Group* group) {
  const Group& members = *win.comm().group();
  *group = new_handle<MPI_Group>(tables().group,
                                 Ref<Group>::adopt(new Group(members.members(), members.session())));
  return *group != MPI_GROUP_NULL ? MPI_SUCCESS : too_many("groups");
}

}  // namespace starling::mpi::api
