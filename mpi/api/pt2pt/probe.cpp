// SPDX-License-Identifier: BSD-3-Clause
// Probes and matched receives. Layer: mpi. MPI 5.0 section 3.8.

#include "mpi/api.gen.hpp"
#include "mpi/api/pt2pt/transfer.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/request/fate.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/request/hopeless.hpp"
#include "mpi/request/message.hpp"
#include "mpi/runtime/waiting.hpp"

namespace starling::mpi::api {
namespace {

int make_message(Comm& comm, pml::Message* matched, MPI_Message* handle) {
  *handle = new_handle<MPI_Message>(tables().message,
                                    Ref<Message>::adopt(new Message(Ref<Comm>::share(&comm), matched)));
  if (*handle == MPI_MESSAGE_NULL) return too_many("matched messages");
  return MPI_SUCCESS;
}

/// Starts the receive of a matched message, which ends its handle.
int receive_matched(MPI_Message* handle, void* buf, MPI_Count count, Datatype& datatype,
                    pml::Request& request, Ref<Comm>* comm) {
  Message* const message = find_message(*handle);
  if (message == nullptr) return error(MPI_ERR_REQUEST, "message is no matched message (received already?)");
  *comm = message->comm;
  request.buffer = datatype.buffer(buf, static_cast<std::uint64_t>(count));
  request.context = &message->comm->context();
  request.receive = true;
  Runtime::get()->pml().mrecv(message->message, request);
  tables().message.remove(message->handle());
  message->drop();
  *handle = MPI_MESSAGE_NULL;
  return MPI_SUCCESS;
}

/// No message will come any more from whom a probe waits for. What has come is found first.
int nobody_to_wait_for(const Comm& comm, int source) {
  return error_on(comm, fault_class(pml::Fault::peer_lost), fate_text(comm, source));
}

/// Of a probe that does not wait: an error if whom it asks for has died, and not if he has left in order.
int nothing_found(const Comm& comm, int source) {
  const pml::Fault why = Runtime::get()->pml().lost(comm.context(), Rank{source});
  const bool in_order = why == pml::Fault::none || why == pml::Fault::peer_left;
  return in_order ? MPI_SUCCESS : nobody_to_wait_for(comm, source);
}

/// What hang help says about a probe that waits, or that is asked in a loop.
std::string probe_text(const char* function, int source, int tag, const Comm& comm) {
  const std::string from = source == MPI_ANY_SOURCE ? "any rank" : "rank " + std::to_string(source);
  const std::string with = tag == MPI_ANY_TAG ? "any tag" : "tag " + std::to_string(tag);
  const bool lost = Runtime::get()->pml().lost(comm.context(), Rank{source}) != pml::Fault::none;
  return std::string(function) + " on " + comm.label() + ": waits for a message from " + from + " with " +
         with + (lost ? " (" + fate_text(comm, source) + ")" : "");
}

/// Matches once, and takes what the transports have first if that finds nothing.
template <class Look>
bool look_well(const char* function, int source, int tag, const Comm& comm, Look&& look) {
  const auto what = [&] { return probe_text(function, source, tag, comm); };
  return look() || Runtime::get()->waits().poll_until(what, look);
}

}  // namespace

int Probe(int source, int tag, Comm& comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    set_proc_null(status);
    return MPI_SUCCESS;
  }
  Runtime& runtime = *Runtime::get();
  pml::Status found;
  bool here = false;
  const auto what = [&] { return probe_text(names::Probe, source, tag, comm); };
  const Waiting waiting(what);
  runtime.waits().wait([&] {
    here = runtime.pml().probe(comm.context(), Rank{source}, Tag{tag}, &found);
    return here || nobody_can_send(comm, source);
  });
  if (!here) return nobody_to_wait_for(comm, source);
  store_status(found, status);
  return MPI_SUCCESS;
}

int Iprobe(int source, int tag, Comm& comm, int* flag, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    *flag = 1;
    set_proc_null(status);
    return MPI_SUCCESS;
  }
  pml::Status found;
  pml::Component& pml = Runtime::get()->pml();
  const auto look = [&] { return pml.probe(comm.context(), Rank{source}, Tag{tag}, &found); };
  *flag = look_well(names::Iprobe, source, tag, comm, look) ? 1 : 0;
  if (*flag == 0) return nothing_found(comm, source);
  store_status(found, status);
  return MPI_SUCCESS;
}

int Mprobe(int source, int tag, Comm& comm, MPI_Message* message, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
    set_proc_null(status);
    return MPI_SUCCESS;
  }
  Runtime& runtime = *Runtime::get();
  pml::Status found;
  pml::Message* matched = nullptr;
  const auto what = [&] { return probe_text(names::Mprobe, source, tag, comm); };
  const Waiting waiting(what);
  runtime.waits().wait([&] {
    // Asked again after it was true (before a sleep): a second match would lose the first.
    if (matched == nullptr) matched = runtime.pml().mprobe(comm.context(), Rank{source}, Tag{tag}, &found);
    return matched != nullptr || nobody_can_send(comm, source);
  });
  if (matched == nullptr) return nobody_to_wait_for(comm, source);
  store_status(found, status);
  return make_message(comm, matched, message);
}

int Improbe(int source, int tag, Comm& comm, int* flag, MPI_Message* message, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    *flag = 1;
    *message = MPI_MESSAGE_NO_PROC;
    set_proc_null(status);
    return MPI_SUCCESS;
  }
  pml::Status found;
  pml::Message* matched = nullptr;
  const auto look = [&] {
    matched = Runtime::get()->pml().mprobe(comm.context(), Rank{source}, Tag{tag}, &found);
    return matched != nullptr;
  };
  *flag = look_well(names::Improbe, source, tag, comm, look) ? 1 : 0;
  if (*flag == 0) return nothing_found(comm, source);
  store_status(found, status);
  return make_message(comm, matched, message);
}

int Mrecv(void* buf, MPI_Count count, Datatype& datatype, MPI_Message* message, MPI_Status* status,
          const char* function) {
  if (*message == MPI_MESSAGE_NO_PROC) {
    *message = MPI_MESSAGE_NULL;
    set_proc_null(status);
    return MPI_SUCCESS;
  }
  pml::Request request;
  Ref<Comm> comm;
  if (const int rc = receive_matched(message, buf, count, datatype, request, &comm); rc != MPI_SUCCESS)
    return rc;
  const int rc = wait_for(function, request, *comm);
  store_status(request.status, status);
  return rc;
}

int Imrecv(void* buf, MPI_Count count, Datatype& datatype, MPI_Message* message, MPI_Request* request) {
  if (*message == MPI_MESSAGE_NO_PROC) {
    *message = MPI_MESSAGE_NULL;
    return start_into(Request::make(Request::Form::proc_null), request);
  }
  Request* const made = Request::make(Request::Form::receive);
  made->datatype = Ref<Datatype>::share(&datatype);
  if (const int rc = receive_matched(message, buf, count, datatype, made->core, &made->comm);
      rc != MPI_SUCCESS) {
    made->free();
    return rc;
  }
  made->active = true;
  *request = as_handle<MPI_Request>(made->handle());
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
