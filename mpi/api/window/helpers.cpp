// SPDX-License-Identifier: BSD-3-Clause
// Attributes and hints of windows. Layer: mpi. MPI 5.0 sections 7.7.3, 12.2.6, 12.2.7.

#include <string>
#include <utility>

#include "mpi/api.gen.hpp"
#include "mpi/attribute/by_keyval.hpp"
#include "mpi/error.hpp"
#include "mpi/info/info.hpp"
#include "mpi/onesided/hints.hpp"
#include "mpi/onesided/window.hpp"

namespace starling::mpi::api {
namespace {

bool is_predefined(int keyval) noexcept { return keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL; }

int read_only(int keyval) {
  return error(MPI_ERR_KEYVAL,
               "win_keyval is " + std::to_string(keyval) + ", a predefined one, which cannot be changed");
}

/// The base's value is itself an address; of the others C gets the address of the value.
void* predefined(Win::Constants& values, int keyval) noexcept {
  switch (keyval) {
    case MPI_WIN_BASE: return values.base;
    case MPI_WIN_SIZE: return &values.size;
    case MPI_WIN_DISP_UNIT: return &values.unit;
    case MPI_WIN_CREATE_FLAVOR: return &values.flavor;
    default: return &values.model;
  }
}

}  // namespace

int Win_set_attr(Win& win, int win_keyval, void* attribute_val) {
  if (is_predefined(win_keyval)) return read_only(win_keyval);
  return set_attribute(win, win_keyval, attribute_val, Kind::win);
}

int Win_get_attr(Win& win, int win_keyval, void* attribute_val, int* flag) {
  if (!is_predefined(win_keyval)) return get_attribute(win, win_keyval, attribute_val, flag, Kind::win);
  *flag = 1;
  *static_cast<void**>(attribute_val) = predefined(win.constants, win_keyval);
  return MPI_SUCCESS;
}

int Win_delete_attr(Win& win, int win_keyval) {
  if (is_predefined(win_keyval)) return read_only(win_keyval);
  return erase_attribute(win, win_keyval, Kind::win);
}

/// Hints replace the window's of the same key; null leaves them.
int Win_set_info(Win& win, Info* info) {
  const Ref<Info> given = known_window_hints(info);
  if (!given) return MPI_SUCCESS;
  auto merged = win.info ? win.info->dup() : Ref<Info>::adopt(new Info);
  for (const auto& [key, value] : given->entries()) merged->set(key, value);
  win.info = std::move(merged);
  return MPI_SUCCESS;
}

int Win_get_info(Win& win, MPI_Info* info_used) {
  *info_used = new_handle<MPI_Info>(
      tables().info, Ref<Info>::adopt(new Info(window_hints_in_use(win.info.get(), win.flavor()))));
  return *info_used != MPI_INFO_NULL ? MPI_SUCCESS : too_many("info objects");
}

}  // namespace starling::mpi::api
