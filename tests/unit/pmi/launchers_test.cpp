// SPDX-License-Identifier: BSD-3-Clause
// frameworks/pmi/launchers: what launchers' variables prove, and for whom. Layer: tests.

#include "frameworks/pmi/launchers.hpp"

#include <gtest/gtest.h>

#include <map>

namespace starling::pmi {
namespace {

using Variables = std::map<std::string, std::string>;

constexpr std::int64_t kRank = 100;   // pid of a rank
constexpr std::int64_t kChild = 200;  // pid of a process that it started

Getenv fake(Variables variables) {
  return [variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

/// What a child of a rank with these variables finds.
Variables inherited(Variables variables) {
  variables[kRankMark] = rank_mark(fake(variables), kRank);
  return variables;
}

TEST(WhyNotAlone, a_plain_shell_may_run_alone) { EXPECT_FALSE(why_not_alone(fake({}), kChild)); }

TEST(WhyNotAlone, several_processes_without_pmi_are_refused_with_the_option) {
  const auto slurm = why_not_alone(fake({{"SLURM_STEP_NUM_TASKS", "4"}}), kChild);
  ASSERT_TRUE(slurm);
  EXPECT_NE(slurm->find("srun --mpi=pmi2"), std::string::npos) << *slurm;
  EXPECT_NE(slurm->find("SLURM_STEP_NUM_TASKS=4"), std::string::npos) << *slurm;
}

TEST(WhyNotAlone, a_size_above_one_of_any_launcher_is_proof) {
  for (const char* size : {"SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE", "FLUX_JOB_SIZE", "PALS_LOCAL_SIZE",
                           "JSM_NAMESPACE_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    const auto reason = why_not_alone(fake({{size, "2"}}), kChild);
    ASSERT_TRUE(reason) << size;
    EXPECT_NE(reason->find(std::string(size) + "=2"), std::string::npos) << *reason;
  }
}

TEST(WhyNotAlone, a_rank_above_zero_of_any_launcher_is_proof) {
  for (const char* rank : {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "FLUX_TASK_RANK", "PALS_RANKID",
                           "JSM_NAMESPACE_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    EXPECT_TRUE(why_not_alone(fake({{rank, "1"}}), kChild)) << rank;
  }
}

TEST(WhyNotAlone, one_process_a_node_is_no_proof_of_being_alone) {
  EXPECT_TRUE(
      why_not_alone(fake({{"PALS_APID", "7"}, {"PALS_RANKID", "0"}, {"PALS_LOCAL_SIZE", "1"}}), kChild));
}

TEST(WhyNotAlone, a_launcher_that_says_no_size_is_refused_unless_another_says_one) {
  const Variables pmix = {{"PMIX_NAMESPACE", "x"}, {"PMIX_RANK", "0"}};
  EXPECT_TRUE(why_not_alone(fake(pmix), kChild));
  for (const char* size : {"SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE"}) {
    Variables one = pmix;
    one[size] = "1";
    EXPECT_FALSE(why_not_alone(fake(one), kChild)) << size;
  }
}

TEST(WhyNotAlone, child_of_a_rank_may_run_alone) {
  EXPECT_FALSE(
      why_not_alone(fake(inherited({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"PMI_FD", "5"}})), kChild));
  EXPECT_FALSE(why_not_alone(fake(inherited({{"PMIX_NAMESPACE", "x"}, {"PMIX_RANK", "2"}})), kChild));
}

TEST(WhyNotAlone, the_name_of_a_job_alone_proves_no_rank) {
  EXPECT_TRUE(why_not_alone(fake({{"OMPI_COMM_WORLD_SIZE", "2"}, {"STARLING_JOB", "j"}}), kChild));
}

TEST(WhyNotAlone, a_launcher_inside_a_rank_is_seen_by_any_change) {
  const Variables rank = inherited({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}, {"OMPI_COMM_WORLD_SIZE", "4"}});
  Variables srun = rank;
  srun["SLURM_STEP_NUM_TASKS"] = "4";
  EXPECT_TRUE(why_not_alone(fake(srun), kChild));
  Variables mpirun = rank;
  mpirun["OMPI_MCA_ess_base_jobid"] = "77";  // the size is the same as before
  EXPECT_TRUE(why_not_alone(fake(mpirun), kChild));
  Variables pmix = rank;
  pmix["PMIX_NAMESPACE"] = "77";
  EXPECT_TRUE(why_not_alone(fake(pmix), kChild));
}

TEST(WhyNotAlone, a_rank_that_called_exec_is_told_so) {
  const auto reason = why_not_alone(fake(inherited({{"PMI_SIZE", "4"}})), kRank);
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("exec()"), std::string::npos) << *reason;
  EXPECT_FALSE(why_not_alone(fake(inherited({{"PMI_SIZE", "1"}, {"PMI_RANK", "0"}})), kRank));
}

TEST(KinshipOf, mark_pid_and_changes_decide) {
  const Variables rank = inherited({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}, {"PMI_FD", "5"}});
  EXPECT_EQ(kinship(fake({{"PMI_RANK", "0"}}), kChild, Manager::pmi), Kinship::none);
  EXPECT_EQ(kinship(fake(rank), kChild, Manager::pmi), Kinship::child);
  EXPECT_EQ(kinship(fake(rank), kRank, Manager::pmi), Kinship::itself);
  for (const char* name :
       {"PMI_FD", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "HYDI_CONTROL_FD", "PMI_PORT"}) {
    Variables changed = rank;
    changed[name] = "9";
    EXPECT_EQ(kinship(fake(changed), kChild, Manager::pmi), Kinship::launched) << name;
  }
  Variables damaged = rank;
  damaged[kRankMark] = "x";
  EXPECT_EQ(kinship(fake(damaged), kChild, Manager::pmi), Kinship::none);
}

TEST(KinshipOf, pmi_and_pmix_are_told_apart) {
  Variables both = inherited({{"PMI_RANK", "0"}, {"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "x"}});
  both["PMIX_NAMESPACE"] = "y";
  EXPECT_EQ(kinship(fake(both), kChild, Manager::pmi), Kinship::child);
  EXPECT_EQ(kinship(fake(both), kChild, Manager::pmix), Kinship::launched);
}

TEST(KinshipOf, only_who_has_no_claim_gets_a_reason) {
  EXPECT_EQ(why_not_served(Kinship::none), nullptr);
  EXPECT_EQ(why_not_served(Kinship::launched), nullptr);
  EXPECT_NE(why_not_served(Kinship::child), nullptr);
  EXPECT_NE(why_not_served(Kinship::itself), nullptr);
}

TEST(OffersPmix, namespace_rank_and_address_make_a_server) {
  Variables variables = {{"PMIX_NAMESPACE", "x"}, {"PMIX_RANK", "0"}};
  EXPECT_FALSE(offers_pmix(fake(variables)));
  variables["PMIX_SERVER_URI41"] = "x.0;tcp4://127.0.0.1:1";
  EXPECT_TRUE(offers_pmix(fake(variables)));
  variables.erase("PMIX_RANK");
  EXPECT_FALSE(offers_pmix(fake(variables)));
}

}  // namespace
}  // namespace starling::pmi
