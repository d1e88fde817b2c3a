// SPDX-License-Identifier: BSD-3-Clause
// Sessions and process sets. Layer: mpi. MPI 5.0 section 11.3.

#include <cstring>
#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/comm/hints.hpp"
#include "mpi/creation/factory.hpp"
#include "mpi/creation/inter.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/request/buffered.hpp"
#include "mpi/session/session.hpp"
#include "mpi/world/open.hpp"
#include "mpi/world/process_sets.hpp"

namespace starling::mpi::api {
namespace {

struct Level {
  const char* name;
  int value;
};
constexpr Level kLevels[] = {{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
                             {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
                             {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
                             {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};

/// The level that info asks for. Without the key it is ours to choose, and section 11.3.1 discourages
/// MPI_THREAD_SINGLE: a library that opens a session does not know what the rest of the program does.
/// MPI_THREAD_SERIALIZED is the highest that costs nothing; MPI_THREAD_MULTIPLE, the choice of others, puts a
/// lock on the path of each message.
int wanted_level(const Info* info, int* level) {
  *level = MPI_THREAD_SERIALIZED;
  if (info == nullptr) return MPI_SUCCESS;
  const auto text = info->get("thread_level");
  if (!text) return MPI_SUCCESS;
  for (const Level& known : kLevels) {
    if (*text == known.name) {
      *level = known.value;
      return MPI_SUCCESS;
    }
  }
  return error(MPI_ERR_INFO_VALUE, "info key thread_level is '" + *text +
                                       "', expected MPI_THREAD_SINGLE, "
                                       "MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE");
}

/// The level that a session gets, once the runtime is open. Where anybody in this process asked for
/// MPI_THREAD_MULTIPLE, the lock serves all to the end of the process, so all may do the same.
int provided_level(int wanted) {
  return registry().multiple.load(std::memory_order_relaxed) ? MPI_THREAD_MULTIPLE : wanted;
}

const char* level_name(int level) {
  for (const Level& known : kLevels) {
    if (known.value == level) return known.name;
  }
  return "?";
}

MPI_Info new_info(Info::Entries entries) {
  return new_handle<MPI_Info>(tables().info, Ref<Info>::adopt(new Info(std::move(entries))));
}

int unknown_set(const char* name) {
  return error(MPI_ERR_ARG, std::string("pset_name is '") + name +
                                "', which is no process set; there are mpi://WORLD, "
                                "mpi://SELF and mpix://NODE");
}

}  // namespace

int Session_init(Info* info, Errhandler& errhandler, MPI_Session* session) {
  int level = MPI_THREAD_SERIALIZED;
  if (const int rc = wanted_level(info, &level); rc != MPI_SUCCESS) return rc;
  if (const int rc = open_runtime(level); rc != MPI_SUCCESS) return rc;
  registry().sessions_used.store(true, std::memory_order_relaxed);
  auto made = Ref<Session>::adopt(new Session(provided_level(level)));
  made->errhandler = Ref<Errhandler>::share(&errhandler);
  *session = new_handle<MPI_Session>(tables().session, std::move(made));
  if (*session == MPI_SESSION_NULL) {
    close_runtime();
    return too_many("sessions");
  }
  return MPI_SUCCESS;
}

int Session_finalize(MPI_Session* session) {
  Session* const found = find_session(*session);
  if (found == nullptr) return error(MPI_ERR_SESSION, "session is not a live session (finalized already?)");
  if (found->bsend_buffer != nullptr) found->bsend_buffer->flush();  // the user gets the memory back
  close_runtime();
  tables().session.remove(found->handle());
  found->drop();
  *session = MPI_SESSION_NULL;
  return MPI_SUCCESS;
}

int Session_get_num_psets(Session&, Info*, int* npset_names) {
  *npset_names = static_cast<int>(process_sets().size());
  return MPI_SUCCESS;
}

int Session_get_nth_pset(Session&, Info*, int n, int* pset_len, char* pset_name) {
  const auto names = process_sets();
  if (static_cast<std::size_t>(n) >= names.size()) {
    return error(MPI_ERR_ARG,
                 "n is " + std::to_string(n) + ", expected 0.." + std::to_string(names.size() - 1));
  }
  if (*pset_len < 0)
    return error(MPI_ERR_ARG, "*pset_len is " + std::to_string(*pset_len) + ", expected 0 or more");
  if (*pset_len > 0 && pset_name == nullptr) {
    return error(MPI_ERR_ARG, "pset_name is NULL, expected an array of *pset_len = " +
                                  std::to_string(*pset_len) + " characters");
  }
  const std::string& name = names[static_cast<std::size_t>(n)];
  const int needed = static_cast<int>(name.size()) + 1;
  if (*pset_len > 0) {
    const int copied = *pset_len < needed ? *pset_len - 1 : needed - 1;
    std::memcpy(pset_name, name.data(), static_cast<std::size_t>(copied));
    pset_name[copied] = '\0';
  }
  *pset_len = needed;
  return MPI_SUCCESS;
}

int Session_get_pset_info(Session&, const char* pset_name, MPI_Info* info) {
  const Ref<Group> group = group_of_process_set(pset_name);
  if (!group) return unknown_set(pset_name);
  *info = new_info({{"mpi_size", std::to_string(group->size())}});
  return *info == MPI_INFO_NULL ? too_many("info objects") : MPI_SUCCESS;
}

int Session_get_info(Session& session, MPI_Info* info_used) {
  *info_used = new_info({{"thread_level", level_name(session.thread_level)},
                         {std::string(kMemoryKindsKey), std::string(kMemoryKinds)}});
  return *info_used == MPI_INFO_NULL ? too_many("info objects") : MPI_SUCCESS;
}

int Group_from_session_pset(Session& session, const char* pset_name, MPI_Group* newgroup) {
  const Ref<Group> group = group_of_process_set(pset_name);
  if (!group) return unknown_set(pset_name);
  *newgroup = new_handle<MPI_Group>(
      tables().group, Ref<Group>::adopt(new Group(group->members(), Ref<Session>::share(&session))));
  return *newgroup == MPI_GROUP_NULL ? too_many("groups") : MPI_SUCCESS;
}

int Comm_create_from_group(Group& group, const char* stringtag, Info* info, Errhandler& errhandler,
                           MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  if (group.size() == 0) return MPI_SUCCESS;
  const Made made =
      CommFactory::from_group(Ref<Group>::share(&group), std::string("user ") + stringtag, group.session());
  if (made.comm == nullptr) return made.error_class;
  made.comm->errhandler = Ref<Errhandler>::share(&errhandler);
  made.comm->info = known_hints(info);
  *newcomm = as_handle<MPI_Comm>(made.comm->handle());
  return MPI_SUCCESS;
}

int Intercomm_create_from_groups(Group& local_group, int local_leader, MPI_Group remote_group,
                                 int remote_leader, const char* stringtag, Info* info, Errhandler& errhandler,
                                 MPI_Comm* newintercomm) {
  *newintercomm = MPI_COMM_NULL;
  const Made made = inter_from_groups(Ref<Group>::share(&local_group), local_leader, find_group(remote_group),
                                      remote_leader, stringtag);
  if (made.comm == nullptr) return made.error_class;
  made.comm->errhandler = Ref<Errhandler>::share(&errhandler);
  made.comm->info = known_hints(info);
  *newintercomm = as_handle<MPI_Comm>(made.comm->handle());
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
