// SPDX-License-Identifier: BSD-3-Clause
// tools/mpiexec/pmi_server: what is answered, and when. Layer: tests.

#include "tests/unit/tools/pmi_server_fixture.hpp"

namespace starling::mpiexec {
namespace {

class ServerTest : public PmiServerTest {
 protected:
  ServerTest() : PmiServerTest(3) {}
  void init_all() {
    for (std::uint32_t rank = 0; rank < 3; ++rank) ask(rank, "cmd=init pmi_version=1 pmi_subversion=1");
  }
};

TEST_F(ServerTest, introduces_itself) {
  EXPECT_EQ(ask(2, "cmd=init pmi_version=1 pmi_subversion=1"),
            (Lines{"2: cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=2 kvsname=job"}));
  EXPECT_EQ(ask(2, "cmd=get_maxes"),
            (Lines{"2: cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024"}));
  EXPECT_EQ(ask(2, "cmd=get_my_kvsname"), (Lines{"2: cmd=my_kvsname rc=0 kvsname=job"}));
  EXPECT_EQ(ask(2, "cmd=get_appnum"), (Lines{"2: cmd=appnum rc=0 appnum=1"}));
  EXPECT_EQ(ask(2, "cmd=get_universe_size"), (Lines{"2: cmd=universe_size rc=0 size=3"}));
  EXPECT_EQ(ask(2, "cmd=get kvsname=job key=PMI_process_mapping"),
            (Lines{"2: cmd=get_result rc=0 found=TRUE value=(vector,(0,1,2),(1,1,1))"}));
}

TEST_F(ServerTest, another_version_is_refused_and_may_be_tried_again) {
  EXPECT_EQ(ask(0, "cmd=init pmi_version=3 pmi_subversion=0"),
            (Lines{"0: cmd=response_to_init rc=-1 pmi_version=1 pmi_subversion=2"}));
  EXPECT_EQ(server.phase(0), Phase::silent);
}

TEST_F(ServerTest, who_claims_to_be_another_rank_is_refused) {
  EXPECT_EQ(ask(0, "cmd=init pmi_version=1 pmi_subversion=1 pmirank=0").size(), 1u);
  ask(1, "cmd=init pmi_version=1 pmi_subversion=1 pmirank=0");
  EXPECT_NE(error.find("started as rank 1 claims to be rank 0, which is another process"), std::string::npos)
      << error;
  EXPECT_EQ(server.phase(1), Phase::silent);
  ask(1, "cmd=init pmi_version=1 pmi_subversion=1 pmirank=3");
  EXPECT_NE(error.find("claims to be rank 3, but the job has 3 ranks"), std::string::npos) << error;
}

TEST_F(ServerTest, a_rank_with_another_setting_is_refused_with_both_values_and_origins) {
  const std::string init = "cmd=init pmi_version=1 pmi_subversion=1 settings=";
  const std::string posix = "shm%09posix%09environment%20STARLING_MCA_shm%0A", usual = "shm%09%09default%0A";
  EXPECT_EQ(ask(1, init + usual).size(), 1u);
  EXPECT_EQ(server.phase(1), Phase::active);
  const Lines refused = ask(2, init + posix);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].find("2: cmd=response_to_init rc=2 pmi_version=1 pmi_subversion=2 msg="), 0u)
      << refused[0];
  EXPECT_NE(pmi::wire::percent_decode(refused[0])
                .find("\n  shm: '' on rank 1 (default), 'posix' on rank 2 (environment STARLING_MCA_shm)"),
            std::string::npos)
      << refused[0];
  EXPECT_EQ(server.phase(2), Phase::silent);
  EXPECT_EQ(ask(0, "cmd=init pmi_version=1 pmi_subversion=1").size(), 1u) << "a client of another make";
  EXPECT_EQ(server.phase(0), Phase::active);
  EXPECT_EQ(ask(2, init + usual)[0].find("2: cmd=response_to_init rc=0"), 0u);
  // The second program of each rank may have others.
  for (const std::uint32_t rank : {1u, 2u}) {
    ask(rank, "cmd=finalize");
    EXPECT_NE(ask(rank, init + posix)[0].find("rc=0"), std::string::npos) << rank;
  }
}

TEST_F(ServerTest, what_is_stored_is_limited) {
  init_all();
  const std::string value(kOwnVallenMax - 1, 'x');
  const std::size_t entries = kKvsBytesMax / (value.size() + 7);
  for (std::size_t number = 0; number < entries; ++number) {
    const std::string key = std::to_string(1'000'000 + number);
    // Values and names count alike.
    const std::string request = number % 2 == 0 ? "cmd=put kvsname=job key=" + key + " value=" + value
                                                : "cmd=publish_name service=" + key + " port=" + value;
    ASSERT_NE(ask(0, request)[0].find("rc=0"), std::string::npos) << number;
  }
  EXPECT_EQ(ask(0, "cmd=put kvsname=job key=k value=" + value),
            (Lines{"0: cmd=put_result rc=1 msg=the_job_stored_more_than_512_MiB"}));
  EXPECT_EQ(ask(0, "cmd=publish_name service=k port=" + value),
            (Lines{"0: cmd=publish_result rc=1 msg=the_job_stored_more_than_512_MiB"}));
  EXPECT_EQ(ask(1, "cmd=get kvsname=job key=1000000"),
            (Lines{"1: cmd=get_result rc=0 found=TRUE value=" + value}));
  // Who takes a name back makes room for another one of the same length.
  EXPECT_EQ(ask(0, "cmd=unpublish_name service=1000001"), (Lines{"0: cmd=unpublish_result rc=0"}));
  EXPECT_EQ(ask(0, "cmd=publish_name service=another port=" + value), (Lines{"0: cmd=publish_result rc=0"}));
}

TEST_F(ServerTest, names_are_limited) {
  init_all();
  const std::string big(kOwnVallenMax, 'x');
  EXPECT_EQ(ask(0, "cmd=publish_name service=s port=" + big),
            (Lines{"0: cmd=publish_result rc=1 msg=name_or_port_too_long"}));
}

TEST_F(ServerTest, stores_values_once) {
  init_all();
  EXPECT_EQ(ask(0, "cmd=put kvsname=job key=k value=v"), (Lines{"0: cmd=put_result rc=0"}));
  EXPECT_EQ(ask(1, "cmd=put kvsname=job key=k value=w"), (Lines{"1: cmd=put_result rc=1 msg=duplicate_key"}));
  EXPECT_EQ(ask(1, "cmd=get kvsname=job key=k"), (Lines{"1: cmd=get_result rc=0 found=TRUE value=v"}));
  EXPECT_EQ(ask(1, "cmd=get kvsname=job key=x"),
            (Lines{"1: cmd=get_result rc=1 msg=key_not_found found=FALSE"}));
  EXPECT_EQ(ask(1, "cmd=get kvsname=jab key=k"),
            (Lines{"1: cmd=get_result rc=1 msg=unknown_kvsname found=FALSE"}));
  EXPECT_EQ(ask(0, "cmd=put kvsname=job key=PMI_x value=v").front().substr(0, 28),
            "0: cmd=put_result rc=1 msg=k");
  EXPECT_EQ(ask(0, "cmd=put kvsname=job key=" + std::string(64, 'k') + " value=v"),
            (Lines{"0: cmd=put_result rc=1 msg=key_too_long"}));
}

TEST_F(ServerTest, says_that_a_value_will_never_come) {
  init_all();
  end(2);
  EXPECT_EQ(ask(0, "cmd=get kvsname=job key=k from=2"),
            (Lines{"0: cmd=get_result rc=1 msg=key_not_found found=FALSE gone=TRUE"}));
  EXPECT_EQ(ask(0, "cmd=get kvsname=job key=k from=1"),
            (Lines{"0: cmd=get_result rc=1 msg=key_not_found found=FALSE"}));
  for (const std::string nobody : {"3", "-1", "4294967296"}) {
    EXPECT_EQ(ask(0, "cmd=get kvsname=job key=k from=" + nobody), Lines{}) << nobody;
    EXPECT_NE(error.find("the field from= must be"), std::string::npos) << error;
  }
}

TEST_F(ServerTest, barrier_releases_everybody_at_the_last_entry) {
  init_all();
  EXPECT_TRUE(ask(0, "cmd=barrier_in").empty());
  EXPECT_TRUE(ask(2, "cmd=barrier_in").empty());
  EXPECT_EQ(server.describe(0), "in a PMI barrier that 2 of 3 ranks entered");
  EXPECT_EQ(ask(1, "cmd=barrier_in"), (Lines{"0: cmd=barrier_out rc=0 tag=0", "1: cmd=barrier_out rc=0 tag=0",
                                             "2: cmd=barrier_out rc=0 tag=0"}));
  EXPECT_EQ(server.describe(0), "after PMI init");
}

TEST_F(ServerTest, fast_rank_may_enter_the_next_barrier_first) {
  init_all();
  ask(0, "cmd=barrier_in");
  ask(0, "cmd=barrier_in");
  ask(1, "cmd=barrier_in");
  EXPECT_EQ(ask(2, "cmd=barrier_in").size(), 3u);
  ask(1, "cmd=barrier_in");
  EXPECT_EQ(ask(2, "cmd=barrier_in").size(), 3u);
}

TEST_F(ServerTest, groups_and_tags_are_apart) {
  init_all();
  EXPECT_TRUE(ask(0, "cmd=barrier_in group=0,2:5").empty());
  EXPECT_TRUE(ask(0, "cmd=barrier_in group=NODE:5").empty());
  EXPECT_EQ(ask(1, "cmd=barrier_in group=NODE:5"),
            (Lines{"0: cmd=barrier_out rc=0 tag=5", "1: cmd=barrier_out rc=0 tag=5"}));
  EXPECT_TRUE(ask(2, "cmd=barrier_in group=2,0:6").empty());
  EXPECT_EQ(ask(2, "cmd=barrier_in group=2,0:5"),
            (Lines{"0: cmd=barrier_out rc=0 tag=5", "2: cmd=barrier_out rc=0 tag=5"}));
  EXPECT_TRUE(ask(0, "cmd=barrier_in group=0-2:8").empty());  // Starling's client writes it so
  EXPECT_TRUE(ask(1, "cmd=barrier_in group=0,1,2:8").empty());
  EXPECT_EQ(ask(2, "cmd=barrier_in group=0-2/1:8").size(), 3u);
  EXPECT_EQ(ask(1, "cmd=barrier_in group=SELF:3"), (Lines{"1: cmd=barrier_out rc=0 tag=3"}));
  EXPECT_TRUE(ask(1, "cmd=barrier_in group=WORLD:9").empty());
}

TEST_F(ServerTest, bad_groups_are_errors) {
  init_all();
  for (const char* group :
       {"0,3:1", "1,2:1", "0,x:1", "0,1:x", "0,1:9999999999", ",:1", "0-3:1", "1-2:1", "2-0:1"}) {
    ask(0, std::string("cmd=barrier_in group=") + group);
    EXPECT_FALSE(error.empty()) << group;
  }
}

TEST_F(ServerTest, finds_who_can_never_be_released) {
  init_all();
  ask(0, "cmd=barrier_in");
  EXPECT_FALSE(server.stuck());
  end(2);
  ASSERT_TRUE(server.stuck());
  EXPECT_EQ(server.stuck()->waiting, 0u);
  EXPECT_EQ(server.stuck()->missing, 2u);
}

TEST_F(ServerTest, an_ended_rank_outside_the_group_holds_nobody) {
  init_all();
  end(2);
  ask(0, "cmd=barrier_in group=0,1:1");
  EXPECT_FALSE(server.stuck());
}

TEST_F(ServerTest, the_last_barrier_of_a_kept_job_is_one_of_the_living) {
  server = PmiServer({"job", 3, 3, NodeMap({{0, 3, 1}}), {0, 0, 0}, true});
  init_all();
  EXPECT_EQ(ask(0, "cmd=barrier_in group=WORLD:7 living=TRUE"), Lines{});
  EXPECT_EQ(ask(1, "cmd=barrier_in group=WORLD:7 living=TRUE"), Lines{});
  EXPECT_EQ(end(2), (Lines{"0: cmd=barrier_out rc=0 tag=7", "1: cmd=barrier_out rc=0 tag=7"}));
  EXPECT_EQ(ask(0, "cmd=barrier_in group=WORLD:8 living=TRUE"), Lines{});
  EXPECT_FALSE(server.stuck());
  EXPECT_EQ(ask(1, "cmd=barrier_in group=WORLD:8 living=TRUE"),
            (Lines{"0: cmd=barrier_out rc=0 tag=8", "1: cmd=barrier_out rc=0 tag=8"}));
  ask(0, "cmd=barrier_in group=WORLD:9");
  EXPECT_TRUE(server.stuck()) << "other barriers are of everybody";
}

TEST_F(ServerTest, nothing_is_left_of_a_barrier_that_has_ended_or_been_left) {
  server = PmiServer({"job", 3, 3, NodeMap({{0, 3, 1}}), {0, 0, 0}, true});
  init_all();
  end(2);
  ask(0, "cmd=barrier_in group=WORLD:7 living=TRUE");
  EXPECT_EQ(ask(1, "cmd=barrier_in group=WORLD:7 living=TRUE").size(), 2u);
  ask(0, "cmd=barrier_in group=WORLD:8 living=TRUE");
  ask(0, "cmd=barrier_leave group=WORLD:8");
  for (const std::string tag : {"7", "8"}) {
    EXPECT_EQ(ask(0, "cmd=barrier_in group=WORLD:" + tag), Lines{});
    EXPECT_TRUE(server.stuck()) << "this one is of everybody";
    ask(0, "cmd=barrier_leave group=WORLD:" + tag);
    EXPECT_FALSE(server.stuck());
  }
}

TEST_F(ServerTest, in_other_jobs_the_last_barrier_is_of_everybody) {
  init_all();
  ask(0, "cmd=barrier_in group=WORLD:7 living=TRUE");
  EXPECT_EQ(end(2), Lines{});
  EXPECT_EQ(ask(1, "cmd=barrier_in group=WORLD:7 living=TRUE"), Lines{});
  EXPECT_TRUE(server.stuck());
}

TEST_F(ServerTest, second_program_of_a_rank_sees_nothing_of_the_first) {
  init_all();
  ask(0, "cmd=put kvsname=job key=k value=v");
  EXPECT_EQ(ask(0, "cmd=finalize"), (Lines{"0: cmd=finalize_ack rc=0"}));
  ask(0, "cmd=put kvsname=job key=l value=v");
  EXPECT_NE(error.find("only cmd=init may follow"), std::string::npos);
  EXPECT_EQ(ask(0, "cmd=init pmi_version=1 pmi_subversion=1"),
            (Lines{"0: cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=2 kvsname=job.1"}));
  EXPECT_EQ(ask(0, "cmd=get kvsname=job.1 key=k"),
            (Lines{"0: cmd=get_result rc=1 msg=key_not_found found=FALSE"}));
  EXPECT_EQ(ask(0, "cmd=put kvsname=job.1 key=k value=w"), (Lines{"0: cmd=put_result rc=0"}));
  EXPECT_EQ(ask(1, "cmd=get kvsname=job key=k"), (Lines{"1: cmd=get_result rc=0 found=TRUE value=v"}));
}

TEST_F(ServerTest, idle_ranks_may_go_on) {
  init_all();
  EXPECT_TRUE(ask(0, "cmd=idle").empty());
  EXPECT_EQ(server.phase(0), Phase::idle);
  EXPECT_TRUE(ask(0, "cmd=busy").empty());
  EXPECT_EQ(server.phase(0), Phase::active);
  ask(0, "cmd=init pmi_version=1 pmi_subversion=1");
  EXPECT_NE(error.find("initialised already"), std::string::npos);
}

TEST_F(ServerTest, names) {
  init_all();
  EXPECT_EQ(ask(0, "cmd=publish_name service=s port=p"), (Lines{"0: cmd=publish_result rc=0"}));
  EXPECT_EQ(ask(1, "cmd=publish_name service=s port=q").front().substr(0, 26), "1: cmd=publish_result rc=1");
  EXPECT_EQ(ask(1, "cmd=lookup_name service=s"), (Lines{"1: cmd=lookup_result rc=0 port=p"}));
  EXPECT_EQ(ask(2, "cmd=unpublish_name service=s"), (Lines{"2: cmd=unpublish_result rc=0"}));
  EXPECT_EQ(ask(1, "cmd=lookup_name service=s").front().substr(0, 25), "1: cmd=lookup_result rc=1");
}

TEST_F(ServerTest, abort_is_passed_on) {
  init_all();
  ask(1, "cmd=abort exitcode=5 message=no%20luck");
  ASSERT_TRUE(aborted);
  EXPECT_EQ(aborted->exit_code, 5);
  EXPECT_EQ(aborted->message, "no luck");
}

TEST_F(ServerTest, protocol_errors_name_the_rule) {
  for (const auto& [text, rule] : std::vector<std::pair<std::string, std::string>>{
           {"cmd=put kvsname=job key=k value=v", "cmd=init must come first"},
           {"cmd=init pmi_version=1", "pmi_subversion= is missing"},
           {"cmd=init pmi_version=x pmi_subversion=1", "must be a whole number"},
           {"cmd=spawn", "the other framing"},
           {"cmd=unheard_of", "there is no such command"},
           {"cmd=abort exitcode=x", "must be a whole number"}}) {
    ask(0, text);
    EXPECT_NE(error.find(rule), std::string::npos) << text << ": " << error;
  }
  init_all();
  ask(0, "cmd=put kvsname=job key= value=v");
  EXPECT_NE(error.find("key= is empty"), std::string::npos) << error;
  ask(0, "cmd=get kvsname=job key=k from=3");
  EXPECT_NE(error.find("from= must be"), std::string::npos) << error;
}

TEST_F(ServerTest, spawn_is_refused_in_order) {
  init_all();
  EXPECT_EQ(ask(0, "mcmd=spawn\nnprocs=1\nexecname=a b\nendcmd").front().substr(0, 24),
            "0: cmd=spawn_result rc=1");
}

}  // namespace
}  // namespace starling::mpiexec
