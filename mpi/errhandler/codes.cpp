// SPDX-License-Identifier: BSD-3-Clause
// Error classes and their texts; classes, codes and texts of users. Layer: mpi. MPI 5.0 sections 9.4, 9.5.

#include "mpi/errhandler/codes.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "mpi.h"
#include "mpi/errhandler/error_texts.hpp"
#include "mpi/error.hpp"

namespace starling::mpi {
namespace {

struct Code {
  int error_class = 0;
  std::optional<std::string> text;
};

/// What users added. Numbers grow and are not used again, so that a stale code is recognised.
struct Added {
  std::mutex mutex;
  std::map<int, Code> codes;
  int last = MPI_ERR_LASTCODE;
};
Added& added() {
  static Added* const instance = new Added;  // used to the end of the process
  return *instance;
}

const ErrorText* predefined(int code) noexcept {
  const auto found = std::find_if(std::begin(kErrorTexts), std::end(kErrorTexts),
                                  [code](const ErrorText& entry) { return entry.code == code; });
  return found == std::end(kErrorTexts) ? nullptr : found;
}

int not_added(int code, const char* what) {
  return error(MPI_ERR_ARG, std::string(what) + " is " + std::to_string(code) +
                                ", expected one that the application added");
}

}  // namespace

std::string_view error_name(int error_class) noexcept {
  const ErrorText* const entry = predefined(error_class);
  return entry == nullptr ? std::string_view() : entry->name;
}

std::string error_text(int code) {
  if (const ErrorText* const entry = predefined(code); entry != nullptr) {
    return std::string(entry->name) + ": " + std::string(entry->text);
  }
  Added& user = added();
  const std::scoped_lock lock(user.mutex);
  const auto found = user.codes.find(code);
  // MPI 5.0 section 9.5: a class or code without a text has the empty text.
  if (found != user.codes.end()) return found->second.text.value_or("");
  return "unknown error code " + std::to_string(code);
}

bool error_known(int code) noexcept {
  if (predefined(code) != nullptr) return true;
  Added& user = added();
  const std::scoped_lock lock(user.mutex);
  return user.codes.count(code) != 0;
}

int error_class_of(int code) noexcept {
  if (predefined(code) != nullptr) return code;
  Added& user = added();
  const std::scoped_lock lock(user.mutex);
  const auto found = user.codes.find(code);
  return found == user.codes.end() ? MPI_ERR_UNKNOWN : found->second.error_class;
}

int add_error_class() {
  Added& user = added();
  const std::scoped_lock lock(user.mutex);
  const int code = ++user.last;
  user.codes[code].error_class = code;
  return code;
}

int add_error_code(int error_class) {
  Added& user = added();
  const std::scoped_lock lock(user.mutex);
  const int code = ++user.last;
  user.codes[code].error_class = error_class;
  return code;
}

bool set_error_text(int code, std::string text) {
  Added& user = added();
  const std::scoped_lock lock(user.mutex);
  const auto found = user.codes.find(code);
  if (found == user.codes.end()) return false;
  found->second.text = std::move(text);
  return true;
}

int remove_error_class(int error_class) {
  Added& user = added();
  const std::scoped_lock lock(user.mutex);
  const auto found = user.codes.find(error_class);
  if (found == user.codes.end() || found->second.error_class != error_class)
    return not_added(error_class, "errorclass");
  const auto in_use = std::count_if(user.codes.begin(), user.codes.end(),
                                    [&](const auto& item) { return item.second.error_class == error_class; });
  if (in_use > 1 || found->second.text) {
    return error(MPI_ERR_OTHER, "errorclass " + std::to_string(error_class) +
                                    " still has codes or a text: remove them first");
  }
  user.codes.erase(found);
  return MPI_SUCCESS;
}

int remove_error_code(int code) {
  Added& user = added();
  const std::scoped_lock lock(user.mutex);
  const auto found = user.codes.find(code);
  if (found == user.codes.end() || found->second.error_class == code) return not_added(code, "errorcode");
  if (found->second.text) {
    return error(MPI_ERR_OTHER, "errorcode " + std::to_string(code) + " still has a text: remove it first");
  }
  user.codes.erase(found);
  return MPI_SUCCESS;
}

int remove_error_text(int code) {
  Added& user = added();
  const std::scoped_lock lock(user.mutex);
  const auto found = user.codes.find(code);
  if (found == user.codes.end() || !found->second.text) return not_added(code, "errorcode");
  found->second.text.reset();
  return MPI_SUCCESS;
}

int last_used_code() noexcept {
  Added& user = added();
  const std::scoped_lock lock(user.mutex);
  return user.last;
}

}  // namespace starling::mpi
