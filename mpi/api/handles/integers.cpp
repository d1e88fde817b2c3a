// SPDX-License-Identifier: BSD-3-Clause
// Handles as integers, for other languages. Layer: mpi. MPI 5.0 section 20.3.
//
// A predefined handle's integer is its constant. A value that stands for nothing becomes the null handle.

#include "mpi/api.gen.hpp"

namespace starling::mpi::api {

int Comm_toint(MPI_Comm comm) { return tables().comm.to_int(as_bits(comm)); }
MPI_Comm Comm_fromint(int comm) { return as_handle<MPI_Comm>(tables().comm.from_int(comm)); }

int Errhandler_toint(MPI_Errhandler errhandler) { return tables().errhandler.to_int(as_bits(errhandler)); }
MPI_Errhandler Errhandler_fromint(int errhandler) {
  return as_handle<MPI_Errhandler>(tables().errhandler.from_int(errhandler));
}

int File_toint(MPI_File file) { return tables().file.to_int(as_bits(file)); }
MPI_File File_fromint(int file) { return as_handle<MPI_File>(tables().file.from_int(file)); }

int Group_toint(MPI_Group group) { return tables().group.to_int(as_bits(group)); }
MPI_Group Group_fromint(int group) { return as_handle<MPI_Group>(tables().group.from_int(group)); }

int Info_toint(MPI_Info info) { return tables().info.to_int(as_bits(info)); }
MPI_Info Info_fromint(int info) { return as_handle<MPI_Info>(tables().info.from_int(info)); }

int Message_toint(MPI_Message message) { return tables().message.to_int(as_bits(message)); }
MPI_Message Message_fromint(int message) {
  return as_handle<MPI_Message>(tables().message.from_int(message));
}

int Op_toint(MPI_Op op) { return tables().op.to_int(as_bits(op)); }
MPI_Op Op_fromint(int op) { return as_handle<MPI_Op>(tables().op.from_int(op)); }

int Request_toint(MPI_Request request) { return tables().request.to_int(as_bits(request)); }
MPI_Request Request_fromint(int request) {
  return as_handle<MPI_Request>(tables().request.from_int(request));
}

int Session_toint(MPI_Session session) { return tables().session.to_int(as_bits(session)); }
MPI_Session Session_fromint(int session) {
  return as_handle<MPI_Session>(tables().session.from_int(session));
}

int Type_toint(MPI_Datatype datatype) { return tables().datatype.to_int(as_bits(datatype)); }
MPI_Datatype Type_fromint(int datatype) {
  return as_handle<MPI_Datatype>(tables().datatype.from_int(datatype));
}

int Win_toint(MPI_Win win) { return tables().win.to_int(as_bits(win)); }
MPI_Win Win_fromint(int win) { return as_handle<MPI_Win>(tables().win.from_int(win)); }

}  // namespace starling::mpi::api
