// SPDX-License-Identifier: BSD-3-Clause
// tools/mpiexec/pmi_server: what is answered in PMI 2, alone and beside ranks of PMI 1. Layer: tests.

#include "tests/unit/tools/pmi_server_fixture.hpp"

namespace starling::mpiexec {
namespace {

class ServerV2Test : public PmiServerTest {
 protected:
  ServerV2Test() : PmiServerTest(5) {}
  void init(std::uint32_t rank) {
    ask(rank, "cmd=init pmi_version=2 pmi_subversion=0");
    ask(rank, "cmd=fullinit;pmijobid=none;pmirank=" + std::to_string(rank) + ";threaded=FALSE;");
    EXPECT_EQ(error, "");
  }
  void init_all() {
    for (std::uint32_t rank = 0; rank < 3; ++rank) init(rank);
  }
};

TEST_F(ServerV2Test, introduces_itself) {
  EXPECT_EQ(ask(2, "cmd=init pmi_version=2 pmi_subversion=0"),
            (Lines{"2: cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0"}));
  EXPECT_EQ(ask(2, "cmd=fullinit;pmijobid=x;pmirank=2;threaded=TRUE;"),
            (Lines{"2: cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=2;size=3;appnum=1;"
                   "debugged=FALSE;pmiverbose=FALSE;jobid=job;"}));
  EXPECT_EQ(ask(2, "cmd=job-getid;"), (Lines{"2: cmd=job-getid-response;rc=0;jobid=job;"}));
  EXPECT_EQ(ask(2, "cmd=info-getjobattr;key=universeSize;"),
            (Lines{"2: cmd=info-getjobattr-response;rc=0;found=TRUE;value=5;"}));
  EXPECT_EQ(
      ask(2, "cmd=info-getjobattr;key=PMI_process_mapping;thrid=7;"),
      (Lines{"2: cmd=info-getjobattr-response;rc=0;thrid=7;found=TRUE;value=(vector,(0,1,2),(1,1,1));"}));
  EXPECT_EQ(ask(2, "cmd=info-getjobattr;key=else;"),
            (Lines{"2: cmd=info-getjobattr-response;rc=0;found=FALSE;"}));
}

TEST_F(ServerV2Test, who_claims_to_be_another_rank_is_refused) {
  ask(1, "cmd=init pmi_version=2 pmi_subversion=0");
  ask(1, "cmd=fullinit;pmijobid=none;pmirank=0;threaded=FALSE;");
  EXPECT_NE(error.find("started as rank 1 claims to be rank 0, which is another process"), std::string::npos)
      << error;
}

TEST_F(ServerV2Test, a_rank_with_another_setting_is_refused_also_beside_pmi_1) {
  ask(0, "cmd=init pmi_version=1 pmi_subversion=1 settings=pmi%09pmi1%09a%20file%0A");
  EXPECT_EQ(server.phase(0), Phase::active);
  ask(1, "cmd=init pmi_version=2 pmi_subversion=0");
  const Lines refused =
      ask(1, "cmd=fullinit;pmijobid=x;pmirank=1;threaded=FALSE;settings=pmi%09pmi2%09default%0A;");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].find("1: cmd=fullinit-response;rc=2;errmsg="), 0u) << refused[0];
  EXPECT_NE(pmi::wire::percent_decode(refused[0])
                .find("pmi: 'pmi1' on rank 0 (a file), 'pmi2' on rank 1 (default)"),
            std::string::npos)
      << refused[0];
  ask(1, "cmd=kvs-fence;");
  EXPECT_NE(error.find("cmd=init must come first"), std::string::npos) << error;
  // Its next words are an abort, over a connection that tells no settings.
  EXPECT_EQ(ask(1, "cmd=init pmi_version=1 pmi_subversion=1").size(), 1u);
  EXPECT_EQ(error, "");
}

TEST_F(ServerV2Test, attributes_are_limited_with_all_that_is_stored) {
  init_all();
  const std::string value(kOwnVallenMax - 1, 'x');
  const std::size_t entries = kKvsBytesMax / (value.size() + 11);  // the key's first part names the node
  for (std::size_t number = 0; number < entries; ++number) {
    const std::string key = std::to_string(1'000'000 + number);
    ASSERT_NE(ask(0, "cmd=info-putnodeattr;key=" + key + ";value=" + value + ";")[0].find("rc=0"),
              std::string::npos)
        << number;
  }
  const std::string no = "rc=1;errmsg=the_job_stored_more_than_512_MiB;";
  EXPECT_EQ(ask(0, "cmd=info-putnodeattr;key=k;value=" + value + ";"),
            (Lines{"0: cmd=info-putnodeattr-response;" + no}));
  EXPECT_EQ(ask(0, "cmd=kvs-put;key=k;value=" + value + ";"), (Lines{"0: cmd=kvs-put-response;" + no}));
}

TEST_F(ServerV2Test, stores_values_of_any_text) {
  init_all();
  EXPECT_EQ(ask(0, "cmd=kvs-put;key=k;value=a b;;c;"), (Lines{"0: cmd=kvs-put-response;rc=0;"}));
  EXPECT_EQ(ask(1, "cmd=kvs-put;key=k;value=w;"),
            (Lines{"1: cmd=kvs-put-response;rc=1;errmsg=duplicate_key;"}));
  EXPECT_EQ(ask(1, "cmd=kvs-put;key=empty;value=;"), (Lines{"1: cmd=kvs-put-response;rc=0;"}));
  EXPECT_EQ(ask(1, "cmd=kvs-get;jobid=job;srcid=-1;key=k;thrid=t;"),
            (Lines{"1: cmd=kvs-get-response;rc=0;thrid=t;found=TRUE;value=a b;;c;"}));
  EXPECT_EQ(ask(1, "cmd=kvs-get;key=empty;"), (Lines{"1: cmd=kvs-get-response;rc=0;found=TRUE;value=;"}));
  EXPECT_EQ(ask(1, "cmd=kvs-get;jobid=;key=x;"), (Lines{"1: cmd=kvs-get-response;rc=0;found=FALSE;"}));
  EXPECT_EQ(ask(1, "cmd=kvs-get;jobid=other;key=k;"), (Lines{"1: cmd=kvs-get-response;rc=0;found=FALSE;"}));
  EXPECT_EQ(ask(1, "cmd=kvs-put;key=" + std::string(64, 'k') + ";value=v;"),
            (Lines{"1: cmd=kvs-put-response;rc=1;errmsg=key_too_long;"}));
  EXPECT_EQ(ask(1, "cmd=kvs-put;key=l;value=" + std::string(kOwnVallenMax, 'v') + ";"),
            (Lines{"1: cmd=kvs-put-response;rc=1;errmsg=value_too_long;"}));
}

TEST_F(ServerV2Test, a_value_of_semicolons_fits_into_its_frame) {
  init_all();
  const std::string doubled(2 * (kOwnVallenMax - 1), ';');
  EXPECT_EQ(ask(0, "cmd=kvs-put;key=k;value=" + doubled + ";"), (Lines{"0: cmd=kvs-put-response;rc=0;"}));
  EXPECT_EQ(ask(1, "cmd=kvs-get;key=k;"),
            (Lines{"1: cmd=kvs-get-response;rc=0;found=TRUE;value=" + doubled + ";"}));
  EXPECT_EQ(ask(0, "cmd=name-publish;name=n;port=" + doubled + ";"),
            (Lines{"0: cmd=name-publish-response;rc=0;"}));
  EXPECT_EQ(ask(1, "cmd=name-lookup;name=n;").size(), 1u);
}

TEST_F(ServerV2Test, says_that_a_value_will_never_come) {
  init_all();
  end(2);
  EXPECT_EQ(ask(0, "cmd=kvs-get;key=k;from=2;"),
            (Lines{"0: cmd=kvs-get-response;rc=0;found=FALSE;gone=TRUE;"}));
  EXPECT_EQ(ask(0, "cmd=kvs-get;key=k;from=1;"), (Lines{"0: cmd=kvs-get-response;rc=0;found=FALSE;"}));
  for (const std::string nobody : {"3", "-1", "4294967296"}) {
    EXPECT_EQ(ask(0, "cmd=kvs-get;key=k;from=" + nobody + ";"), Lines{}) << nobody;
    EXPECT_NE(error.find("the field from= must be"), std::string::npos) << error;
  }
}

TEST_F(ServerV2Test, a_fence_is_a_barrier) {
  init_all();
  EXPECT_EQ(ask(0, "cmd=kvs-fence;thrid=a;"), Lines{});
  EXPECT_EQ(server.describe(0), "in a PMI barrier that 1 of 3 ranks entered");
  EXPECT_EQ(ask(2, "cmd=kvs-fence;"), Lines{});
  EXPECT_EQ(ask(1, "cmd=kvs-fence;thrid=b;"),
            (Lines{"0: cmd=kvs-fence-response;rc=0;thrid=a;", "1: cmd=kvs-fence-response;rc=0;thrid=b;",
                   "2: cmd=kvs-fence-response;rc=0;"}));
  EXPECT_EQ(ask(0, "cmd=kvs-fence;"), Lines{});
  ask(0, "cmd=kvs-fence;");
  EXPECT_NE(error.find("in a fence already"), std::string::npos) << error;
}

TEST_F(ServerV2Test, the_last_fence_of_a_kept_job_is_one_of_the_living) {
  server = PmiServer({"job", 3, 3, NodeMap({{0, 3, 1}}), {0, 0, 0}, true});
  init_all();
  EXPECT_EQ(ask(0, "cmd=kvs-fence;living=TRUE;"), Lines{});
  EXPECT_EQ(ask(1, "cmd=kvs-fence;living=TRUE;"), Lines{});
  EXPECT_EQ(end(2), (Lines{"0: cmd=kvs-fence-response;rc=0;", "1: cmd=kvs-fence-response;rc=0;"}));
}

TEST_F(ServerV2Test, ranks_of_both_versions_meet) {
  init(0);
  ask(1, "cmd=init pmi_version=1 pmi_subversion=1");
  ask(2, "cmd=init pmi_version=1 pmi_subversion=1");
  ask(0, "cmd=kvs-put;key=plain;value=v;");
  ask(0, "cmd=kvs-put;key=not;value=a b;");
  ask(1, "cmd=put kvsname=job key=semicolon value=a;b");
  EXPECT_EQ(ask(0, "cmd=kvs-fence;"), Lines{});
  EXPECT_EQ(ask(1, "cmd=barrier_in"), Lines{});
  EXPECT_EQ(ask(2, "cmd=barrier_in"),
            (Lines{"0: cmd=kvs-fence-response;rc=0;", "1: cmd=barrier_out rc=0 tag=0",
                   "2: cmd=barrier_out rc=0 tag=0"}));
  EXPECT_EQ(ask(1, "cmd=get kvsname=job key=plain"), (Lines{"1: cmd=get_result rc=0 found=TRUE value=v"}));
  EXPECT_EQ(ask(1, "cmd=get kvsname=job key=not"),
            (Lines{"1: cmd=get_result rc=1 msg=this_value_cannot_be_told_in_PMI_1 found=FALSE"}));
  EXPECT_EQ(ask(0, "cmd=kvs-get;key=semicolon;"),
            (Lines{"0: cmd=kvs-get-response;rc=0;found=TRUE;value=a;;b;"}));
  ask(0, "cmd=name-publish;name=n;port=a b;");
  EXPECT_EQ(ask(1, "cmd=lookup_name service=n"),
            (Lines{"1: cmd=lookup_result rc=1 msg=this_value_cannot_be_told_in_PMI_1"}));
}

TEST_F(ServerV2Test, attributes_of_a_node) {
  init_all();
  EXPECT_EQ(ask(1, "cmd=info-getnodeattr;key=a;wait=FALSE;"),
            (Lines{"1: cmd=info-getnodeattr-response;rc=0;found=FALSE;"}));
  EXPECT_EQ(ask(1, "cmd=info-getnodeattr;key=a;wait=TRUE;thrid=x;"), Lines{});
  EXPECT_EQ(server.describe(1), "waiting for the attribute a of its node");
  EXPECT_EQ(ask(2, "cmd=info-putnodeattr;key=a;value=other;"),
            (Lines{"2: cmd=info-putnodeattr-response;rc=0;"}));
  EXPECT_EQ(ask(0, "cmd=info-putnodeattr;key=a;value=v;"),
            (Lines{"0: cmd=info-putnodeattr-response;rc=0;",
                   "1: cmd=info-getnodeattr-response;rc=0;thrid=x;found=TRUE;value=v;"}));
  EXPECT_EQ(ask(1, "cmd=info-getnodeattr;key=a;wait=TRUE;"),
            (Lines{"1: cmd=info-getnodeattr-response;rc=0;found=TRUE;value=v;"}));
  EXPECT_EQ(ask(1, "cmd=info-putnodeattr;key=a;value=w;"),
            (Lines{"1: cmd=info-putnodeattr-response;rc=1;errmsg=duplicate_key;"}));
  EXPECT_EQ(ask(1, "cmd=info-putnodeattr;key=b;value=" + std::string(kOwnVallenMax, 'x') + ";"),
            (Lines{"1: cmd=info-putnodeattr-response;rc=1;errmsg=value_too_long;"}));
}

TEST_F(ServerV2Test, parked_requests_are_limited_and_forgotten_with_their_rank) {
  init_all();
  for (std::size_t i = 0; i < kParkedMax; ++i)
    EXPECT_EQ(ask(1, "cmd=info-getnodeattr;key=a;wait=TRUE;"), Lines{});
  ask(1, "cmd=info-getnodeattr;key=a;wait=TRUE;");
  EXPECT_NE(error.find("more than 64 requests wait"), std::string::npos) << error;
  end(1);
  EXPECT_EQ(ask(0, "cmd=info-putnodeattr;key=a;value=v;"), (Lines{"0: cmd=info-putnodeattr-response;rc=0;"}));
}

TEST_F(ServerV2Test, second_program_of_a_rank_sees_nothing_of_the_first) {
  init_all();
  ask(0, "cmd=kvs-put;key=k;value=v;");
  ask(0, "cmd=info-putnodeattr;key=k;value=v;");
  ask(0, "cmd=info-getnodeattr;key=l;wait=TRUE;");
  EXPECT_EQ(ask(0, "cmd=finalize;"), (Lines{"0: cmd=finalize-response;rc=0;"}));
  EXPECT_EQ(server.phase(0), Phase::finalized);
  init(0);
  EXPECT_EQ(ask(0, "cmd=job-getid;"), (Lines{"0: cmd=job-getid-response;rc=0;jobid=job.1;"}));
  EXPECT_EQ(ask(0, "cmd=kvs-get;key=k;"), (Lines{"0: cmd=kvs-get-response;rc=0;found=FALSE;"}));
  EXPECT_EQ(ask(0, "cmd=info-getnodeattr;key=k;"),
            (Lines{"0: cmd=info-getnodeattr-response;rc=0;found=FALSE;"}));
  EXPECT_EQ(ask(1, "cmd=info-putnodeattr;key=l;value=v;"), (Lines{"1: cmd=info-putnodeattr-response;rc=0;"}));
}

TEST_F(ServerV2Test, idle_ranks_may_go_on) {
  init_all();
  EXPECT_EQ(ask(0, "cmd=idle;"), Lines{});
  EXPECT_EQ(server.phase(0), Phase::idle);
  EXPECT_EQ(ask(0, "cmd=busy;"), Lines{});
  EXPECT_EQ(server.phase(0), Phase::active);
}

TEST_F(ServerV2Test, names_for_clients_of_both_makes) {
  init_all();
  EXPECT_EQ(ask(0, "cmd=name-publish;name=s;port=p;"), (Lines{"0: cmd=name-publish-response;rc=0;"}));
  EXPECT_EQ(ask(1, "cmd=name-publish;name=s;port=q;"),
            (Lines{"1: cmd=name-publish-response;rc=1;errmsg=this_name_is_published_already;"}));
  EXPECT_EQ(ask(1, "cmd=name-lookup;name=s;"),
            (Lines{"1: cmd=name-lookup-response;rc=0;found=TRUE;port=p;value=p;"}));
  EXPECT_EQ(ask(2, "cmd=name-unpublish;name=s;"), (Lines{"2: cmd=name-unpublish-response;rc=0;"}));
  EXPECT_EQ(ask(2, "cmd=name-unpublish;name=s;"),
            (Lines{"2: cmd=name-unpublish-response;rc=1;errmsg=this_name_is_not_published;"}));
  EXPECT_EQ(ask(1, "cmd=name-lookup;name=s;"),
            (Lines{"1: cmd=name-lookup-response;rc=1;errmsg=this_name_is_not_published;found=FALSE;"}));
}

TEST_F(ServerV2Test, abort_of_both_makes_is_passed_on) {
  init_all();
  ask(1, "cmd=abort;isworld=TRUE;msg=no luck;");
  ASSERT_TRUE(aborted);
  EXPECT_EQ(aborted->exit_code, 1);
  EXPECT_EQ(aborted->message, "no luck");
  ask(1, "cmd=abort;isworld=TRUE;msg=a;exitcode=5;message=b%20c;");
  EXPECT_EQ(aborted->exit_code, 5);
  EXPECT_EQ(aborted->message, "b c");
}

TEST_F(ServerV2Test, other_jobs_are_refused) {
  init_all();
  for (const std::string name : {"spawn", "job-connect", "job-disconnect"}) {
    EXPECT_EQ(ask(0, "cmd=" + name + ";thrid=3;"),
              (Lines{"0: cmd=" + name +
                     "-response;rc=1;errmsg=mpiexec_of_Starling_serves_one_job_alone;thrid=3;"}));
  }
}

TEST_F(ServerV2Test, protocol_errors_name_the_rule) {
  const auto breaks = [&](const std::string& text, const std::string& rule) {
    EXPECT_EQ(ask(0, text), Lines{});
    EXPECT_NE(error.find(rule), std::string::npos) << text << ": " << error;
  };
  breaks("cmd=kvs-fence;", "cmd=init must come first");
  breaks("cmd=init;pmi_version=2;pmi_subversion=0;", "cmd=init must come first, in a line");
  ask(1, "cmd=init pmi_version=1 pmi_subversion=1");
  ask(1, "cmd=kvs-fence;");
  EXPECT_NE(error.find("has chosen PMI 1"), std::string::npos) << error;
  ask(0, "cmd=init pmi_version=2 pmi_subversion=0");
  breaks("cmd=kvs-fence;", "cmd=fullinit must come first");
  breaks("cmd=fullinit;pmijobid=x;threaded=FALSE;", "pmirank= is missing");
  breaks("cmd=fullinit;pmirank=99999999999999999999;", "pmirank= must be");
  breaks("cmd=barrier_in", "has chosen PMI 2");
  ask(0, "cmd=fullinit;pmirank=0;");
  breaks("cmd=fullinit;pmirank=0;", "it has come already");
  breaks("cmd=unheard-of;", "there is no such command");
  breaks("cmd=kvs-put;value=v;", "key= is missing");
  breaks("cmd=kvs-put;key=k;", "value= is missing");
  breaks("cmd=kvs-get;key=;", "key= is empty");
  breaks("cmd=kvs-get;key=k;from=3;", "from= must be");
  breaks("cmd=kvs-fence;group=0,1:3;", "no fences of groups");
  breaks("cmd=info-getnodeattr;key=" + std::string(64, 'k') + ";wait=TRUE;", "too long");
  breaks("cmd=job-getid;thrid=" + std::string(65, 't') + ";", "thrid= is longer than 64");
  breaks("cmd=abort;exitcode=x;", "must be a whole number");
  ask(0, "cmd=finalize;");
  breaks("cmd=kvs-fence;", "only cmd=init may follow");
}

}  // namespace
}  // namespace starling::mpiexec
