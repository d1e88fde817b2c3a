// SPDX-License-Identifier: BSD-3-Clause
// What the network btls share: the choice of an interface, lists of hosts.

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "frameworks/btl/net/hosts.hpp"
#include "frameworks/btl/net/interfaces.hpp"

namespace starling::test {
namespace {

using btl::net::Interface;

Interface make_interface(const char* name, std::uint8_t a, std::uint8_t b, bool loopback = false) {
  Interface made{name, {}, loopback};
  const std::uint8_t bytes[] = {a, b, 0, 1};
  std::copy(std::begin(bytes), std::end(bytes), made.address.bytes);
  return made;
}

const std::vector<Interface> kMachine = {make_interface("lo", 127, 0, true),
                                         make_interface("docker0", 172, 17), make_interface("eth0", 192, 168),
                                         make_interface("ib0", 10, 1)};

std::string chosen(std::string_view wanted, std::span<const Interface> available = kMachine) {
  const auto found = btl::net::choose_interface(available, wanted);
  return found ? found->name : "refused: " + found.error().text();
}

TEST(NetInterface, by_itself_it_avoids_loopback_and_containers) {
  EXPECT_EQ(chosen(""), "eth0");
  EXPECT_EQ(chosen("^eth0"), "ib0");
  EXPECT_EQ(chosen("^eth0,10.0.0.0/8"), "lo");
  EXPECT_EQ(chosen("", std::span(kMachine).first(2)), "lo");
  EXPECT_EQ(chosen("", std::span(kMachine).first(1)), "lo");
}

TEST(NetInterface, names_addresses_and_subnets_are_taken_in_order) {
  EXPECT_EQ(chosen("docker0"), "docker0");
  EXPECT_EQ(chosen("10.1.0.1"), "ib0");
  EXPECT_EQ(chosen("10.1.0.0/16"), "ib0");
  EXPECT_EQ(chosen("10.0.0.0/15"), "ib0");
  EXPECT_EQ(chosen("eth9,ib0,eth0"), "ib0");
}

TEST(NetInterface, what_does_not_exist_is_refused_with_what_does) {
  for (const char* wanted : {"eth9", "10.2.0.0/16", "10.1.0.0/33", "10.1.0.0/", ",", "^"}) {
    const std::string text = chosen(wanted);
    if (std::string_view(wanted) == "^") {
      EXPECT_EQ(text, "eth0");
      continue;
    }
    EXPECT_THAT(text, testing::HasSubstr("refused")) << wanted;
    EXPECT_THAT(text, testing::HasSubstr("eth0 (192.168.0.1)")) << wanted;
  }
  EXPECT_THAT(chosen("", {}), testing::HasSubstr("available: none"));
}

std::string expanded(std::string_view list) {
  const auto hosts = btl::net::expand_hosts(list);
  if (!hosts) return "refused: " + hosts.error().text();
  std::string text;
  for (const std::string& host : *hosts) text += (text.empty() ? "" : " ") + host;
  return text;
}

TEST(NetHosts, brackets_stand_for_several_hosts) {
  EXPECT_EQ(expanded("n1"), "n1");
  EXPECT_EQ(expanded("b,a"), "b a");
  EXPECT_EQ(expanded("10.0.0.[1-3]"), "10.0.0.1 10.0.0.2 10.0.0.3");
  EXPECT_EQ(expanded("r[08-11,20]-ib,x"), "r08-ib r09-ib r10-ib r11-ib r20-ib x");
}

TEST(NetHosts, what_is_no_list_is_refused_with_the_part_that_is_wrong) {
  for (const char* list : {"", "a,,b", "a]", "a[", "a[1-2", "a[]", "a[x]", "a[3-1]", "a[1-2][3]", "a[1,]b[",
                           "a[-1]", "a[0-4294967295]", "a[0-9999999999]"}) {
    EXPECT_THAT(expanded(list), testing::HasSubstr("refused: host list: \"")) << list;
  }
}

TEST(NetHosts, digits_need_no_name_server) {
  EXPECT_EQ(btl::net::resolve("10.1.2.3").value(), "10.1.2.3");
  EXPECT_FALSE(btl::net::resolve("host.invalid"));
}

}  // namespace
}  // namespace starling::test
