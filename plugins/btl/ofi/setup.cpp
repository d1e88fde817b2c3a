// SPDX-License-Identifier: BSD-3-Clause
// Choosing a provider and opening it. Layer: plugin. Design: docs/design/network.md.

#include "plugins/btl/ofi/setup.hpp"

#include <dirent.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "frameworks/btl/net/descriptors.hpp"
#include "frameworks/btl/net/interfaces.hpp"
#include "frameworks/btl/net/link.hpp"
#include "frameworks/btl/net/use.hpp"
#include "params/excerpt.hpp"
#include "plugins/btl/ofi/params.hpp"

namespace starling::btl::ofi {
namespace {

// In this order, where nothing was set. Those of fabrics only where there is a device: some of them claim to
// work over Ethernet, worse than the sockets' own. tcp needs no ofi_rxm from libfabric 1.18 on; in 1.17 the
// one without it is called net.
constexpr std::array kOfFabrics = {"cxi", "efa", "opx", "psm2", "verbs;ofi_rxm", "psm3"};
constexpr std::array kOfSockets = {"tcp", "net", "tcp;ofi_rxm"};

using Info = std::shared_ptr<fi_info>;

/// `more`: capabilities beside messages.
Info hints_for(const Library& library, const std::string& provider, std::uint64_t more = 0) {
  const Info hints(library.dupinfo(nullptr), library.freeinfo);
  hints->caps = FI_MSG | FI_MULTI_RECV | more;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->av_type = FI_AV_TABLE;
  // Not FI_MR_LOCAL: neither frames nor users' buffers are registered, so providers that insist on it come
  // through ofi_rxm.
  hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  if (!provider.empty()) hints->fabric_attr->prov_name = ::strdup(provider.c_str());
  return hints;
}

/// What one provider offers, at this source address (and port) if there is one; null: nothing.
Info query(const Library& library, const std::string& provider, std::uint64_t more, const std::string& source,
           const char* port = nullptr) {
  const Info hints = hints_for(library, provider, more);
  fi_info* found = nullptr;
  const char* const node = source.empty() ? nullptr : source.c_str();
  const std::uint64_t flags = source.empty() ? 0 : FI_SOURCE | FI_NUMERICHOST;
  if (library.getinfo(library.api(), node, port, flags, hints.get(), &found) != 0) return nullptr;
  const Info all(found, library.freeinfo);
  // Asked for tcp, libfabric may offer tcp under ofi_rxm: that is another provider.
  for (fi_info* info = found; info != nullptr; info = info->next) {
    if (provider == info->fabric_attr->prov_name) return Info(library.dupinfo(info), library.freeinfo);
  }
  return nullptr;
}

std::string available_providers(const Library& library) {
  const Info hints = hints_for(library, {});
  fi_info* found = nullptr;
  if (library.getinfo(library.api(), nullptr, nullptr, 0, hints.get(), &found) != 0) return "none";
  const Info all(found, library.freeinfo);
  std::vector<std::string> names;
  for (fi_info* info = found; info != nullptr; info = info->next) {
    const std::string name = info->fabric_attr->prov_name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// "btl_ofi_provider=foo (environment STARLING_MCA_btl_ofi_provider)".
std::string as_set(const params::Registry& params, const params::Decl& decl) {
  const params::Value* const value = params.find(decl.name.view());
  std::string text = std::string(decl.name.view()) + "=" + params::excerpt(params.text(decl));
  if (value != nullptr) text += " (" + value->origin.text(decl.name.view()) + ")";
  return text;
}

bool holds_entries(const char* path) noexcept {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path), &::closedir);
  if (folder == nullptr) return false;
  while (const dirent* const entry = ::readdir(folder.get())) {
    if (entry->d_name[0] != '.') return true;
  }
  return false;
}

bool has_fabric_device() noexcept {
  return holds_entries("/sys/class/infiniband") || holds_entries("/sys/class/cxi");
}

bool has_ip_address(const fi_info& info) noexcept {
  return info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IN ||
         info.addr_format == FI_SOCKADDR_IN6;
}

/// Whether the provider moves bytes through sockets, itself or below ofi_rxm.
bool of_sockets(const std::string& provider) {
  const std::string lowest = provider.substr(0, provider.find(';'));
  return lowest == "net" || lowest == "tcp" || lowest == "sockets" || lowest == "udp";
}

bool wants_gets(const params::Registry& params, const std::string& provider) {
  return net::decide(params.choice<net::Use>(kOfiGet), !of_sockets(provider));
}

bool wants_remote(const params::Registry& params, const std::string& provider) {
  return net::decide(params.choice<net::Use>(kOfiRemote), !of_sockets(provider));
}

/// What to ask a provider for beside messages, most first: what it lacks is done without.
std::vector<std::uint64_t> wishes(const params::Registry& params, const std::string& provider) {
  const std::uint64_t tagged = wants_gets(params, provider) ? FI_TAGGED : 0;
  const std::uint64_t remote = wants_remote(params, provider) ? FI_RMA : 0;
  std::vector<std::uint64_t> all;
  for (const std::uint64_t wish : {tagged | remote, tagged, std::uint64_t{0}}) {
    if (all.empty() || all.back() != wish) all.push_back(wish);
  }
  return all;
}

/// What libfabric's provider offers of these, at the first of these addresses where it offers anything.
Info first_of(const Library& library, const std::string& provider, const std::vector<std::uint64_t>& wishes,
              const std::vector<std::string>& sources, const char* port = nullptr) {
  for (const std::uint64_t wish : wishes) {
    for (const std::string& source : sources) {
      if (Info info = query(library, provider, wish, source, port)) return info;
    }
  }
  return nullptr;
}

Choice choice_of(const params::Registry& params, Info info, const std::string& provider, std::string place) {
  Choice choice;
  choice.info = std::move(info);
  choice.provider = provider;
  choice.place = std::move(place);
  choice.over_tcp = of_sockets(provider) && provider.rfind("udp", 0) != 0;
  choice.slices_go_on = provider == "net" || provider == "tcp";
  choice.gets = wants_gets(params, provider) && (choice.info->caps & FI_TAGGED) != 0;
  const std::uint64_t format = choice.info->ep_attr->mem_tag_format;
  choice.tag_bits = format == 0 ? 64 : static_cast<unsigned>(std::bit_width(format));
  choice.remote = wants_remote(params, provider) && (choice.info->caps & FI_RMA) != 0;
  if (!choice.gets && wants_gets(params, provider)) {
    choice.note = "no gets (btl_ofi_get): provider " + provider + " has no tagged messages";
  }
  return choice;
}

Unexpected failed(const Library& library, const char* call, int code) {
  return fail(Errc::system, call, library.strerror(-code));
}

/// Providers to try, best first.
std::vector<std::string> candidates(const params::Registry& params) {
  const std::string& wanted = params.text(kOfiProvider);
  if (!wanted.empty()) return {wanted};
  std::vector<std::string> names;
  if (has_fabric_device()) names.assign(kOfFabrics.begin(), kOfFabrics.end());
  names.insert(names.end(), kOfSockets.begin(), kOfSockets.end());
  return names;
}

Unexpected no_provider(const Library& library, const params::Registry& params, const std::string& where) {
  const bool named = !params.text(kOfiProvider).empty();
  return fail(named ? Errc::bad_parameter : Errc::not_found,
              named ? as_set(params, kOfiProvider) : "provider",
              library.name() + " has no such provider for reliable datagrams" +
                  (where.empty() ? "" : " at " + where) + "; available: " + available_providers(library));
}

}  // namespace

Result<Choice> choose(const Library& library, const params::Registry& params) {
  const std::string& wanted_interface = params.text(kOfiInterface);
  auto available = net::interfaces();
  if (!available) return fail(std::move(available).error());
  auto interface = net::choose_interface(*available, wanted_interface);
  if (!interface && !wanted_interface.empty()) {
    return fail(std::move(interface).error().within(as_set(params, kOfiInterface)));
  }
  const std::string source = interface ? interface->address.text() : std::string();
  for (const std::string& name : candidates(params)) {
    Info info =
        first_of(library, name, wishes(params, name),
                 source.empty() ? std::vector<std::string>{{}} : std::vector<std::string>{source, {}});
    // Without the source address a provider of sockets would take the first interface, whichever that is.
    if (info == nullptr || (has_ip_address(*info) && info->src_addr == nullptr)) continue;
    const bool over_ip = has_ip_address(*info);
    const std::string place =
        over_ip && interface ? source + " (" + interface->name + ")" : std::string(info->domain_attr->name);
    return choice_of(params, std::move(info), name, place);
  }
  return no_provider(library, params, source);
}

Result<Choice> choose_at(const Library& library, const params::Registry& params, const Listener& own) {
  const std::string port = std::to_string(own.port);
  for (const std::string& name : candidates(params)) {
    Info info = first_of(library, name, wishes(params, name), {own.host}, port.c_str());
    if (info == nullptr || !has_ip_address(*info) || info->src_addr == nullptr) continue;
    return choice_of(params, std::move(info), name, own.place());
  }
  return no_provider(library, params, own.host + " with IP addresses, as btl_ofi_port_base needs it");
}

Result<void> Fabric::create(const Library& library, fi_info& info) {
  fid_fabric* fabric = nullptr;
  int code = library.fabric(info.fabric_attr, &fabric, nullptr);
  if (code != 0) return failed(library, "fi_fabric", code);
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  code = ::fi_domain(fabric, &info, &domain, nullptr);
  if (code != 0) return failed(library, "fi_domain", code);
  domain_.reset(domain);
  fi_cq_attr queue_attributes{};
  queue_attributes.size = 4096;
  queue_attributes.format = FI_CQ_FORMAT_DATA;
  queue_attributes.wait_obj = FI_WAIT_FD;  // FI_WAIT_UNSPEC gives no descriptor in net
  fid_cq* queue = nullptr;
  code = ::fi_cq_open(domain, &queue_attributes, &queue, nullptr);
  if (code != 0) return failed(library, "fi_cq_open", code);
  queue_.reset(queue);
  if (::fi_control(&queue->fid, FI_GETWAIT, &wait_fd_) != 0) wait_fd_ = -1;
  // net of 1.17 never resets the signal in this descriptor, so that it stays readable after the first
  // completion. Beside the signal it holds the descriptor of all sockets, and that is what tells of messages.
  if (std::string_view(info.fabric_attr->prov_name) == "net") {
    const int sockets = net::inner_epoll(wait_fd_);
    if (sockets >= 0) wait_fd_ = sockets;
  }
  fi_av_attr address_attributes{};
  address_attributes.type = FI_AV_TABLE;
  fid_av* addresses = nullptr;
  code = ::fi_av_open(domain, &address_attributes, &addresses, nullptr);
  if (code != 0) return failed(library, "fi_av_open", code);
  addresses_.reset(addresses);
  return create_endpoint(library, info);
}

Result<void> Fabric::create_endpoint(const Library& library, fi_info& info) {
  fid_ep* endpoint = nullptr;
  int code = ::fi_endpoint(domain_.get(), &info, &endpoint, nullptr);
  if (code != 0) return failed(library, "fi_endpoint", code);
  endpoint_.reset(endpoint);
  code = ::fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV);
  if (code == 0) code = ::fi_ep_bind(endpoint, &addresses_->fid, 0);
  if (code != 0) return failed(library, "fi_ep_bind", code);
  code = ::fi_enable(endpoint);
  if (code != 0) return failed(library, "fi_enable", code);
  // After fi_enable: before it, a provider of 1.17 crashes.
  std::size_t least = net::kFrameMaxBytes;
  code = ::fi_setopt(&endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof(least));
  if (code != 0) return failed(library, "fi_setopt(FI_OPT_MIN_MULTI_RECV)", code);
  return read_name(library);
}

Result<void> Fabric::read_name(const Library& library) {
  std::size_t length = 0;
  (void)::fi_getname(&endpoint_->fid, nullptr, &length);
  name_.resize(length);
  const int code = ::fi_getname(&endpoint_->fid, name_.data(), &length);
  if (code != 0) return failed(library, "fi_getname", code);
  name_.resize(length);
  return {};
}

Result<Fabric> Fabric::open(const Library& library, const Choice& choice) {
  Fabric opened;
  net::DescriptorWatch watch;
  auto made = opened.create(library, *choice.info);
  opened.ports_ = watch.mark();
  if (!made) return fail(std::move(made).error().within(choice.provider));
  return opened;
}

}  // namespace starling::btl::ofi
