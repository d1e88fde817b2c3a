// SPDX-License-Identifier: BSD-3-Clause
// Groups. Layer: mpi. MPI 5.0 section 7.3.
#include <span>
#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/comm/isolation.hpp"
#include "mpi/error.hpp"
#include "mpi/group/algebra.hpp"
#include "mpi/runtime/self.hpp"

namespace starling::mpi::api {
namespace {

/// The handle of a result, which belongs to the session of its source; the empty group is always
/// MPI_GROUP_EMPTY.
int give(ProcListPtr members, const Group& source, MPI_Group* newgroup) {
  if (members->size() == 0) {
    *newgroup = MPI_GROUP_EMPTY;
    return MPI_SUCCESS;
  }
  *newgroup = new_handle<MPI_Group>(tables().group,
                                    Ref<Group>::adopt(new Group(std::move(members), source.session())));
  if (*newgroup == MPI_GROUP_NULL) return too_many("groups");
  return MPI_SUCCESS;
}

int give(Result<ProcListPtr> members, int error_class, const Group& source, MPI_Group* newgroup) {
  if (!members) return error(error_class, members.error().detail);
  return give(std::move(*members), source, newgroup);
}

/// Two groups of one operation come from one session (section 11.3.2); an empty one may come from nowhere.
const Group& of_two(const Group& group1, const Group& group2) { return group1.session() ? group1 : group2; }

int strangers() { return of_another_session(MPI_ERR_GROUP, "group1", "group2"); }

int null_array(const char* name) {
  return error(MPI_ERR_ARG, std::string(name) + " is NULL, expected an array");
}

std::vector<RankRange> ranges_of(int n, int ranges[][3]) {
  std::vector<RankRange> all;
  for (int i = 0; i < n; ++i) all.push_back({ranges[i][0], ranges[i][1], ranges[i][2]});
  return all;
}

}  // namespace

int Group_size(Group& group, int* size) {
  *size = static_cast<int>(group.size());
  return MPI_SUCCESS;
}

int Group_rank(Group& group, int* rank) {
  const auto found = group.find(self_proc());
  *rank = found ? static_cast<int>(*found) : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int Group_translate_ranks(Group& group1, int n, const int ranks1[], Group& group2, int ranks2[]) {
  if (n > 0 && ranks1 == nullptr) return null_array("ranks1");
  if (n > 0 && ranks2 == nullptr) return null_array("ranks2");
  if (!may_meet(group1, group2)) return strangers();
  for (int i = 0; i < n; ++i) {
    if (ranks1[i] == MPI_PROC_NULL) {
      ranks2[i] = MPI_PROC_NULL;
      continue;
    }
    if (ranks1[i] < 0 || static_cast<std::uint32_t>(ranks1[i]) >= group1.size()) {
      return error(MPI_ERR_RANK, "ranks1[" + std::to_string(i) + "] is " + std::to_string(ranks1[i]) +
                                     ", expected a rank below " + std::to_string(group1.size()) +
                                     " or MPI_PROC_NULL");
    }
    const auto found = group2.find(group1.at(static_cast<std::uint32_t>(ranks1[i])));
    ranks2[i] = found ? static_cast<int>(*found) : MPI_UNDEFINED;
  }
  return MPI_SUCCESS;
}

int Group_compare(Group& group1, Group& group2, int* result) {
  if (!may_meet(group1, group2)) return strangers();
  switch (compare(*group1.members(), *group2.members())) {
    case Likeness::identical: *result = MPI_IDENT; break;
    case Likeness::similar: *result = MPI_SIMILAR; break;
    case Likeness::unequal: *result = MPI_UNEQUAL; break;
  }
  return MPI_SUCCESS;
}

int Group_union(Group& group1, Group& group2, MPI_Group* newgroup) {
  if (!may_meet(group1, group2)) return strangers();
  return give(union_of(group1.members(), group2.members()), of_two(group1, group2), newgroup);
}

int Group_intersection(Group& group1, Group& group2, MPI_Group* newgroup) {
  if (!may_meet(group1, group2)) return strangers();
  return give(intersection_of(group1.members(), group2.members()), of_two(group1, group2), newgroup);
}

int Group_difference(Group& group1, Group& group2, MPI_Group* newgroup) {
  if (!may_meet(group1, group2)) return strangers();
  return give(difference_of(group1.members(), group2.members()), of_two(group1, group2), newgroup);
}

int Group_incl(Group& group, int n, const int ranks[], MPI_Group* newgroup) {
  if (n > 0 && ranks == nullptr) return null_array("ranks");
  return give(include(group.members(), std::span(ranks, static_cast<std::size_t>(n))), MPI_ERR_RANK, group,
              newgroup);
}

int Group_excl(Group& group, int n, const int ranks[], MPI_Group* newgroup) {
  if (n > 0 && ranks == nullptr) return null_array("ranks");
  return give(exclude(group.members(), std::span(ranks, static_cast<std::size_t>(n))), MPI_ERR_RANK, group,
              newgroup);
}

int Group_range_incl(Group& group, int n, int ranges[][3], MPI_Group* newgroup) {
  if (n > 0 && ranges == nullptr) return null_array("ranges");
  return give(include_ranges(group.members(), ranges_of(n, ranges)), MPI_ERR_ARG, group, newgroup);
}

int Group_range_excl(Group& group, int n, int ranges[][3], MPI_Group* newgroup) {
  if (n > 0 && ranges == nullptr) return null_array("ranges");
  return give(exclude_ranges(group.members(), ranges_of(n, ranges)), MPI_ERR_ARG, group, newgroup);
}

int Group_free(MPI_Group* group) {
  Group* const object = find_group(*group);
  if (object == nullptr) return error(MPI_ERR_GROUP, "group is not a live group");
  // MPI_GROUP_EMPTY is what an operation without members gives, so programs free it like any other result.
  if (!object->predefined()) {
    tables().group.remove(object->handle());
    object->drop();
  }
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
