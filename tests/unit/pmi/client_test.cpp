// SPDX-License-Identifier: BSD-3-Clause
// The PMI-1 client against scripted servers: what is on the wire, and what happens when a server misbehaves.
// Layer: tests.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugins/pmi/pmi1/component.hpp"
#include "plugins/pmi/singleton/component.hpp"
#include "tests/unit/pmi/scripted.hpp"

namespace starling::pmi {
namespace {

std::vector<Step> hello(int subversion) {
  return {{"cmd=init pmi_version=1 pmi_subversion=1",
           "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=" + std::to_string(subversion) + "\n"},
          {"cmd=get_maxes", "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=40\n"},
          {"cmd=get_my_kvsname", "cmd=my_kvsname rc=0 kvsname=kvs_9_0\n"},
          {"cmd=get_universe_size", "cmd=universe_size rc=0 size=4\n"},
          {"cmd=get_appnum", "cmd=appnum rc=0 appnum=0\n"},
          {"cmd=get kvsname=kvs_9_0 key=PMI_process_mapping",
           "cmd=get_result rc=0 found=TRUE value=(vector,(0,2,2))\n"}};
}

class ClientTest : public ScriptedTest {
 protected:
  std::unique_ptr<Component> connect(std::vector<Step> script, std::vector<Step> more = {}) {
    return connect_by([](const Getenv& get) { return Pmi1::make(get, 5); }, std::move(script),
                      std::move(more));
  }
};

/// Starling's mpiexec.
class OwnServer : public ClientTest {
 protected:
  std::unique_ptr<Component> connect(std::vector<Step> script) {
    own_server_ = true;
    script.insert(script.begin(), {"cmd=init pmi_version=1 pmi_subversion=1 pmirank=1",
                                   "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=2 kvsname=job\n"});
    return ClientTest::connect(std::move(script));
  }
};

const Step kFinalize{"cmd=finalize", "cmd=finalize_ack rc=0\n"};

TEST_F(ClientTest, asks_a_1_1_server_for_everything) {
  auto client = connect(hello(1), {kFinalize});
  ASSERT_TRUE(client) << error_.text();
  EXPECT_EQ(client->identity().rank, 1u);
  EXPECT_EQ(client->identity().size, 4u);
  EXPECT_EQ(client->identity().job, "kvs_9_0");
  EXPECT_EQ(client->identity().universe_size, 4u);
  EXPECT_EQ(client->identity().nodes.text(), "(vector,(0,2,2))");
  EXPECT_FALSE(client->capabilities().group_fence);
  EXPECT_FALSE(client->capabilities().get_without_fence);
  const std::uint32_t ranks[] = {0, 1};
  EXPECT_EQ(client->fence(ranks, "t", Deadline::after_seconds(60)).error().code, Errc::unsupported);
  client->set_active(false);
}

TEST_F(ClientTest, splits_values_and_joins_them) {
  const std::string text = "30.VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVy";  // maximum 40: pieces of 39
  auto client = connect(
      hello(1),
      {{"cmd=put kvsname=kvs_9_0 key=s1:address.1 value=" + text.substr(39), "cmd=put_result rc=0\n"},
       {"cmd=put kvsname=kvs_9_0 key=s1:address value=" + text.substr(0, 39), "cmd=put_result rc=0\n"},
       {"cmd=barrier_in", "cmd=barrier_out rc=0\n"},
       {"cmd=get kvsname=kvs_9_0 key=s2:address",
        "cmd=get_result rc=0 found=TRUE value=" + text.substr(0, 39) + "\n"},
       {"cmd=get kvsname=kvs_9_0 key=s2:address.1",
        "cmd=get_result rc=0 found=TRUE value=" + text.substr(39) + "\n"},
       {"cmd=get kvsname=kvs_9_0 key=s3:address", "cmd=get_result rc=-1 msg=no_key value=unknown\n"}});
  ASSERT_TRUE(client) << error_.text();
  const std::string_view value = "The quick brown fox jumps over";
  EXPECT_TRUE(client->put("address", std::as_bytes(std::span(value))));
  EXPECT_TRUE(client->fence(Deadline::after_seconds(60)));
  const auto got = client->get(2, "address");
  ASSERT_TRUE(got && got->found == Found::value);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(got->value.data()), got->value.size()), value);
  EXPECT_EQ(client->get(3, "address")->found, Found::none);
  EXPECT_EQ(client->get(4, "address").error().code, Errc::not_found);
}

TEST_F(ClientTest, keeps_barrier_outs_of_other_tags) {
  // The tags are hashes of the group and the caller's tag: part of the wire format.
  auto client =
      connect(hello(2), {{"cmd=barrier_in group=0,1:2135857200", ""},
                         {"cmd=put kvsname=kvs_9_0 key=s1:k value=0.",
                          "cmd=barrier_out tag=2135857200\ncmd=barrier_out tag=0\ncmd=put_result rc=0\n"},
                         {"cmd=barrier_in", ""},
                         {"cmd=barrier_in group=0,1:2135857200", "cmd=barrier_out tag=2135857200\n"}});
  ASSERT_TRUE(client) << error_.text();
  EXPECT_TRUE(client->capabilities().group_fence);
  const std::uint32_t ranks[] = {0, 1};
  EXPECT_EQ(client->fence(ranks, "t", Deadline::after_ns(1'000'000)).error().code, Errc::timed_out);
  EXPECT_TRUE(client->put("k", {}));                        // its late barrier_out is dropped, the other kept
  EXPECT_TRUE(client->fence(Deadline::after_seconds(60)));  // answered before it was asked
  const auto again = client->fence(ranks, "t", Deadline::after_seconds(60));
  EXPECT_TRUE(again) << again.error().text();
}

/// Reads as Slurm's step daemon does: what one read brings is one command, and what follows it there is lost.
void serve_one_command_a_read(int fd, const std::vector<Step>& script) {
  for (const Step& step : script) {
    ::usleep(50'000);  // it is slow: who does not wait has sent the next command by then
    std::string got(4096, '\0');
    const ssize_t bytes = ::recv(fd, got.data(), got.size(), 0);
    ASSERT_GT(bytes, 0) << "the client closed while this was expected: " << step.expected;
    got.resize(static_cast<std::size_t>(bytes));
    EXPECT_EQ(got, step.expected + "\n");
    ASSERT_EQ(::send(fd, step.answer.data(), step.answer.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(step.answer.size()));
  }
}

TEST_F(ClientTest, commands_beside_a_fence_come_to_the_server_one_at_a_time) {
  int fds[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  const UniqueFd server(fds[1]);
  server_ = std::thread([fd = server.get()] {
    serve(UniqueFd(::dup(fd)), hello(1));
    serve_one_command_a_read(
        fd, {{"cmd=barrier_in", ""},
             {"cmd=publish_name service=a port=b", "cmd=publish_result info=ok\n"},
             {"cmd=lookup_name service=c", "cmd=barrier_out\ncmd=lookup_result info=ok port=d\n"},
             {"cmd=barrier_in", ""},
             {"cmd=finalize", "cmd=finalize_ack\n"}});
  });
  auto client =
      Pmi1::make(fake({{"PMI_FD", std::to_string(fds[0])}, {"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}), 60);
  ASSERT_TRUE(client) << client.error().text();
  const auto fence = (*client)->fence_enter({}, {}, {});
  ASSERT_TRUE(fence);
  EXPECT_TRUE((*client)->publish("a", "b"));
  const auto found = (*client)->lookup("c");
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(*found, "d");
  EXPECT_TRUE((*client)->fence_left(*fence).value());
  EXPECT_TRUE((*client)->fence_enter({}, {}, {}));
  (*client)->take_leave();
  (*client)->take_leave();  // says nothing more
}

TEST_F(ClientTest, group_of_one_never_asks_the_server) {
  auto client = connect(hello(2));
  ASSERT_TRUE(client) << error_.text();
  const std::uint32_t self[] = {1};
  EXPECT_TRUE(client->fence(self, "t", Deadline::after_seconds(60)));
}

TEST_F(ClientTest, timed_out_world_fence_poisons_the_connection) {
  auto client = connect(hello(1), {{"cmd=barrier_in", ""},
                                   {"cmd=put kvsname=kvs_9_0 key=s1:k value=0.", "cmd=put_result rc=0\n"}});
  ASSERT_TRUE(client) << error_.text();
  EXPECT_EQ(client->fence(Deadline::after_ns(1'000'000)).error().code, Errc::timed_out);
  const auto later = client->fence_enter({}, {}, Deadline::after_seconds(60));
  ASSERT_FALSE(later) << "it would take the end of the first one for its own";
  EXPECT_NE(later.error().detail.find("an earlier fence timed out"), std::string::npos);
  EXPECT_TRUE(client->put("k", {}));
}

TEST_F(ClientTest, abort_is_told_after_its_reason_was_read) {
  int sockets[2] = {-1, -1};
  int pipe[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  // A launcher that looks at its processes' sockets before it looks at what they print.
  server_ = std::thread([socket = sockets[1], reader = pipe[0]] {
    UniqueFd server(socket);
    const UniqueFd output(reader);
    UniqueFd hellos(::dup(socket));
    serve(std::move(hellos), hello(1));
    char bytes[64];
    ::usleep(20'000);
    EXPECT_EQ(::recv(server.get(), bytes, sizeof bytes, MSG_DONTWAIT), -1) << "the abort came first";
    EXPECT_EQ(::read(output.get(), bytes, sizeof bytes), 10);
    serve(std::move(server), {{"cmd=abort exitcode=3", ""}});
  });
  auto made =
      Pmi1::make(fake({{"PMI_FD", std::to_string(sockets[0])}, {"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}), 5);
  ASSERT_TRUE(made) << made.error().detail;
  const UniqueFd stderr_before(::dup(STDERR_FILENO));
  ASSERT_EQ(::dup2(pipe[1], STDERR_FILENO), STDERR_FILENO);
  const UniqueFd writer(pipe[1]);
  EXPECT_EQ(::write(STDERR_FILENO, "the reason", 10), 10);
  (*made)->abort(3, "");
  ASSERT_EQ(::dup2(stderr_before.get(), STDERR_FILENO), STDERR_FILENO);
}

TEST_F(ClientTest, who_has_taken_leave_asks_for_nothing_more) {
  auto client = connect(hello(1), {kFinalize});
  ASSERT_TRUE(client) << error_.text();
  client->set_active(false);
  client->take_leave();
  server_.join();  // it has closed the connection, as Hydra does
  client->set_active(true);
  EXPECT_EQ(client->wait_fd(), -1);
  EXPECT_TRUE(client->check()) << "the launcher is not taken for lost";
  EXPECT_EQ(client->put("k", {}).error().code, Errc::peer_lost);
  EXPECT_EQ(client->fence(Deadline::after_seconds(60)).error().code, Errc::peer_lost);
  client->abort(3, "nobody hears it");
  client->set_active(false);
}

TEST_F(ClientTest, server_that_goes_away_is_peer_lost) {
  auto client = connect(hello(1));
  ASSERT_TRUE(client) << error_.text();
  server_.join();
  EXPECT_EQ(client->check().error().code, Errc::peer_lost);
  EXPECT_EQ(client->fence(Deadline::after_seconds(60)).error().code, Errc::peer_lost);
}

TEST_F(ClientTest, wrong_answers_are_refused_with_the_offset) {
  EXPECT_FALSE(connect({{"cmd=init pmi_version=1 pmi_subversion=1", "cmd=maxes rc=0\n"}}));
  EXPECT_NE(error_.detail.find("byte 0"), std::string::npos) << error_.text();
}

TEST_F(ClientTest, a_size_or_rank_in_the_environment_that_makes_no_sense_is_refused) {
  for (const auto& [rank, size] :
       std::vector<std::pair<std::string, std::string>>{{"0", "0"},
                                                        {"0", "-1"},
                                                        {"0", ""},
                                                        {"0", "4x"},
                                                        {"0", "2147483648"},
                                                        {"0", "9999999999"},
                                                        {"0", "00000000004"},
                                                        {"0", "18446744073709551617"},
                                                        {"4", "4"},
                                                        {"-1", "4"},
                                                        {"2147483648", "4"}}) {
    int fds[2] = {-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    const UniqueFd client(fds[0]), server(fds[1]);
    const auto made =
        Pmi1::make(fake({{"PMI_FD", std::to_string(fds[0])}, {"PMI_RANK", rank}, {"PMI_SIZE", size}}), 60);
    ASSERT_FALSE(made) << rank << " of " << size;
    EXPECT_EQ(made.error().code, Errc::bad_input) << made.error().text();
    char byte = 0;
    EXPECT_EQ(::recv(server.get(), &byte, 1, MSG_DONTWAIT), -1) << "nothing was asked of the server";
  }
}

TEST_F(ClientTest, server_that_refuses_this_process_is_an_error) {
  EXPECT_FALSE(connect({{"cmd=init pmi_version=1 pmi_subversion=1",
                         "cmd=response_to_init rc=-1 pmi_version=1 pmi_subversion=1 msg=no%20more\n"}}));
  EXPECT_EQ(error_.code, Errc::system);
  EXPECT_NE(error_.detail.find("no more"), std::string::npos) << error_.detail;
}

TEST_F(ClientTest, maxima_that_make_no_sense_are_refused) {
  for (const std::string maxima :
       {"keylen_max=0 vallen_max=40", "keylen_max=-1 vallen_max=40", "keylen_max=64",
        "keylen_max=64 vallen_max=0", "keylen_max=64 vallen_max=-1", "keylen_max=2147483648 vallen_max=40",
        "keylen_max=64 vallen_max=2147483648"}) {
    EXPECT_FALSE(connect({{"cmd=init pmi_version=1 pmi_subversion=1",
                           "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n"},
                          {"cmd=get_maxes", "cmd=maxes rc=0 kvsname_max=256 " + maxima + "\n"}}))
        << maxima;
    EXPECT_EQ(error_.code, Errc::bad_input) << error_.text();
    server_.join();
  }
}

TEST_F(ClientTest, a_fence_with_a_tag_that_is_none_is_an_error) {
  for (const std::string tag : {"-1", "2147483648", "4294967296", "x"}) {
    auto client = connect(hello(1), {{"cmd=barrier_in", "cmd=barrier_out tag=" + tag + "\n"}});
    ASSERT_TRUE(client) << error_.text();
    EXPECT_EQ(client->fence(Deadline::after_seconds(60)).error().code, Errc::bad_input) << tag;
    server_.join();
  }
}

TEST_F(ClientTest, server_of_another_version_is_left_to_another_client) {
  Errc code{};
  bool open = false;
  const auto make = [&](const Getenv& get) {
    auto made = Pmi1::make(get, 5);
    if (!made) code = made.error().code;
    open = ::fcntl(std::atoi(get("PMI_FD")), F_GETFD) >= 0;
    return made;
  };
  EXPECT_FALSE(connect_by(make, {{"cmd=init pmi_version=1 pmi_subversion=1",
                                  "cmd=response_to_init rc=-1 pmi_version=2 pmi_subversion=0\n"}}));
  EXPECT_EQ(code, Errc::unsupported);
  EXPECT_TRUE(open) << "pmi/pmi2 needs the connection";
}

TEST_F(OwnServer, settings_that_differ_from_those_of_another_rank_end_the_search) {
  own_server_ = true;
  const auto make = [](const Getenv& get) { return Pmi1::make(get, 60, "shm\tposix\ta file\n"); };
  EXPECT_FALSE(connect_by(make, {{"cmd=init pmi_version=1 pmi_subversion=1 pmirank=1 "
                                  "settings=shm\tposix\ta%20file%0A",
                                  "cmd=response_to_init rc=2 pmi_version=1 pmi_subversion=2 "
                                  "msg=shm:%20posix%20here\n"}}));
  EXPECT_EQ(error_.code, Errc::bad_parameter) << "no other client is asked";
  EXPECT_NE(error_.detail.find("shm: posix here"), std::string::npos) << error_.detail;
}

TEST_F(ClientTest, settings_are_not_told_to_foreign_servers) {
  const auto make = [](const Getenv& get) { return Pmi1::make(get, 60, "shm\tposix\ta file\n"); };
  EXPECT_TRUE(connect_by(make, hello(1))) << error_.text();
}

TEST_F(OwnServer, says_whether_a_value_comes_later_or_never) {
  const std::string none = "cmd=get_result rc=1 msg=key_not_found found=FALSE";
  auto client = connect({{"cmd=get kvsname=job key=s2:k from=2", none + "\n"},
                         {"cmd=get kvsname=job key=s3:k from=3", none + " gone=TRUE\n"}});
  ASSERT_TRUE(client) << error_.text();
  EXPECT_TRUE(client->capabilities().get_without_fence);
  EXPECT_EQ(client->get(2, "k")->found, Found::not_yet);
  EXPECT_EQ(client->get(3, "k")->found, Found::none) << "whoever waits for it would wait for ever";
  EXPECT_EQ(client->counters().early_gets, 1u);
}

TEST_F(OwnServer, a_fence_costs_the_same_for_any_number_of_neighbours) {
  size_ = 2001;
  auto client = connect({{"cmd=barrier_in group=1-999:1633978773", "cmd=barrier_out tag=1633978773\n"},
                         {"cmd=barrier_in group=1-1999:1523308425", "cmd=barrier_out tag=1523308425\n"},
                         {"cmd=barrier_in group=1-1999/2:1435665533", "cmd=barrier_out tag=1435665533\n"}});
  ASSERT_TRUE(client) << error_.text();
  const auto bytes_of_fence = [&](std::uint32_t end, std::uint32_t step) {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 1; rank < end; rank += step) ranks.push_back(rank);
    const std::uint64_t before = client->counters().bytes_sent;
    EXPECT_TRUE(client->fence(ranks, "t", Deadline::after_seconds(60)));
    return client->counters().bytes_sent - before;
  };
  EXPECT_EQ(bytes_of_fence(1000, 1), 38u);
  EXPECT_EQ(bytes_of_fence(2000, 1), 39u);
  EXPECT_EQ(bytes_of_fence(2000, 2), 41u);
}

TEST_F(OwnServer, a_fence_that_ended_while_it_was_given_up_is_not_the_next_one) {
  const std::string group = "group=0,1:2135857200";
  auto client =
      connect({{"cmd=barrier_in " + group, ""},
               {"cmd=barrier_leave " + group, "cmd=barrier_out tag=2135857200\ncmd=barrier_left rc=0\n"},
               {"cmd=barrier_in " + group, ""},
               {"cmd=put kvsname=job key=s1:k value=0.", "cmd=put_result rc=0\n"}});
  ASSERT_TRUE(client) << error_.text();
  const std::uint32_t ranks[] = {0, 1};
  const auto given_up = client->fence_enter(ranks, "t", Deadline::after_seconds(60));
  ASSERT_TRUE(given_up);
  client->fence_abandon(*given_up);
  const auto next = client->fence_enter(ranks, "t", Deadline::after_seconds(60));
  ASSERT_TRUE(next);
  const auto left = client->fence_left(*next);
  ASSERT_TRUE(left) << left.error().text();
  EXPECT_FALSE(*left);
  EXPECT_TRUE(client->put("k", {}));
}

TEST_F(OwnServer, a_fence_that_ended_before_the_connection_did_is_over) {
  auto client = connect({{"cmd=barrier_in", "cmd=barrier_out rc=0\n"}});
  ASSERT_TRUE(client) << error_.text();
  const auto fence = client->fence_enter({}, {}, Deadline::after_seconds(60));
  ASSERT_TRUE(fence);
  server_.join();  // its last words and the end are there together
  const auto left = client->fence_left(*fence);
  ASSERT_TRUE(left) << left.error().text();
  EXPECT_TRUE(*left);
  EXPECT_EQ(client->check().error().code, Errc::peer_lost);
}

TEST(ClientTcp, rank_and_size_come_with_the_acknowledgement) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  socklen_t bytes = sizeof address;
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  std::thread server([&] {
    std::vector<Step> script = hello(1);
    script.insert(script.begin(), {"cmd=initack pmiid=2",
                                   "cmd=initack rc=0\ncmd=set size=4\ncmd=set rank=2\ncmd=set debug=0\n"});
    serve(UniqueFd(::accept(listener.get(), nullptr, nullptr)), script);
  });
  const auto client = Pmi1::make(
      fake({{"PMI_PORT", "127.0.0.1:" + std::to_string(ntohs(address.sin_port))}, {"PMI_ID", "2"}}), 5);
  ASSERT_TRUE(client) << client.error().text();
  EXPECT_EQ((*client)->identity().rank, 2u);
  EXPECT_EQ((*client)->identity().size, 4u);
  server.join();
}

TEST(SingletonTest, is_rank_zero_of_one_with_a_name_of_its_own) {
  auto one = Singleton::make(fake({}), false);
  auto two = Singleton::make(fake({}), false);
  ASSERT_TRUE(one && two);
  EXPECT_EQ((*one)->identity().size, 1u);
  EXPECT_NE((*one)->identity().job, (*two)->identity().job);
  EXPECT_EQ((*one)->get(0, "k")->found, Found::not_yet);
  const std::byte value[] = {std::byte{1}};
  EXPECT_TRUE((*one)->put("k", value));
  EXPECT_EQ((*one)->get(0, "k")->value, (std::vector<std::byte>{std::byte{1}}));
  EXPECT_FALSE((*one)->get(1, "k"));
}

TEST(SingletonTest, is_refused_under_a_launcher_unless_asked_for) {
  EXPECT_FALSE(Singleton::make(fake({{"SLURM_STEP_NUM_TASKS", "2"}}), false));
  EXPECT_TRUE(Singleton::make(fake({{"SLURM_STEP_NUM_TASKS", "2"}}), true));
}

}  // namespace
}  // namespace starling::pmi
