// SPDX-License-Identifier: BSD-3-Clause
// Whether a peer can be reached: questions to its port, and what the kernel knows of connections.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "core/clock.hpp"
#include "core/unique_fd.hpp"
#include "frameworks/btl/net/arrivals.hpp"
#include "frameworks/btl/net/connections.hpp"
#include "frameworks/btl/net/doubt.hpp"

namespace starling::test {
namespace {

using btl::net::Doubt;
using testing::HasSubstr;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr params::Decl kOwnTimeout = params::integer("own_timeout", "60", 0, 1000, "For the tests.");
constexpr params::Decl kBootTimeout = params::integer("bootstrap_timeout", "300", 0, 1000, "For the tests.");

/// A port on loopback that listens until it is closed.
struct Port {
  Port() : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    EXPECT_EQ(::listen(socket.get(), 64), 0);
    socklen_t length = sizeof name;
    EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &length), 0);
    number = ntohs(name.sin_port);
    address.resize(sizeof name);
    std::memcpy(address.data(), &name, sizeof name);
  }
  UniqueFd socket;
  std::uint16_t number = 0;
  Bytes address;
};

/// What is found in the end by somebody who looks again and again, a second apart.
Doubt::Verdict after_seconds(Doubt& doubt, const Bytes& port, std::uint64_t seconds, std::uint64_t limit_s) {
  const std::uint64_t begin = now_ns();
  doubt.begin(begin, begin);
  auto verdict = Doubt::Verdict::open;
  for (std::uint64_t i = 0; i <= seconds && verdict == Doubt::Verdict::open; ++i) {
    verdict = doubt.look(begin + i * kSecondNs, port, limit_s * kSecondNs);
    ::poll(nullptr, 0, 5);  // for the answer to come
  }
  return verdict;
}

TEST(NetNotes, each_stands_there_once_and_there_are_sixteen_at_most) {
  btl::Component::Counters counters;
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < 20; ++i) btl::net::note(counters, "note " + std::to_string(i));
  }
  ASSERT_EQ(counters.notes.size(), 16u);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(counters.notes[i], "note " + std::to_string(i));
}

TEST(NetDoubt, who_answers_is_waited_for_without_end) {
  const Port port;
  Doubt doubt;
  EXPECT_EQ(after_seconds(doubt, port.address, 500, 3), Doubt::Verdict::open);
}

TEST(NetDoubt, who_does_not_listen_refuses) {
  Port port;
  port.socket.reset();
  Doubt doubt;
  EXPECT_EQ(after_seconds(doubt, port.address, 1, 100), Doubt::Verdict::refused);
}

TEST(NetDoubt, who_cannot_be_asked_is_given_up_at_the_limit_and_not_before) {
  Doubt doubt;
  EXPECT_EQ(after_seconds(doubt, {}, 9, 10), Doubt::Verdict::open);
  EXPECT_EQ(doubt.look(now_ns() + 11 * kSecondNs, {}, 10 * kSecondNs), Doubt::Verdict::unanswered);
  EXPECT_EQ(doubt.look(now_ns() + 1000 * kSecondNs, {}, 0), Doubt::Verdict::open) << "0 is for ever";
  doubt.settle();
  EXPECT_FALSE(doubt.any());
}

TEST(NetDoubt, a_connection_is_given_up_before_the_creation_that_waits_for_it) {
  const auto connecting = [](const char* own, const char* creation) {
    params::Registry params;
    params::Places places;
    places.environment = {std::string("STARLING_MCA_own_timeout=") + own,
                          std::string("STARLING_MCA_bootstrap_timeout=") + creation};
    EXPECT_TRUE(params.load(places));
    static constexpr std::array kTimeouts = {kOwnTimeout, kBootTimeout};
    EXPECT_TRUE(params.add("test", kTimeouts));
    const auto patience = btl::net::patience_of(params, kOwnTimeout);
    EXPECT_EQ(patience.connected_ns, std::stoull(own) * kSecondNs);
    return patience.connecting_ns / kSecondNs;
  };
  EXPECT_EQ(connecting("60", "300"), 60u);
  EXPECT_EQ(connecting("60", "15"), 12u);
  EXPECT_EQ(connecting("60", "0"), 60u);
  EXPECT_EQ(connecting("0", "15"), 12u);
  EXPECT_EQ(connecting("0", "0"), 0u);
}

TEST(NetDoubt, texts_name_both_ends_and_claim_no_death) {
  Port port;
  const std::string there = "10.1.0.3 (eth0)", here = "10.1.0.1 (eth1)";
  const btl::net::Way way{ProcId{0, 3}, there, here, port.address};
  const std::string listens = btl::net::broken_connection(way, true, kSecondNs).text;
  port.socket.reset();
  const std::string refused = btl::net::broken_connection(way, false, kSecondNs).text;
  const std::string ends =
      "to rank 3 at 10.1.0.3 (eth0) port " + std::to_string(port.number) + " from 10.1.0.1 (eth1)";
  for (const std::string& text : {listens, refused}) {
    EXPECT_THAT(text, HasSubstr(ends));
    EXPECT_THAT(text, HasSubstr("not known to have ended"));
    EXPECT_THAT(text, HasSubstr("a firewall between may"));
  }
  EXPECT_THAT(listens, HasSubstr("somebody still listens there"));
  EXPECT_THAT(refused, HasSubstr("it was refused"));
}

TEST(NetConnections, both_ends_of_a_connection_are_found_and_no_other) {
  const Port port, other;
  const UniqueFd near(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(
      ::connect(near.get(), reinterpret_cast<const sockaddr*>(port.address.data()), sizeof(sockaddr_in)), 0);
  UniqueFd far(::accept4(port.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const auto leads = [&](const btl::net::FarEnd& end) { return end == btl::net::far_end(port.address); };
  const auto found = btl::net::connections(std::array{port.number}, leads);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[0].accepted, found[1].accepted);
  EXPECT_NE(found[0].number, found[1].number);
  const auto& made = found[0].accepted ? found[1] : found[0];
  const auto& accepted = found[0].accepted ? found[0] : found[1];
  EXPECT_TRUE(btl::net::leads_to({&made, 1}, port.address));
  EXPECT_FALSE(btl::net::leads_to({&made, 1}, other.address));
  EXPECT_TRUE(btl::net::leads_to({&accepted, 1}, other.address)) << "of an accepted one the host is known";
  EXPECT_EQ(btl::net::silence(found, port.address), 0u);
  far.reset();
  ::poll(nullptr, 0, 5);
  EXPECT_TRUE(btl::net::connections(std::array{port.number}, leads).empty()) << "half of one is none";
}

}  // namespace
}  // namespace starling::test
