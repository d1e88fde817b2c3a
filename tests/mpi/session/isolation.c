/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 11.3: communicators, groups and requests of different sessions, or of a session and the
 * world, do not meet in one call. Nothing happens to them then. Section 9.1.2: of the predefined attributes,
 * communicators of a session have MPI_TAG_UB only. MPI need not look; Starling does. np: 1-4 */
#include "check.h"

#ifdef MPI_ABI_VERSION

struct side {
  MPI_Session session; /* or MPI_SESSION_NULL: the world */
  MPI_Group group;
  MPI_Comm comm;
};

static struct side of_session(const char* tag) {
  struct side side;
  OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &side.session));
  OK(MPI_Group_from_session_pset(side.session, "mpi://WORLD", &side.group));
  OK(MPI_Comm_create_from_group(side.group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &side.comm));
  return side;
}

static struct side of_world(void) {
  struct side side;
  side.session = MPI_SESSION_NULL;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &side.comm));
  OK(MPI_Comm_group(side.comm, &side.group));
  return side;
}

static void communicators(const struct side* a, const struct side* b) {
  MPI_Group groups[2], made;
  MPI_Comm comm;
  int result, rank = 0, other;
  OK(MPI_Comm_compare(a->comm, a->comm, &result));
  CHECK_ERROR(MPI_Comm_compare(a->comm, b->comm, &result), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Comm_create(a->comm, b->group, &comm), MPI_ERR_GROUP);
  CHECK_ERROR(MPI_Comm_create_group(a->comm, b->group, 1, &comm), MPI_ERR_GROUP);
  CHECK_ERROR(MPI_Intercomm_create(a->comm, 0, b->comm, 0, 1, &comm), MPI_ERR_COMM);
  CHECK_ERROR(MPI_Group_compare(a->group, b->group, &result), MPI_ERR_GROUP);
  CHECK_ERROR(MPI_Group_union(a->group, b->group, &made), MPI_ERR_GROUP);
  CHECK_ERROR(MPI_Group_intersection(a->group, b->group, &made), MPI_ERR_GROUP);
  CHECK_ERROR(MPI_Group_difference(a->group, b->group, &made), MPI_ERR_GROUP);
  CHECK_ERROR(MPI_Group_translate_ranks(a->group, 1, &rank, b->group, &other), MPI_ERR_GROUP);
  /* What is derived stays where it comes from; the empty group is at home everywhere. */
  OK(MPI_Group_incl(a->group, 1, &rank, &groups[0]));
  OK(MPI_Comm_group(a->comm, &groups[1]));
  OK(MPI_Group_compare(groups[0], groups[1], &result));
  CHECK_ERROR(MPI_Group_compare(groups[0], b->group, &result), MPI_ERR_GROUP);
  OK(MPI_Group_union(MPI_GROUP_EMPTY, b->group, &made));
  OK(MPI_Group_free(&made));
  OK(MPI_Comm_create(b->comm, MPI_GROUP_EMPTY, &comm));
  CHECK(comm == MPI_COMM_NULL);
  OK(MPI_Group_free(&groups[0]));
  OK(MPI_Group_free(&groups[1]));
}

static void requests(const struct side* a, const struct side* b) {
  int in[2] = {-1, -1}, out[2] = {5, 6}, index, indices[3], flag, me, count;
  MPI_Request both[3], kept[2];
  OK(MPI_Comm_rank(a->comm, &me));
  OK(MPI_Irecv(&in[0], 1, MPI_INT, me, 3, a->comm, &both[0]));
  both[1] = MPI_REQUEST_NULL;
  OK(MPI_Irecv(&in[1], 1, MPI_INT, me, 3, b->comm, &both[2]));
  CHECK_ERROR(MPI_Testall(3, both, &flag, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
  OK(MPI_Send(&out[0], 1, MPI_INT, me, 3, a->comm));
  OK(MPI_Send(&out[1], 1, MPI_INT, me, 3, b->comm));
  CHECK_ERROR(MPI_Waitall(3, both, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
  CHECK_ERROR(MPI_Waitany(3, both, &index, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
  CHECK_ERROR(MPI_Waitsome(3, both, &count, indices, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
  CHECK_ERROR(MPI_Testany(3, both, &index, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
  CHECK_ERROR(MPI_Testsome(3, both, &count, indices, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
  CHECK(both[0] != MPI_REQUEST_NULL && both[2] != MPI_REQUEST_NULL);
  OK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
  OK(MPI_Wait(&both[2], MPI_STATUS_IGNORE));
  CHECK_EQ(in[0], 5);
  CHECK_EQ(in[1], 6);
  OK(MPI_Send_init(out, 1, MPI_INT, MPI_PROC_NULL, 0, a->comm, &kept[0]));
  OK(MPI_Send_init(out, 1, MPI_INT, MPI_PROC_NULL, 0, b->comm, &kept[1]));
  CHECK_ERROR(MPI_Startall(2, kept), MPI_ERR_REQUEST);
  OK(MPI_Request_free(&kept[0]));
  OK(MPI_Request_free(&kept[1]));
}

static void attributes(const struct side* side) {
  static const int keys[6] = {MPI_HOST,          MPI_IO,          MPI_WTIME_IS_GLOBAL, MPI_APPNUM,
                              MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE};
  int *value = NULL, flag = 0;
  MPI_Comm derived;
  OK(MPI_Comm_dup(side->comm, &derived));
  OK(MPI_Comm_get_attr(derived, MPI_TAG_UB, &value, &flag));
  CHECK(flag && *value >= 32767);
  for (int i = 0; i < 6; ++i) {
    flag = 1;
    OK(MPI_Comm_get_attr(derived, keys[i], &value, &flag));
    CHECK_EQ(flag, 0);
  }
  OK(MPI_Comm_free(&derived));
}

static void done(struct side* side) {
  OK(MPI_Comm_free(&side->comm));
  OK(MPI_Group_free(&side->group));
  if (side->session != MPI_SESSION_NULL) OK(MPI_Session_finalize(&side->session));
}

int main(int argc, char** argv) {
  struct side first, second, world;
  int *value = NULL, flag = 0;
  first = of_session("first");
  second = of_session("second");
  communicators(&first, &second);
  requests(&first, &second);
  attributes(&first);
  OK(MPI_Init(&argc, &argv));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  world = of_world();
  communicators(&world, &second);
  communicators(&second, &world);
  requests(&world, &second);
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
  CHECK(flag);
  done(&world);
  done(&first);
  done(&second);
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
