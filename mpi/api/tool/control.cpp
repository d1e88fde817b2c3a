// SPDX-License-Identifier: BSD-3-Clause
// Control variables: the parameters of this process. Layer: mpi. MPI 5.0 section 15.3.6.
//
// A handle is the variable's index + 1, and so is the enumeration of a choice, so that neither needs memory.

#include <cstring>

#include "mpi/api.gen.hpp"
#include "mpi/api/tool/tool.hpp"

namespace starling::mpi::api {
namespace {

template <class Handle>
Handle handle_of(int index) noexcept {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(index) + 1);
}
template <class Handle>
int index_of(Handle handle) noexcept {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  return bits == 0 || bits > 0x7fffffffu ? -1 : static_cast<int>(bits - 1);
}

MPI_Datatype type_of(const params::Value& value) noexcept {
  switch (value.decl.type) {
    case params::Type::boolean:
    case params::Type::choice: return MPI_INT;
    case params::Type::integer: return MPI_COUNT;
    default: return MPI_CHAR;
  }
}

/// Number of elements that a read gives: texts with their NUL.
int count_of(const params::Value& value) noexcept {
  return type_of(value) == MPI_CHAR ? static_cast<int>(value.written.size()) + 1 : 1;
}

std::vector<std::string> items_of(const params::Value& value) {
  std::vector<std::string> items;
  std::string_view rest = value.decl.choices.view();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    items.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return items;
}

/// The variable of an enumeration; null if it is none.
const params::Value* choice_of(MPI_T_enum enumtype) {
  const params::Value* const value = tool::variable(index_of(enumtype));
  return value != nullptr && value->decl.type == params::Type::choice ? value : nullptr;
}

}  // namespace

int T_cvar_get_num(int* num_cvar) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (num_cvar == nullptr) return MPI_T_ERR_INVALID;
  tool::refresh();
  *num_cvar = static_cast<int>(tool::state().names.size());
  return MPI_SUCCESS;
}

int T_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
                    MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  const params::Value* const value = tool::variable(cvar_index);
  if (value == nullptr) return MPI_T_ERR_INVALID_INDEX;
  tool::give_text(value->decl.name.view(), name, name_len);
  tool::give_text(value->decl.help.view(), desc, desc_len);
  if (verbosity != nullptr) *verbosity = MPI_T_VERBOSITY_USER_BASIC;
  if (datatype != nullptr) *datatype = type_of(*value);
  if (enumtype != nullptr) {
    *enumtype =
        value->decl.type == params::Type::choice ? handle_of<MPI_T_enum>(cvar_index) : MPI_T_ENUM_NULL;
  }
  if (bind != nullptr) *bind = MPI_T_BIND_NO_OBJECT;
  if (scope != nullptr) *scope = MPI_T_SCOPE_READONLY;
  return MPI_SUCCESS;
}

int T_cvar_get_index(const char* name, int* cvar_index) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (name == nullptr || cvar_index == nullptr) return MPI_T_ERR_INVALID;
  const std::vector<std::string>& names = tool::state().names;
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (names[index] != name) continue;
    *cvar_index = static_cast<int>(index);
    return MPI_SUCCESS;
  }
  return MPI_T_ERR_INVALID_NAME;
}

int T_cvar_handle_alloc(int cvar_index, void*, MPI_T_cvar_handle* handle, int* count) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  const params::Value* const value = tool::variable(cvar_index);
  if (value == nullptr) return MPI_T_ERR_INVALID_INDEX;
  if (handle == nullptr || count == nullptr) return MPI_T_ERR_INVALID;
  *handle = handle_of<MPI_T_cvar_handle>(cvar_index);
  *count = count_of(*value);
  return MPI_SUCCESS;
}

int T_cvar_handle_free(MPI_T_cvar_handle* handle) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (handle == nullptr || tool::variable(index_of(*handle)) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int T_cvar_read(MPI_T_cvar_handle handle, void* buf) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  const params::Value* const value = tool::variable(index_of(handle));
  if (value == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (buf == nullptr) return MPI_T_ERR_INVALID;
  if (type_of(*value) == MPI_CHAR) {
    std::memcpy(buf, value->written.c_str(), value->written.size() + 1);
  } else if (type_of(*value) == MPI_COUNT) {
    const MPI_Count number = value->number;
    std::memcpy(buf, &number, sizeof number);
  } else {
    const int number = static_cast<int>(value->number);
    std::memcpy(buf, &number, sizeof number);
  }
  return MPI_SUCCESS;
}

int T_cvar_write(MPI_T_cvar_handle handle, const void*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return tool::variable(index_of(handle)) == nullptr ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_CVAR_SET_NEVER;
}

int T_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  const params::Value* const value = choice_of(enumtype);
  if (value == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (num != nullptr) *num = static_cast<int>(items_of(*value).size());
  tool::give_text(value->decl.name.view(), name, name_len);
  return MPI_SUCCESS;
}

int T_enum_get_item(MPI_T_enum enumtype, int indx, int* item_value, char* name, int* name_len) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  const params::Value* const value = choice_of(enumtype);
  if (value == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  const std::vector<std::string> items = items_of(*value);
  if (indx < 0 || static_cast<std::size_t>(indx) >= items.size()) return MPI_T_ERR_INVALID_ITEM;
  if (item_value != nullptr) *item_value = indx;
  tool::give_text(items[static_cast<std::size_t>(indx)], name, name_len);
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
