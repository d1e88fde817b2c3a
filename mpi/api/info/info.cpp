// SPDX-License-Identifier: BSD-3-Clause
// MPI_Info_*. Layer: mpi. MPI 5.0 chapter 10. Callable at any time, from any thread.
//
// Keys and values are taken as they are: stripping blanks is for the Fortran bindings.

#include <cstdlib>
#include <cstring>
#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/api/text.hpp"
#include "mpi/error.hpp"
#include "mpi/info/env.hpp"
#include "mpi/info/info.hpp"

namespace starling::mpi::api {
namespace {

/// The key; `code` gets MPI_ERR_INFO_KEY if it is empty or too long.
std::string_view checked_key(const char* key, int* code) {
  const std::string_view text = key;
  *code = MPI_SUCCESS;
  if (text.empty())
    *code = error(MPI_ERR_INFO_KEY,
                  "key is empty, expected 1.." + std::to_string(MPI_MAX_INFO_KEY - 1) + " characters");
  if (text.size() >= MPI_MAX_INFO_KEY) {
    *code =
        error(MPI_ERR_INFO_KEY, "key has " + std::to_string(text.size()) + " characters, expected at most " +
                                    std::to_string(MPI_MAX_INFO_KEY - 1));
  }
  return text;
}

int read_only(const Info& info) {
  if (!info.predefined()) return MPI_SUCCESS;
  return error(MPI_ERR_INFO, "info is MPI_INFO_ENV, which cannot be changed");
}

int give(Ref<Info> made, MPI_Info* out) {
  *out = new_handle<MPI_Info>(tables().info, std::move(made));
  return *out != MPI_INFO_NULL ? MPI_SUCCESS : too_many("info objects");
}

}  // namespace

int Info_create(MPI_Info* info) { return give(Ref<Info>::adopt(new Info), info); }

int Info_create_env(int argc, char* argv[], MPI_Info* info) {
  auto made = Ref<Info>::adopt(new Info);
  describe_environment(*made, argc, argv);
  return give(std::move(made), info);
}

int Info_dup(Info& info, MPI_Info* newinfo) { return give(info.dup(), newinfo); }

int Info_free(MPI_Info* info) {
  Info& object = *find_info(*info);
  if (const int code = read_only(object); code != MPI_SUCCESS) return code;
  tables().info.remove(as_bits(*info));
  object.drop();
  *info = MPI_INFO_NULL;
  return MPI_SUCCESS;
}

int Info_set(Info& info, const char* key, const char* value) {
  if (const int code = read_only(info); code != MPI_SUCCESS) return code;
  int code = MPI_SUCCESS;
  const std::string_view name = checked_key(key, &code);
  if (code != MPI_SUCCESS) return code;
  const std::string_view text = value;
  if (text.size() >= MPI_MAX_INFO_VAL) {
    return error(MPI_ERR_INFO_VALUE, "value has " + std::to_string(text.size()) +
                                         " characters, expected at most " +
                                         std::to_string(MPI_MAX_INFO_VAL - 1));
  }
  info.set(name, text);
  return MPI_SUCCESS;
}

int Info_delete(Info& info, const char* key) {
  if (const int code = read_only(info); code != MPI_SUCCESS) return code;
  int code = MPI_SUCCESS;
  const std::string_view name = checked_key(key, &code);
  if (code != MPI_SUCCESS) return code;
  if (!info.erase(name))
    return error(MPI_ERR_INFO_NOKEY,
                 "key is \"" + std::string(name) + "\", which the info object does not have");
  return MPI_SUCCESS;
}

int Info_get(Info& info, const char* key, int valuelen, char* value, int* flag) {
  int code = MPI_SUCCESS;
  const std::string_view name = checked_key(key, &code);
  if (code != MPI_SUCCESS) return code;
  if (valuelen < 0)
    return error(MPI_ERR_ARG, "valuelen is " + std::to_string(valuelen) + ", expected 0 or more");
  const auto found = info.get(name);
  *flag = found ? 1 : 0;
  if (!found) return MPI_SUCCESS;
  if (value == nullptr) return error(MPI_ERR_ARG, "value is NULL, expected room for valuelen + 1 characters");
  copy_text(*found, value, static_cast<std::size_t>(valuelen) + 1);
  return MPI_SUCCESS;
}

int Info_get_string(Info& info, const char* key, int* buflen, char* value, int* flag) {
  int code = MPI_SUCCESS;
  const std::string_view name = checked_key(key, &code);
  if (code != MPI_SUCCESS) return code;
  if (*buflen < 0) return error(MPI_ERR_ARG, "buflen is " + std::to_string(*buflen) + ", expected 0 or more");
  const auto found = info.get(name);
  *flag = found ? 1 : 0;
  if (!found) return MPI_SUCCESS;
  if (*buflen > 0) {
    if (value == nullptr) return error(MPI_ERR_ARG, "value is NULL, expected room for buflen characters");
    copy_text(*found, value, static_cast<std::size_t>(*buflen));
  }
  *buflen = static_cast<int>(found->size()) + 1;  // with the final NUL
  return MPI_SUCCESS;
}

int Info_get_valuelen(Info& info, const char* key, int* valuelen, int* flag) {
  int code = MPI_SUCCESS;
  const std::string_view name = checked_key(key, &code);
  if (code != MPI_SUCCESS) return code;
  const auto found = info.get(name);
  *flag = found ? 1 : 0;
  if (found) *valuelen = static_cast<int>(found->size());
  return MPI_SUCCESS;
}

int Info_get_nkeys(Info& info, int* nkeys) {
  *nkeys = static_cast<int>(info.size());
  return MPI_SUCCESS;
}

int Info_get_nthkey(Info& info, int n, char* key) {
  const auto found = info.nth(static_cast<std::size_t>(n));
  if (!found) {
    return error(MPI_ERR_ARG,
                 "n is " + std::to_string(n) + ", expected 0.." + std::to_string(info.size()) + " - 1");
  }
  copy_text(*found, key, MPI_MAX_INFO_KEY);
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
