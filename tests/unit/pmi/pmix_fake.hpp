// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A libpmix that finds and records what each test says, and clients of it. Layer: tests.

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugins/pmi/pmix/component.hpp"
#include "plugins/pmi/pmix/values.hpp"

namespace starling::pmi::pmix {

/// What the fake functions find and record. They get no pointer of ours, so there is one of it.
struct Server {
  std::uint32_t rank = 1, size = 4;
  std::string nspace = "1417150465";
  std::map<std::string, pmix_value_t> facts;  ///< what Get answers
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> nodes = {{"a", {0, 1}}, {"b", {2, 3}}};
  std::map<std::string, std::vector<std::byte>> stored;  ///< what the client put
  int inits = 0, finalizes = 0, commits = 0, asked = 0, aborted = -1;
  pmix_status_t init_status = PMIX_SUCCESS, ask_status = PMIX_SUCCESS, fence_status = PMIX_SUCCESS;
  std::deque<std::function<void(pmix_status_t, pmix_value_t*)>> waiting;  ///< gets that were not answered
  std::function<void(pmix_status_t)> fence;
  std::vector<pmix_rank_t> fenced;
  bool collects = false;
  pmix_notification_fn_t on_event = nullptr;
  std::map<std::string, std::string> names;
  std::map<std::string, std::vector<std::uint32_t>> sets;
  bool sets_as_array = false;
  pmix_status_t sets_status = PMIX_SUCCESS;
};
inline Server server;

inline pmix_value_t number(pmix_data_type_t type, std::uint64_t value) {
  pmix_value_t made{};
  made.type = type;
  switch (type) {
    case PMIX_INT: made.data.integer = static_cast<int>(value); break;
    case PMIX_UINT32: made.data.uint32 = static_cast<std::uint32_t>(value); break;
    case PMIX_UINT16: made.data.uint16 = static_cast<std::uint16_t>(value); break;
    default: made.data.rank = static_cast<pmix_rank_t>(value); break;
  }
  return made;
}

inline pmix_status_t fake_init(pmix_proc_t* self, pmix_info_t[], std::size_t) {
  ++server.inits;
  *self = proc_of(server.nspace, server.rank);
  return server.init_status;
}
inline pmix_status_t fake_finalize(const pmix_info_t[], std::size_t) {
  ++server.finalizes;
  server.stored.clear();  // as servers of libpmix 4.2 do
  return PMIX_SUCCESS;
}
inline pmix_status_t fake_abort(int status, const char[], pmix_proc_t[], std::size_t) {
  server.aborted = status;
  return PMIX_ERR_UNREACH;
}
inline pmix_status_t fake_put(pmix_scope_t scope, const char key[], pmix_value_t* value) {
  EXPECT_EQ(scope, PMIX_GLOBAL);
  server.stored[key] = *bytes_of(*value);
  return PMIX_SUCCESS;
}
inline pmix_status_t fake_commit() {
  ++server.commits;
  return PMIX_SUCCESS;
}
inline pmix_status_t fake_get(const pmix_proc_t* proc, const char key[], const pmix_info_t[], std::size_t,
                              pmix_value_t** value) {
  EXPECT_EQ(proc->nspace, server.nspace);
  const auto found = server.facts.find(key);
  if (found == server.facts.end()) return PMIX_ERR_NOT_FOUND;
  *value = static_cast<pmix_value_t*>(std::malloc(sizeof(pmix_value_t)));
  **value = found->second;
  return PMIX_SUCCESS;
}
inline pmix_status_t fake_get_nb(const pmix_proc_t* proc, const char[], const pmix_info_t[],
                                 std::size_t infos, pmix_value_cbfunc_t done, void* cbdata) {
  EXPECT_LT(proc->rank, server.size);  // a rank beyond the job ends it under Slurm
  EXPECT_EQ(infos, 0u);                // flags make servers answer at once, and wrongly
  ++server.asked;
  if (server.ask_status == PMIX_SUCCESS)
    server.waiting.push_back([=](pmix_status_t status, pmix_value_t* value) { done(status, value, cbdata); });
  return server.ask_status;
}
inline pmix_status_t fake_fence_nb(const pmix_proc_t procs[], std::size_t count, const pmix_info_t info[],
                                   std::size_t infos, pmix_op_cbfunc_t done, void* cbdata) {
  for (std::size_t i = 0; i < count; ++i) server.fenced.push_back(procs[i].rank);
  server.collects = infos == 1 && std::strcmp(info[0].key, PMIX_COLLECT_DATA) == 0 && info[0].value.data.flag;
  server.fence = [=](pmix_status_t status) { done(status, cbdata); };
  return server.fence_status;
}
inline pmix_status_t fake_publish(const pmix_info_t info[], std::size_t) {
  if (server.names.count(info[0].key) != 0) return PMIX_ERR_DUPLICATE_KEY;
  server.names[info[0].key] = info[0].value.data.string;
  return PMIX_SUCCESS;
}
inline pmix_status_t fake_lookup(pmix_pdata_t data[], std::size_t, const pmix_info_t[], std::size_t) {
  const auto found = server.names.find(data[0].key);
  if (found == server.names.end()) return PMIX_ERR_NOT_FOUND;
  data[0].value.type = PMIX_STRING;
  data[0].value.data.string = found->second.data();
  return PMIX_SUCCESS;
}
inline pmix_status_t fake_unpublish(char** keys, const pmix_info_t[], std::size_t) {
  return server.names.erase(keys[0]) == 1 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}
inline pmix_status_t fake_resolve_nodes(const pmix_nspace_t, char** list) {
  if (server.nodes.empty()) return PMIX_ERR_NOT_FOUND;
  std::string names;
  for (const auto& [name, ranks] : server.nodes) names += (names.empty() ? "" : ",") + name;
  *list = ::strdup(names.c_str());
  return PMIX_SUCCESS;
}
inline pmix_status_t fake_resolve_peers(const char* node, const pmix_nspace_t, pmix_proc_t** procs,
                                        std::size_t* count) {
  for (const auto& [name, ranks] : server.nodes) {
    if (name != node) continue;
    *count = ranks.size();
    *procs = static_cast<pmix_proc_t*>(std::calloc(ranks.size(), sizeof(pmix_proc_t)));
    for (std::size_t i = 0; i < ranks.size(); ++i) (*procs)[i] = proc_of(server.nspace, ranks[i]);
    return PMIX_SUCCESS;
  }
  return PMIX_ERR_NOT_FOUND;
}
inline pmix_status_t fake_register(pmix_status_t[], std::size_t, pmix_info_t[], std::size_t,
                                   pmix_notification_fn_t on_event, pmix_hdlr_reg_cbfunc_t, void*) {
  server.on_event = on_event;
  return PMIX_SUCCESS;
}
/// The members of a set of another job have a name that begins with '+'.
inline pmix_status_t fake_query(pmix_query_t queries[], std::size_t count, pmix_info_cbfunc_t done,
                                void* cbdata) {
  EXPECT_EQ(count, 1u);
  if (server.sets_status != PMIX_SUCCESS) return server.sets_status;
  pmix_info_t answer{};
  pmix_data_array_t array{};
  std::string list;
  std::vector<char*> texts;
  std::vector<pmix_proc_t> procs;
  if (std::strcmp(queries[0].keys[0], PMIX_QUERY_PSET_NAMES) == 0) {
    for (const auto& set : server.sets) {
      list += (list.empty() ? "" : ",") + set.first;
      texts.push_back(const_cast<char*>(set.first.c_str()));
    }
    answer = text_info(PMIX_QUERY_PSET_NAMES, list);
    array = {PMIX_STRING, texts.size(), texts.data()};
  } else {
    EXPECT_STREQ(queries[0].keys[0], PMIX_QUERY_PSET_MEMBERSHIP);
    EXPECT_STREQ(queries[0].qualifiers[0].key, PMIX_PSET_NAME);
    const std::string name = queries[0].qualifiers[0].value.data.string;
    for (const std::uint32_t rank : server.sets[name])
      procs.push_back(proc_of(name.starts_with("+") ? "another" : server.nspace, rank));
    array = {PMIX_PROC, procs.size(), procs.data()};
  }
  if (!procs.empty() || server.sets_as_array) {
    answer.value.type = PMIX_DATA_ARRAY;
    answer.value.data.darray = &array;
  }
  done(PMIX_SUCCESS, &answer, 1, cbdata, nullptr, nullptr);
  return PMIX_SUCCESS;
}
inline const char* fake_words(pmix_status_t) { return "SOME-STATUS"; }
inline void fake_destruct(pmix_value_t*) {}

inline constexpr Library kFake = {
    &fake_init,          &fake_finalize, &fake_abort,   &fake_put,      &fake_commit,    &fake_get,
    &fake_get_nb,        &fake_fence_nb, &fake_publish, &fake_lookup,   &fake_unpublish, &fake_resolve_nodes,
    &fake_resolve_peers, &fake_register, &fake_words,   &fake_destruct, &fake_query};

inline std::vector<std::byte> bytes(std::string_view text) {
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

/// A process that ends while MPI is in use gives up its Inbox, as libpmix may still deliver into it: no leak
/// here.
struct Ended {
  void operator()(Component* pmi) const {
    pmi->set_active(false);
    delete pmi;
  }
};
using Client = std::unique_ptr<Component, Ended>;

class PmixTest : public testing::Test {
 protected:
  void SetUp() override {
    server = Server{};
    server.facts[PMIX_JOB_SIZE] = number(PMIX_UINT32, server.size);
  }
  Client connect(const char* marker = "OMPI_COMM_WORLD_SIZE") {
    auto made = Pmix::make(kFake, [marker](const char* name) -> const char* {
      if (std::strcmp(name, "PMIX_VERSION") == 0) return "4.2.2";
      return std::strcmp(name, marker) == 0 ? "4" : nullptr;
    });
    if (!made) {
      error_ = made.error().text();
      return nullptr;
    }
    return Client(made->release());
  }
  /// Answers the oldest get that waits.
  static void answer(pmix_status_t status, std::string_view text = {}) {
    ASSERT_FALSE(server.waiting.empty());
    const auto kept = bytes(text);
    pmix_value_t value = bytes_value(kept);
    const auto done = server.waiting.front();
    server.waiting.pop_front();
    done(status, status == PMIX_SUCCESS ? &value : nullptr);
  }
  static bool readable(const Component& pmi) {
    pollfd waiting{pmi.wait_fd(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 1;
  }
  std::string error_;
};

}  // namespace starling::pmi::pmix
