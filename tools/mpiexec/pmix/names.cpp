// SPDX-License-Identifier: BSD-3-Clause
// Names that ranks publish. What is hard: what is not done must be refused, not forgotten. A client that
// waits for a name (PMIX_WAIT) is told that nobody waits here. Layer: tools.

#include "tools/mpiexec/pmix/names.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace starling::mpiexec {
namespace {

struct Published {
  std::string text;
  pmix_proc_t owner;
};

using Names = std::map<std::string, Published, std::less<>>;

Names& names() {
  static Names all;
  return all;
}

/// Directives, such as the range of a name: of one job all ranks are in each of them.
bool is_directive(const pmix_info_t& info) noexcept {
  return std::string_view(info.key).starts_with("pmix.");
}

bool same(const pmix_proc_t& a, const pmix_proc_t& b) noexcept {
  return a.rank == b.rank && std::strncmp(a.nspace, b.nspace, PMIX_MAX_NSLEN) == 0;
}

pmix_status_t publish(const pmix_proc_t* client, const pmix_info_t info[], std::size_t count,
                      pmix_op_cbfunc_t, void*) {
  const std::vector<pmix_info_t> given(info, info + count);
  for (const pmix_info_t& one : given) {  // all or nothing
    if (is_directive(one)) continue;
    if (one.value.type != PMIX_STRING || one.value.data.string == nullptr) return PMIX_ERR_NOT_SUPPORTED;
    if (names().contains(std::string_view(one.key))) return PMIX_ERR_DUPLICATE_KEY;
  }
  for (const pmix_info_t& one : given) {
    if (!is_directive(one)) names()[one.key] = {one.value.data.string, *client};
  }
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t look_up(const pmix_proc_t*, char** keys, const pmix_info_t info[], std::size_t count,
                      pmix_lookup_cbfunc_t done, void* cbdata) {
  std::vector<pmix_pdata_t> found;
  for (; keys != nullptr && *keys != nullptr; ++keys) {
    const auto name = names().find(std::string_view(*keys));
    if (name == names().end()) continue;
    pmix_pdata_t& data = found.emplace_back();
    data.proc = name->second.owner;
    std::copy_n(name->first.data(), std::min(name->first.size(), sizeof data.key - 1), data.key);
    data.value.type = PMIX_STRING;
    data.value.data.string = name->second.text.data();
  }
  if (!found.empty()) {
    done(PMIX_SUCCESS, found.data(), found.size(), cbdata);
    return PMIX_SUCCESS;
  }
  const bool waits = std::any_of(
      info, info + count, [](const pmix_info_t& one) { return std::string_view(one.key) == PMIX_WAIT; });
  return waits ? PMIX_ERR_NOT_SUPPORTED : PMIX_ERR_NOT_FOUND;
}

/// Without keys: all that this client has published.
pmix_status_t unpublish(const pmix_proc_t* client, char** keys, const pmix_info_t[], std::size_t,
                        pmix_op_cbfunc_t, void*) {
  if (keys == nullptr) {
    std::erase_if(names(), [&](const auto& name) { return same(name.second.owner, *client); });
    return PMIX_OPERATION_SUCCEEDED;
  }
  for (; *keys != nullptr; ++keys) {
    const auto name = names().find(std::string_view(*keys));
    if (name == names().end()) return PMIX_ERR_NOT_FOUND;
    if (!same(name->second.owner, *client)) return PMIX_ERR_NO_PERMISSIONS;
    names().erase(name);
  }
  return PMIX_OPERATION_SUCCEEDED;
}

}  // namespace

void serve_names(pmix_server_module_t& module) noexcept {
  module.publish = &publish;
  module.lookup = &look_up;
  module.unpublish = &unpublish;
}

}  // namespace starling::mpiexec
