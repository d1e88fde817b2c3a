/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split_type by hardware: what the info key names, what the MPI finds by itself, process sets;
 * MPI_COMM_NULL where there is nothing to share (MPI 5.0, 7.4.2, 9.1.3). needs: mpi-5 */
#include "check.h"

#if MPI_VERSION >= 5
static MPI_Info named(const char* key, const char* value) {
  MPI_Info info;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, key, value));
  return info;
}

/* Splits; the size of the part, 0 for MPI_COMM_NULL. */
static int part(MPI_Comm comm, int type, MPI_Info info, MPI_Comm* made) {
  int size = 0;
  OK(MPI_Comm_split_type(comm, type, 0, info, made));
  if (*made != MPI_COMM_NULL) OK(MPI_Comm_size(*made, &size));
  return size;
}

/* Each resource that MPI_Get_hw_resource_info lists joins exactly those that are restricted to one. */
static void every_resource(int size) {
  MPI_Info all;
  MPI_Comm made;
  int keys, shared = 0;
  OK(MPI_Get_hw_resource_info(&all));
  OK(MPI_Info_get_nkeys(all, &keys));
  for (int k = 0; k < keys; ++k) {
    char key[MPI_MAX_INFO_KEY + 1], value[16] = "";
    int flag, room = sizeof value;
    OK(MPI_Info_get_nthkey(all, k, key));
    OK(MPI_Info_get_string(all, key, &room, value, &flag));
    CHECK(flag);
    const int restricted = strcmp(value, "true") == 0;
    CHECK(restricted || strcmp(value, "false") == 0);
    if (strcmp(key, "mpi_shared_memory") == 0) shared = 1;
    MPI_Info info = named("mpi_hw_resource_type", key);
    const int members = part(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, info, &made);
    CHECK_EQ(members > 0, restricted);
    if (members > 0) OK(MPI_Comm_free(&made));
    CHECK_EQ(part(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, info, &made), members);
    CHECK(members <= size);
    if (members > 0) OK(MPI_Comm_free(&made));
    OK(MPI_Info_free(&info));
  }
  CHECK(shared);
  OK(MPI_Info_free(&all));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm node, made, below;
  const int me = world_rank(), size = world_size();
  const int on_node = part(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, MPI_INFO_NULL, &node);
  int result;
  MPI_Info info = named("mpi_hw_resource_type", "mpi_shared_memory");
  CHECK_EQ(part(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, info, &made), on_node);
  OK(MPI_Comm_compare(node, made, &result));
  CHECK_EQ(result, MPI_CONGRUENT);
  OK(MPI_Comm_free(&made));
  OK(MPI_Info_free(&info));
  info = named("mpi_hw_resource_type", "no such thing");
  CHECK_EQ(part(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, info, &made), 0);
  OK(MPI_Info_free(&info));
  CHECK_EQ(part(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, MPI_INFO_NULL, &made), 0);
  every_resource(size);

  info = named("mpi_pset_name", "mpi://WORLD");
  CHECK_EQ(part(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, info, &made), size);
  OK(MPI_Comm_free(&made));
  OK(MPI_Info_free(&info));
  info = named("mpi_pset_name", "mpi://SELF");
  CHECK_EQ(part(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, info, &made), 1);
  OK(MPI_Comm_free(&made));
  OK(MPI_Info_free(&info));

  /* Unguided: each step is a strict subset of the one before, so it ends. */
  OK(MPI_Comm_dup(node, &made));
  for (int members = on_node; made != MPI_COMM_NULL;) {
    char value[64] = "";
    int flag, room = sizeof value;
    OK(MPI_Info_create(&info));
    const int fewer = part(made, MPI_COMM_TYPE_HW_UNGUIDED, info, &below);
    CHECK(fewer < members);
    OK(MPI_Info_get_string(info, "mpi_hw_resource_type", &room, value, &flag));
    CHECK_EQ(flag, below != MPI_COMM_NULL);
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&made));
    made = below;
    members = fewer;
  }
  /* Who asks for nothing does not hold up the others. */
  part(MPI_COMM_WORLD, me == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_HW_UNGUIDED, MPI_INFO_NULL, &made);
  if (me == 0) CHECK(made == MPI_COMM_NULL);
  if (made != MPI_COMM_NULL) OK(MPI_Comm_free(&made));
  OK(MPI_Comm_free(&node));
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
