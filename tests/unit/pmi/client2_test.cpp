// SPDX-License-Identifier: BSD-3-Clause
// The PMI-2 client against scripted servers of both dialects: what is on the wire, and what happens when a
// server misbehaves. Layer: tests.

#include "plugins/pmi/pmi2/component.hpp"

#include <fcntl.h>

#include <cstdlib>

#include "plugins/pmi/pmi1/component.hpp"
#include "tests/unit/pmi/scripted.hpp"

namespace starling::pmi {
namespace {

const Step kVersion{"cmd=init pmi_version=2 pmi_subversion=0",
                    "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n"};
const Step kEnd{"cmd=finalize;", "cmd=finalize-response;rc=0;"};
const Step kFence{"cmd=kvs-fence;", "cmd=kvs-fence-response;rc=0;"};
const std::string kMarker = "cmd=kvs-get;jobid=kvs_9;srcid=-1;key=starling-fence;thrid=fence;";
const std::string kArrived = "cmd=kvs-get-response;thrid=fence;found=FALSE;rc=0;";

std::vector<Step> hello_of_hydra() {
  return {kVersion,
          {"cmd=fullinit;pmijobid=none;pmirank=1;threaded=FALSE;",
           "cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=1;size=4;appnum=0;debugged=FALSE;"
           "pmiverbose=FALSE;rc=0;"},
          {"cmd=job-getid;", "cmd=job-getid-response;jobid=kvs_9;rc=0;"},
          {"cmd=info-getjobattr;key=universeSize;", "cmd=info-getjobattr-response;found=FALSE;rc=0;"},
          {"cmd=info-getjobattr;key=PMI_process_mapping;",
           "cmd=info-getjobattr-response;found=TRUE;value=(vector,(0,2,2));rc=0;"}};
}

class Client2Test : public ScriptedTest {
 protected:
  std::unique_ptr<Component> connect(std::vector<Step> script, std::vector<Step> more = {}) {
    return connect_by([](const Getenv& get) { return Pmi2::make(get, "a reason", 5); }, std::move(script),
                      std::move(more));
  }
  Deadline soon() { return Deadline::after_seconds(60); }
};

/// Starling's mpiexec.
class OwnServer2 : public Client2Test {
 protected:
  std::unique_ptr<Component> connect(std::vector<Step> script) {
    own_server_ = true;
    return Client2Test::connect({kVersion,
                                 {"cmd=fullinit;pmijobid=none;pmirank=1;threaded=FALSE;",
                                  "cmd=fullinit-response;rc=0;rank=1;size=4;appnum=0;jobid=job;"}},
                                std::move(script));
  }
};

TEST_F(Client2Test, asks_hydra_for_everything) {
  auto client = connect(hello_of_hydra(), {kEnd});
  ASSERT_TRUE(client) << error_.text();
  EXPECT_EQ(client->identity().rank, 1u);
  EXPECT_EQ(client->identity().size, 4u);
  EXPECT_EQ(client->identity().job, "kvs_9");
  EXPECT_EQ(client->identity().appnum, 0u);
  EXPECT_EQ(client->identity().universe_size, 0u);
  EXPECT_EQ(client->identity().nodes.text(), "(vector,(0,2,2))");
  EXPECT_FALSE(client->capabilities().group_fence);
  EXPECT_FALSE(client->capabilities().get_without_fence);
  EXPECT_TRUE(client->capabilities().name_service);
  EXPECT_EQ(client->capabilities().server, "PMI 2.0 (a reason)");
  EXPECT_EQ(client->counters().other, 5u);
  const std::uint32_t ranks[] = {0, 1};
  EXPECT_EQ(client->fence(ranks, "t", soon()).error().code, Errc::unsupported);
  const std::uint32_t self[] = {1};
  EXPECT_TRUE(client->fence(self, "t", soon()));
  client->set_active(false);
}

TEST_F(Client2Test, reads_slurm_s_dialect) {
  left_justified_ = true;
  auto client = connect(
      {{kVersion.expected, "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"},
       {"cmd=fullinit;pmijobid=none;pmirank=1;threaded=FALSE;",
        "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=1;size=4;appnum=-1;debugged=FALSE;"
        "pmiverbose=FALSE;"},
       {"cmd=job-getid;", "cmd=job-getid-response;rc=0;jobid=kvs_9;"},
       {"cmd=info-getjobattr;key=universeSize;", "cmd=info-getjobattr-response;rc=0;found=TRUE;value=4;"},
       // What this server answers to a key that it does not know.
       {"cmd=info-getjobattr;key=PMI_process_mapping;",
        "cmd=info-getjobattr-response;rc=0;found=TRUE;value=(vector,(0,1,2),(1,1,2));"}},
      {{"cmd=name-lookup;name=a%20b;", "cmd=name-lookup-response;rc=0;value=p%3B2;"},
       {"cmd=name-lookup;name=c;", "cmd=name-lookup-response;rc=1;"},
       kEnd});
  ASSERT_TRUE(client) << error_.text();
  EXPECT_EQ(client->identity().appnum, std::nullopt);
  EXPECT_EQ(client->identity().universe_size, 4u);
  EXPECT_EQ(*client->lookup("a b"), "p;2");
  EXPECT_EQ(client->lookup("c").error().code, Errc::not_found);
  client->set_active(false);
}

TEST_F(Client2Test, a_fence_has_ended_when_the_get_after_it_is_answered) {
  // Hydra answers kvs-fence at once. Only the second answer says that everybody has come.
  auto client =
      connect(hello_of_hydra(),
              {kFence,
               {kMarker, ""},
               {"cmd=kvs-put;key=s1:k;value=0.;", framed(kArrived) + framed("cmd=kvs-put-response;rc=0;")}});
  ASSERT_TRUE(client) << error_.text();
  const auto fence = client->fence_enter({}, {}, soon());
  ASSERT_TRUE(fence);
  const Deadline deadline = Deadline::after_ns(50'000'000);
  while (!deadline.passed()) EXPECT_FALSE(*client->fence_left(*fence));
  EXPECT_EQ(client->counters().fences, 1u);
  EXPECT_EQ(client->counters().gets, 1u);
  EXPECT_TRUE(client->put("k", {}));
  EXPECT_TRUE(*client->fence_left(*fence));
}

TEST_F(Client2Test, values_in_pieces_after_a_fence) {
  const std::string value(900, 'x');
  const std::string text = ValueCodec::encode(std::as_bytes(std::span(value)));
  const auto get = [](const std::string& key) {
    return "cmd=kvs-get;jobid=kvs_9;srcid=-1;key=" + key + ";thrid=value;";
  };
  const auto found = [](const std::string& piece) {
    return "cmd=kvs-get-response;thrid=value;found=TRUE;value=" + piece + ";rc=0;";
  };
  auto client =
      connect(hello_of_hydra(),
              {{"cmd=kvs-put;key=s1:a.1;value=" + text.substr(1023) + ";", "cmd=kvs-put-response;rc=0;"},
               {"cmd=kvs-put;key=s1:a;value=" + text.substr(0, 1023) + ";", "cmd=kvs-put-response;rc=0;"},
               kFence,
               {kMarker, kArrived},
               {get("s2:a"), found(text.substr(0, 1023))},
               {get("s2:a.1"), found(text.substr(1023))},
               {get("s3:a"), "cmd=kvs-get-response;thrid=value;found=FALSE;rc=0;"},
               {"cmd=kvs-put;key=s1:b;value=0.;", "cmd=kvs-put-response;rc=1;errmsg=duplicate_key;"}});
  ASSERT_TRUE(client) << error_.text();
  EXPECT_EQ(client->get(2, "a")->found, Found::none) << "Hydra would end the job before a fence";
  EXPECT_TRUE(client->put("a", std::as_bytes(std::span(value))));
  EXPECT_TRUE(client->fence(soon()));
  const auto got = client->get(2, "a");
  ASSERT_TRUE(got && got->found == Found::value);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(got->value.data()), got->value.size()), value);
  EXPECT_EQ(client->get(3, "a")->found, Found::none);
  EXPECT_EQ(client->get(4, "a").error().code, Errc::not_found);
  const auto refused_put = client->put("b", {});
  ASSERT_FALSE(refused_put);
  EXPECT_NE(refused_put.error().detail.find("duplicate_key"), std::string::npos);
}

TEST_F(Client2Test, requests_go_on_while_a_fence_waits) {
  auto client = connect(
      hello_of_hydra(),
      {{"cmd=kvs-fence;", ""},
       {"cmd=name-publish;name=n;port=p;", "cmd=kvs-fence-response;rc=0;"},
       {kMarker, framed("cmd=name-publish-response;rc=0;") + framed(kArrived)},
       {"cmd=kvs-fence;", framed(kFence.answer)},  // the second fence was entered before the first one ended
       {kMarker, kArrived}});
  ASSERT_TRUE(client) << error_.text();
  const auto first = client->fence_enter({}, {}, soon());
  const auto second = client->fence_enter({}, {}, soon());
  ASSERT_TRUE(first && second);
  const auto published = client->publish("n", "p");
  EXPECT_TRUE(published) << published.error().text();
  for (const Fence& fence : {*first, *second}) {
    const Deadline deadline = soon();
    while (!*client->fence_left(fence) && !deadline.passed()) {
    }
    EXPECT_TRUE(*client->fence_left(fence));
  }
}

/// A value and the marker of a fence are asked for; which answer belongs to which?
class TwoGets : public Client2Test {
 protected:
  void answered_by(const std::string& answers) {
    auto client =
        connect(hello_of_hydra(),
                {kFence,
                 {kMarker, kArrived},
                 {"cmd=kvs-fence;", ""},
                 {"cmd=kvs-get;jobid=kvs_9;srcid=-1;key=s2:a;thrid=value;", "cmd=kvs-fence-response;rc=0;"},
                 {kMarker, answers}});
    ASSERT_TRUE(client) << error_.text();
    EXPECT_TRUE(client->fence(soon()));
    const auto fence = client->fence_enter({}, {}, soon());
    ASSERT_TRUE(fence);
    const auto got = client->get(2, "a");
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(got->found, Found::value);
    const Deadline deadline = soon();
    while (!*client->fence_left(*fence) && !deadline.passed()) {
    }
    EXPECT_TRUE(*client->fence_left(*fence));
  }
};
const std::string kValue = ";found=TRUE;value=1.YQ;";

TEST_F(TwoGets, are_told_apart_by_their_thread_in_any_order) {
  answered_by(framed(kArrived) + framed("cmd=kvs-get-response;thrid=value" + kValue));
}

TEST_F(TwoGets, are_told_apart_by_their_order_without_one) {
  answered_by(framed("cmd=kvs-get-response;rc=0" + kValue) +
              framed("cmd=kvs-get-response;rc=0;found=FALSE;"));
}

TEST_F(Client2Test, timed_out_fence_poisons_the_connection) {
  auto client =
      connect(hello_of_hydra(),
              {kFence, {kMarker, ""}, {"cmd=kvs-put;key=s1:k;value=0.;", "cmd=kvs-put-response;rc=0;"}});
  ASSERT_TRUE(client) << error_.text();
  EXPECT_EQ(client->fence(Deadline::after_ns(50'000'000)).error().code, Errc::timed_out);
  const auto later = client->fence_enter({}, {}, soon());
  ASSERT_FALSE(later) << "it would take the answers of the first one for its own";
  EXPECT_NE(later.error().detail.find("an earlier fence timed out"), std::string::npos);
  EXPECT_TRUE(client->put("k", {}));
}

TEST_F(Client2Test, refused_fence_is_an_error) {
  auto client =
      connect(hello_of_hydra(), {{"cmd=kvs-fence;", "cmd=kvs-fence-response;rc=14;errmsg=no_luck;"}});
  ASSERT_TRUE(client) << error_.text();
  const auto fence = client->fence(soon());
  ASSERT_FALSE(fence);
  EXPECT_NE(fence.error().detail.find("no_luck"), std::string::npos) << fence.error().text();
}

TEST_F(Client2Test, abort_is_told_in_both_dialects) {
  auto client =
      connect(hello_of_hydra(), {{"cmd=abort;isworld=TRUE;msg=no%20luck;exitcode=3;message=no%20luck;", ""}});
  ASSERT_TRUE(client) << error_.text();
  client->abort(3, "no luck");
}

TEST_F(Client2Test, who_has_taken_leave_asks_for_nothing_more) {
  auto client = connect(hello_of_hydra(), {kEnd});
  ASSERT_TRUE(client) << error_.text();
  client->set_active(false);
  client->take_leave();
  server_.join();
  client->set_active(true);
  EXPECT_EQ(client->wait_fd(), -1);
  EXPECT_TRUE(client->check()) << "the launcher is not taken for lost";
  EXPECT_EQ(client->put("k", {}).error().code, Errc::peer_lost);
  EXPECT_EQ(client->fence(soon()).error().code, Errc::peer_lost);
  client->set_active(false);
}

TEST_F(OwnServer2, settings_that_differ_from_those_of_another_rank_end_the_search) {
  own_server_ = true;
  const auto make = [](const Getenv& get) { return Pmi2::make(get, "a reason", 60, "pmi\tpmi2\ta file\n"); };
  EXPECT_FALSE(connect_by(make, {kVersion,
                                 {"cmd=fullinit;pmijobid=none;pmirank=1;threaded=FALSE;"
                                  "settings=pmi\tpmi2\ta%20file%0A;",
                                  "cmd=fullinit-response;rc=2;errmsg=pmi:%20pmi2%20here;"}}));
  EXPECT_EQ(error_.code, Errc::bad_parameter);
  EXPECT_NE(error_.detail.find("pmi: pmi2 here"), std::string::npos) << error_.detail;
}

TEST_F(OwnServer2, says_whether_a_value_comes_later_or_never) {
  auto client = connect(
      {{"cmd=kvs-get;jobid=job;key=s2:k;from=2;", "cmd=kvs-get-response;rc=0;found=FALSE;"},
       {"cmd=kvs-get;jobid=job;key=s3:k;from=3;", "cmd=kvs-get-response;rc=0;found=FALSE;gone=TRUE;"}});
  ASSERT_TRUE(client) << error_.text();
  EXPECT_EQ(client->get(2, "k")->found, Found::not_yet);
  EXPECT_EQ(client->get(3, "k")->found, Found::none) << "whoever waits for it would wait for ever";
}

TEST_F(OwnServer2, a_fence_that_ended_before_the_connection_did_is_over) {
  auto client = connect({kFence});
  ASSERT_TRUE(client) << error_.text();
  const auto fence = client->fence_enter({}, {}, soon());
  ASSERT_TRUE(fence);
  server_.join();  // its last words and the end are there together
  const auto left = client->fence_left(*fence);
  ASSERT_TRUE(left) << left.error().text();
  EXPECT_TRUE(*left);
}

TEST_F(Client2Test, server_that_goes_away_is_peer_lost) {
  auto client = connect(hello_of_hydra());
  ASSERT_TRUE(client) << error_.text();
  server_.join();
  EXPECT_EQ(client->check().error().code, Errc::peer_lost);
  EXPECT_EQ(client->fence(soon()).error().code, Errc::peer_lost);
}

TEST_F(Client2Test, wrong_answers_are_refused) {
  for (const auto& [answer, rule] : std::vector<std::pair<std::string, std::string>>{
           {"cmd=maxes rc=0\n", "cmd=response_to_init was expected"},
           {"cmd=response_to_init rc=0\n", "pmi_version= is missing"},
           {"cmd=response_to_init rc=-1 pmi_version=1 pmi_subversion=2\n", "speaks PMI 1, not PMI 2"},
           {"cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n", "speaks PMI 1, not PMI 2"},
           {"cmd=response_to_init rc=0 pmi_version=3 pmi_subversion=0\n", "speaks PMI 3, not PMI 2"},
           {"cmd=response_to_init rc=-1 pmi_version=2 pmi_subversion=0 msg=no%20more\n",
            "refused to take this process as a rank: no more"},
           {"     0", "is no number above 0"},
           {"cmd=response_to_init;rc=0;pmi_version=2;", "cmd=response_to_init was expected"}}) {
    EXPECT_FALSE(connect({{kVersion.expected, answer}})) << answer;
    EXPECT_NE(error_.detail.find(rule), std::string::npos) << error_.text();
    server_.join();
  }
}

TEST_F(Client2Test, wrong_introductions_are_refused) {
  for (const auto& [answer, rule] : std::vector<std::pair<std::string, std::string>>{
           {"cmd=fullinit-response;rc=14;errmsg=who%20is%20this;", "who is this"},
           {"cmd=fullinit-response;rc=0;rank=4;size=4;", "rank= must be"},
           {"cmd=fullinit-response;rc=0;rank=1;size=0;", "size= must be"},
           {"cmd=fullinit-response;rc=0;rank=1;size=99999999999;", "size= must be"},
           {"cmd=kvs-put-response;rc=0;", "cmd=fullinit-response was expected"},
           {"cmd=fullinit-response rc=0 rank=1 size=4\n", "a PMI-2 message was expected"}}) {
    EXPECT_FALSE(connect({kVersion, {"cmd=fullinit;pmijobid=none;pmirank=1;threaded=FALSE;", answer}}))
        << answer;
    EXPECT_NE(error_.detail.find(rule), std::string::npos) << error_.text();
    server_.join();
  }
}

TEST_F(Client2Test, refused_process_keeps_the_proof_that_it_was_launched) {
  bool open = false;
  const auto make = [&](const Getenv& get) {
    auto made = Pmi2::make(get, "a reason", 5);
    open = ::fcntl(std::atoi(get("PMI_FD")), F_GETFD) >= 0;
    return made;
  };
  EXPECT_FALSE(connect_by(make, {{kVersion.expected, "nonsense\n"}}));
  EXPECT_TRUE(open) << "or it would run alone";
}

TEST_F(Client2Test, half_a_frame_is_peer_lost) {
  for (const std::string half : {"    ", "    40cmd=fullinit-response;"}) {
    EXPECT_FALSE(connect({kVersion, {"cmd=fullinit;pmijobid=none;pmirank=1;threaded=FALSE;", half}}));
    EXPECT_EQ(error_.code, Errc::peer_lost);
    server_.join();
  }
}

TEST_F(Client2Test, takes_the_turn_where_pmi_1_is_refused) {
  std::vector<Step> script = hello_of_hydra();
  script.insert(script.begin(), {"cmd=init pmi_version=1 pmi_subversion=1",
                                 "cmd=response_to_init rc=-1 pmi_version=2 pmi_subversion=0\n"});
  const auto make = [](const Getenv& get) {
    auto made = Pmi1::make(get, 5);
    EXPECT_FALSE(made);
    return Pmi2::make(get, "the server refuses PMI 1", 5);
  };
  const auto client = connect_by(make, script);
  ASSERT_TRUE(client) << error_.text();
  EXPECT_EQ(client->identity().size, 4u);
}

}  // namespace
}  // namespace starling::pmi
