// SPDX-License-Identifier: BSD-3-Clause
// The PMIx server: libpmix inside the helper's process. Layer: tools.
//
// Hard here: libpmix calls back from a thread of its own, in which nothing may block and no PMIx call be
// made. The callbacks only report; mpiexec acts. Only functions of 4.2 are used, found at run time, and the
// structs are filled in here, so that one build runs with anything newer. Clients of one node need no
// callback for fences and gets. The library is never finalized: that has been seen to hang after a client's
// death, and all that it leaves is in the folder.

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>

#include "core/shared_library.hpp"
#include "tools/mpiexec/pmix/helper.hpp"

#ifdef STARLING_WITH_PMIX
#include <pmix.h>
#include <pmix_server.h>

#include "tools/mpiexec/pmix/names.hpp"
#endif

namespace starling::mpiexec {
namespace {

using Kind = PmixHelper::Event::Kind;

[[noreturn]] void end_helper(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  ::_exit(0);
}

#ifdef STARLING_WITH_PMIX

constexpr char kPmixServer[] = "mpiexec";  ///< where its errors come from

int report_socket = -1;  ///< libpmix's callbacks have no argument of ours

struct ServerLibrary {
// clang-format off
#define STARLING_PMIX_SERVER_FUNCTIONS(F) \
  F(Get_version) F(Error_string) F(server_init) F(generate_regex) F(generate_ppn) F(server_register_nspace) \
  F(server_register_client) F(server_setup_fork) F(Value_load)
// clang-format on
#define STARLING_PMIX_MEMBER(NAME) decltype(&::PMIx_##NAME) NAME = nullptr;
  STARLING_PMIX_SERVER_FUNCTIONS(STARLING_PMIX_MEMBER)
#undef STARLING_PMIX_MEMBER
};

Result<ServerLibrary> open_server_library() {
  auto opened = SharedLibrary::open("libpmix.so.2");
  if (!opened) return fail(std::move(opened).error());
  ServerLibrary library;
#define STARLING_PMIX_FIND(NAME) opened->find("PMIx_" #NAME, library.NAME);
  STARLING_PMIX_SERVER_FUNCTIONS(STARLING_PMIX_FIND)
#undef STARLING_PMIX_FIND
  if (auto complete = opened->complete(); !complete) return fail(std::move(complete).error());
  return library;
}

/// A list of infos whose values live as long as this object.
class Infos {
 public:
  void text(const char* key, const std::string& value) {
    add(key, PMIX_STRING).data.string = texts_.emplace_back(value).data();
  }
  /// libpmix alone knows how long such a text is: it may hold NULs.
  void regex(const ServerLibrary& library, const char* key, char* value) {
    library.Value_load(&add(key, PMIX_REGEX), value, PMIX_REGEX);
  }
  void number(const char* key, std::uint32_t value) { add(key, PMIX_UINT32).data.uint32 = value; }
  void small(const char* key, std::uint16_t value) { add(key, PMIX_UINT16).data.uint16 = value; }
  void rank(const char* key, std::uint32_t value) { add(key, PMIX_PROC_RANK).data.rank = value; }
  void array(const char* key, Infos& infos) {
    pmix_data_array_t& made = arrays_.emplace_back();
    made.type = PMIX_INFO;
    made.size = infos.list_.size();
    made.array = infos.list_.data();
    add(key, PMIX_DATA_ARRAY).data.darray = &made;
  }
  [[nodiscard]] pmix_info_t* data() { return list_.data(); }
  [[nodiscard]] std::size_t size() const { return list_.size(); }

 private:
  pmix_value_t& add(const char* key, pmix_data_type_t type) {
    pmix_info_t& info = list_.emplace_back();
    std::strncpy(info.key, key, PMIX_MAX_KEYLEN);
    info.value.type = type;
    return info.value;
  }
  std::vector<pmix_info_t> list_;
  std::deque<std::string> texts_;
  std::deque<pmix_data_array_t> arrays_;
};

/// One answer that a callback brings.
class Answer {
 public:
  static void bring(pmix_status_t status, void* self) {
    auto* const answer = static_cast<Answer*>(self);
    const std::lock_guard<std::mutex> lock(answer->mutex_);
    answer->status_ = status;
    answer->there_ = true;
    answer->changed_.notify_all();
  }
  /// The status of a call that returned `first`. mpiexec bounds how long this may take.
  pmix_status_t of(pmix_status_t first) {
    if (first == PMIX_OPERATION_SUCCEEDED) return PMIX_SUCCESS;
    if (first != PMIX_SUCCESS) return first;
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return there_; });
    return status_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  pmix_status_t status_ = PMIX_SUCCESS;
  bool there_ = false;
};

pmix_status_t on_connected(const pmix_proc_t* client, void*, pmix_info_t*, std::size_t, pmix_op_cbfunc_t,
                           void*) {
  send_event(report_socket, Kind::connected, client->rank, 0, "");
  return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t on_finalized(const pmix_proc_t* client, void*, pmix_op_cbfunc_t, void*) {
  send_event(report_socket, Kind::finalized, client->rank, 0, "");
  return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t on_abort(const pmix_proc_t* client, void*, int status, const char* message, pmix_proc_t*,
                       std::size_t, pmix_op_cbfunc_t, void*) {
  send_event(report_socket, Kind::abort, client->rank, status, message == nullptr ? "" : message);
  return PMIX_OPERATION_SUCCEEDED;
}

Unexpected pmix_failure(const ServerLibrary& library, const char* call, pmix_status_t status) {
  return fail(Errc::unsupported, kPmixServer, std::string(call) + ": " + library.Error_string(status));
}

Result<void> open_server(const ServerLibrary& library, const std::string& folder) {
  // 4.2's default store has lost values and hung after repeated commits.
  if (std::string(library.Get_version()).find("OpenPMIx 4.") != std::string::npos)
    ::setenv("PMIX_MCA_gds", "hash", 1);
  static pmix_server_module_t module{};
  module.client_connected2 = &on_connected;
  module.client_finalized = &on_finalized;
  module.abort = &on_abort;
  serve_names(module);
  Infos infos;
  infos.text(PMIX_SERVER_TMPDIR, folder);
  infos.text(PMIX_SYSTEM_TMPDIR, folder);
  const pmix_status_t status = library.server_init(&module, infos.data(), infos.size());
  if (status != PMIX_SUCCESS) return pmix_failure(library, "PMIx_server_init", status);
  return {};
}

Result<void> describe_job(const ServerLibrary& library, const PmixJob& job, const std::string& folder) {
  const auto size = static_cast<std::uint32_t>(job.program.size());
  std::string ranks;
  std::uint32_t programs = 0;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    ranks.append(rank == 0 ? "" : ",").append(std::to_string(rank));
    programs = std::max(programs, job.program[rank] + 1);
  }
  char* nodes = nullptr;
  char* procs = nullptr;
  pmix_status_t status = library.generate_regex(job.host.c_str(), &nodes);
  if (status == PMIX_SUCCESS) status = library.generate_ppn(ranks.c_str(), &procs);
  if (status != PMIX_SUCCESS) return pmix_failure(library, "PMIx_generate_regex", status);
  Infos infos;
  infos.regex(library, PMIX_NODE_MAP, nodes);
  infos.regex(library, PMIX_PROC_MAP, procs);
  for (const char* key : {PMIX_JOB_SIZE, PMIX_MAX_PROCS, PMIX_LOCAL_SIZE, PMIX_NODE_SIZE, PMIX_UNIV_SIZE})
    infos.number(key, size);
  infos.number(PMIX_JOB_NUM_APPS, programs);
  infos.number(PMIX_NUM_NODES, 1);
  infos.text(PMIX_JOBID, job.name);
  infos.text(PMIX_LOCAL_PEERS, ranks);
  infos.rank(PMIX_LOCALLDR, 0);
  infos.text(PMIX_NSDIR, folder);
  infos.text(PMIX_TMPDIR, folder);
  std::deque<Infos> of_ranks;
  std::vector<std::uint32_t> used(programs);
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    Infos& own = of_ranks.emplace_back();
    own.rank(PMIX_RANK, rank);  // has to come first
    own.rank(PMIX_GLOBAL_RANK, rank);
    own.rank(PMIX_APP_RANK, used[job.program[rank]]++);
    own.number(PMIX_APPNUM, job.program[rank]);
    own.small(PMIX_LOCAL_RANK, static_cast<std::uint16_t>(job.local_rank[rank]));
    own.small(PMIX_NODE_RANK, static_cast<std::uint16_t>(job.local_rank[rank]));
    own.number(PMIX_NODEID, 0);
    own.text(PMIX_HOSTNAME, job.host);
    infos.array(PMIX_PROC_DATA, own);
  }
  Answer answer;
  status = answer.of(library.server_register_nspace(job.name.c_str(), static_cast<int>(size), infos.data(),
                                                    infos.size(), &Answer::bring, &answer));
  if (status != PMIX_SUCCESS) return pmix_failure(library, "PMIx_server_register_nspace", status);
  return {};
}

/// Admits every rank and tells mpiexec what it needs in its environment.
Result<void> admit_ranks(const ServerLibrary& library, const PmixJob& job, const std::string& folder) {
  for (std::uint32_t rank = 0; rank < job.program.size(); ++rank) {
    pmix_proc_t client{};
    std::strncpy(client.nspace, job.name.c_str(), PMIX_MAX_NSLEN);
    client.rank = rank;
    Answer answer;
    pmix_status_t status = answer.of(
        library.server_register_client(&client, ::geteuid(), ::getegid(), nullptr, &Answer::bring, &answer));
    if (status != PMIX_SUCCESS) return pmix_failure(library, "PMIx_server_register_client", status);
    char** environment = nullptr;
    status = library.server_setup_fork(&client, &environment);
    if (status != PMIX_SUCCESS) return pmix_failure(library, "PMIx_server_setup_fork", status);
    std::string text;
    for (char** at = environment; at != nullptr && *at != nullptr; ++at) text.append(*at).append(1, '\0');
    // Programs of Open MPI 4 use a PMIx server only where they find the address of a daemon; they do not call
    // it. They keep files of their own.
    text.append("OMPI_MCA_orte_local_daemon_uri=0.0;tcp://127.0.0.1:1").append(1, '\0');
    text.append("OMPI_MCA_orte_tmpdir_base=" + folder).append(1, '\0');
    text.append("OMPI_MCA_btl_vader_backing_directory=" + folder).append(1, '\0');
    if (!send_event(report_socket, Kind::variables, rank, 0, text)) end_helper(folder);
  }
  return {};
}

Result<void> start_server(const PmixJob& job, const std::string& folder) {
  auto library = open_server_library();
  if (!library) return fail(std::move(library).error());
  if (auto done = open_server(*library, folder); !done) return done;
  if (auto done = describe_job(*library, job, folder); !done) return done;
  return admit_ranks(*library, job, folder);
}

#endif

}  // namespace

[[noreturn]] void serve_pmix(const PmixJob& job, const std::string& folder, int socket) {
#ifdef STARLING_WITH_PMIX
  report_socket = socket;
  if (auto started = start_server(job, folder); !started) {
    send_event(socket, Kind::failed, 0, 0, started.error().detail + " (package libpmix2)");
    end_helper(folder);
  }
  send_event(socket, Kind::ready, 0, 0, "");
  for (pollfd end{socket, POLLIN, 0};;) {
    char byte = 0;
    if (::poll(&end, 1, -1) > 0 && ::recv(socket, &byte, 1, 0) <= 0) end_helper(folder);
  }
#else
  (void)job;
  send_event(socket, Kind::failed, 0, 0, "mpiexec was built without libpmix (package libpmix-dev)");
  end_helper(folder);
#endif
}

}  // namespace starling::mpiexec
