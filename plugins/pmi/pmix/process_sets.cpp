// SPDX-License-Identifier: BSD-3-Clause
// Process sets that the launcher has defined. Layer: plugin.
//
// Hard here: the question goes to the launcher itself, which may know nothing of sets or never answer. So the
// answer is awaited for a time, and what libpmix writes into lives until it has answered, however late.

#include <condition_variable>
#include <memory>
#include <mutex>

#include "plugins/pmi/pmix/component.hpp"
#include "plugins/pmi/pmix/values.hpp"

namespace starling::pmi::pmix {
namespace {

constexpr std::chrono::seconds kLongest{2};

/// One question and its answer: texts, or processes. Owned by the asker and by libpmix until it has answered.
struct Question {
  std::string key, qualifier;
  char* keys[2] = {};
  pmix_info_t info{};
  pmix_query_t query{};

  std::mutex mutex;
  std::condition_variable answered;
  bool done = false;
  std::vector<std::string> texts;
  std::vector<pmix_proc_t> procs;

  Question(const char* asked, const std::string& set) : key(asked), qualifier(set) {
    keys[0] = key.data();
    query.keys = keys;
    if (qualifier.empty()) return;
    info = text_info(PMIX_PSET_NAME, qualifier);
    query.qualifiers = &info;
    query.nqual = 1;
  }
};

void add_text(std::vector<std::string>& texts, std::string_view list) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) texts.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

/// Servers send texts as one list with commas or as an array.
void keep(Question& question, const pmix_value_t& value) {
  if (const auto text = text_of(value)) return add_text(question.texts, *text);
  if (value.type != PMIX_DATA_ARRAY || value.data.darray == nullptr || value.data.darray->array == nullptr)
    return;
  const pmix_data_array_t& array = *value.data.darray;
  if (array.type == PMIX_STRING) {
    for (std::size_t i = 0; i < array.size; ++i) {
      const char* const text = static_cast<char**>(array.array)[i];
      if (text != nullptr) question.texts.emplace_back(text);
    }
  } else if (array.type == PMIX_PROC) {
    const auto* const procs = static_cast<const pmix_proc_t*>(array.array);
    question.procs.assign(procs, procs + array.size);
  } else if (array.type == PMIX_INFO) {
    for (std::size_t i = 0; i < array.size; ++i)
      keep(question, static_cast<const pmix_info_t*>(array.array)[i].value);
  }
}

void on_answer(pmix_status_t status, pmix_info_t* infos, std::size_t count, void* held,
               pmix_release_cbfunc_t release, void* release_with) {
  const std::unique_ptr<std::shared_ptr<Question>> owner(static_cast<std::shared_ptr<Question>*>(held));
  Question& question = **owner;
  {
    const std::scoped_lock lock(question.mutex);
    for (std::size_t i = 0; status == PMIX_SUCCESS && i < count; ++i) keep(question, infos[i].value);
    question.done = true;
    question.answered.notify_all();
  }
  if (release != nullptr) release(release_with);
}

/// None where the server does not know, or does not answer.
std::shared_ptr<Question> ask_launcher(const Library& library, const char* key, const std::string& set) {
  auto question = std::make_shared<Question>(key, set);
  auto held = std::make_unique<std::shared_ptr<Question>>(question);
  const pmix_status_t status = library.Query_info_nb(&question->query, 1, &on_answer, held.get());
  if (status != PMIX_SUCCESS) return nullptr;  // no callback will come
  (void)held.release();
  std::unique_lock lock(question->mutex);
  if (!question->answered.wait_for(lock, kLongest, [&] { return question->done; })) return nullptr;
  return question;
}

}  // namespace

std::vector<ProcessSet> Pmix::process_sets() {
  std::vector<ProcessSet> sets;
  if (!connected_) return sets;
  ++counters_.other;
  const auto names = ask_launcher(library_, PMIX_QUERY_PSET_NAMES, {});
  if (names == nullptr) return sets;
  for (const std::string& name : names->texts) {
    ++counters_.other;
    const auto members = ask_launcher(library_, PMIX_QUERY_PSET_MEMBERSHIP, name);
    ProcessSet set{name, {}};
    bool ours = members != nullptr && !members->procs.empty();
    for (std::size_t i = 0; ours && i < members->procs.size(); ++i) {
      const pmix_proc_t& proc = members->procs[i];
      ours = std::string_view(proc.nspace) == self_.nspace && proc.rank < identity_.size;
      set.ranks.push_back(proc.rank);
    }
    if (ours) sets.push_back(std::move(set));  // others are of jobs that cannot be reached
  }
  return sets;
}

}  // namespace starling::pmi::pmix
