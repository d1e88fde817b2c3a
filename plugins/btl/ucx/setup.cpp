// SPDX-License-Identifier: BSD-3-Clause
// Choosing devices and opening UCX. Layer: plugin. Design: docs/design/network.md.

#include "plugins/btl/ucx/setup.hpp"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "frameworks/btl/net/descriptors.hpp"
#include "frameworks/btl/net/interfaces.hpp"
#include "frameworks/btl/net/use.hpp"
#include "params/excerpt.hpp"
#include "plugins/btl/ucx/params.hpp"

namespace starling::btl::ucx {
namespace {

/// Names of RDMA devices with their first port, as UCX wants them.
std::vector<std::string> rdma_devices() {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/sys/class/infiniband"), &::closedir);
  if (folder == nullptr) return names;
  while (const dirent* const entry = ::readdir(folder.get())) {
    if (entry->d_name[0] != '.') names.push_back(std::string(entry->d_name) + ":1");
  }
  return names;
}

bool in_environment(const char* name) { return std::getenv(name) != nullptr; }

/// "btl_ucx_devices=eth7 (environment STARLING_MCA_btl_ucx_devices)".
std::string as_set(const params::Registry& params, const params::Decl& decl) {
  const params::Value* const value = params.find(decl.name.view());
  std::string text = std::string(decl.name.view()) + "=" + params::excerpt(params.text(decl));
  if (value != nullptr) text += " (" + value->origin.text(decl.name.view()) + ")";
  return text;
}

bool uses_tcp(std::string_view tls) { return tls.empty() || tls.find("tcp") != tls.npos || tls == "all"; }

/// Between processes: no other one is reached by "self".
bool only_tcp(std::string_view tls) {
  bool tcp = false;
  while (!tls.empty()) {
    const std::string_view one = tls.substr(0, tls.find(','));
    tls.remove_prefix(std::min(one.size() + 1, tls.size()));
    if (one != "tcp" && one != "self") return false;
    tcp |= one == "tcp";
  }
  return tcp;
}

/// UCX starts a thread; signals are for the program's own threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

Result<Choice> choose(const params::Registry& params) {
  Choice choice;
  choice.tls = params.text(kUcxTls);
  const std::string& wanted = params.text(kUcxDevices);
  const auto rdma = rdma_devices();
  if (choice.tls.empty() && !in_environment("UCX_TLS")) choice.tls = rdma.empty() ? "tcp" : "rc,ud,dc,tcp";
  const char* const in_use = choice.tls.empty() ? std::getenv("UCX_TLS") : choice.tls.c_str();
  choice.over_tcp = in_use != nullptr && only_tcp(in_use);
  const bool adapter = !rdma.empty() && !choice.over_tcp;
  choice.copies = !adapter && !in_environment("UCX_ZCOPY_THRESH");
  choice.remote = net::decide(params.choice<net::Use>(kUcxRemote), adapter);
  choice.gets = net::decide(params.choice<net::Use>(kUcxGet), adapter);
  choice.keeps = net::decide(params.choice<net::Use>(kUcxKeep), false);
  if (wanted.find(':') != std::string::npos && wanted.find('/') == std::string::npos) {
    choice.devices = choice.place = wanted;
    return choice;
  }
  if (wanted.empty() && in_environment("UCX_NET_DEVICES")) {
    choice.place = std::getenv("UCX_NET_DEVICES");
    return choice;
  }
  auto available = net::interfaces();
  if (!available) return fail(std::move(available).error());
  auto chosen = net::choose_interface(*available, wanted);
  if (!chosen) {
    if (!wanted.empty()) return fail(std::move(chosen).error().within(as_set(params, kUcxDevices)));
    return fail(std::move(chosen).error());
  }
  choice.address = chosen->address;
  choice.place = chosen->address.text() + " (" + chosen->name + ")";
  for (const std::string& device : rdma) choice.devices += device + ",";
  if (uses_tcp(choice.tls) || rdma.empty()) choice.devices += chosen->name;
  if (choice.devices.back() == ',') choice.devices.pop_back();
  return choice;
}

std::vector<std::byte> port_of(const Choice& choice, std::span<const std::uint16_t> ports) {
  static_assert(sizeof(sockaddr_in) == kPortBytes);
  std::vector<std::byte> bytes(kPortBytes);
  if (!choice.address || choice.address->v6 || ports.empty() || !choice.over_tcp) return bytes;
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(ports.front());
  std::memcpy(&name.sin_addr, choice.address->bytes, sizeof name.sin_addr);
  std::memcpy(bytes.data(), &name, sizeof name);
  return bytes;
}

std::vector<std::byte> take_port(std::vector<std::byte>& address) {
  const auto end = address.begin() + kPortBytes;
  std::vector<std::byte> port(address.begin(), end);
  address.erase(address.begin(), end);
  const bool known = std::any_of(port.begin(), port.end(), [](std::byte b) { return b != std::byte{}; });
  if (!known) port.clear();
  return port;
}

Result<void> Worker::create_context(const Choice& choice) {
  ucp_config_t* config = nullptr;
  ucs_status_t status = library_->config_read(nullptr, nullptr, &config);
  if (status != UCS_OK) {
    return fail(Errc::bad_parameter, "ucp_config_read",
                std::string(library_->status_text(status)) + "; a variable UCX_... has a bad value");
  }
  const std::unique_ptr<ucp_config_t, void (*)(ucp_config_t*)> owner(config, library_->config_release);
  const auto set = [&](const char* name, const std::string& value, bool always) {
    if (value.empty() || (!always && in_environment((std::string("UCX_") + name).c_str()))) return UCS_OK;
    return library_->config_modify(config, name, value.c_str());
  };
  // Frames are eager; only gets are left to UCX's rendezvous. A whole fragment fits one segment, so it
  // arrives in one piece. UCX would wait in connect() for a host that does not answer, two minutes at a time,
  // and the process with it; with CONN_NB it does not, and watch.cpp says when enough is enough.
  if (!choice.gets) (void)set("RNDV_THRESH", "inf", false);
  // Parameters of UCX's lower layer go by their own names here, and with TCP_ in front in the environment.
  constexpr const char* kTcp[][2] = {{"TX_SEG_SIZE", "72K"}, {"RX_SEG_SIZE", "144K"}, {"CONN_NB", "y"}};
  for (const auto& item : kTcp) {
    if (!in_environment((std::string("UCX_TCP_") + item[0]).c_str())) (void)set(item[0], item[1], true);
  }
  // What UCX's tcp sends without a copy of its own ends this process when the peer dies meanwhile (1.13,
  // assertion in uct_iface.h); so it copies into its buffer, and a frame is gone at once. Where there is an
  // adapter that would cost its bandwidth.
  if (choice.copies) (void)set("ZCOPY_THRESH", "inf", false);
  // The kernel watches tcp connections; UCX's own timer would be a descriptor that children inherit.
  if (choice.tls == "tcp") (void)set("KEEPALIVE_INTERVAL", "inf", false);
  if (set("TLS", choice.tls, true) != UCS_OK || set("NET_DEVICES", choice.devices, true) != UCS_OK) {
    return fail(Errc::bad_parameter, "ucp_config_modify", "UCX refused TLS or NET_DEVICES");
  }
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  if (choice.gets) params.features |= UCP_FEATURE_TAG;
  if (choice.remote) params.features |= UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
  params.name = "starling";
  status = library_->init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context_);
  if (status == UCS_OK) return {};
  const auto shown = [](const std::string& value, const char* variable) {
    return value.empty() ? std::string(variable) + " of the environment" : "\"" + value + "\"";
  };
  return fail(Errc::bad_parameter, "ucp_init",
              std::string(library_->status_text(status)) + "; transports (btl_ucx_tls) " +
                  shown(choice.tls, "UCX_TLS") + ", devices (btl_ucx_devices) " +
                  shown(choice.devices, "UCX_NET_DEVICES") + "; ucx_info -d lists what UCX has here");
}

Result<void> Worker::create(const Choice& choice) {
  if (auto made = create_context(choice); !made) return made;
  ucp_worker_params_t params{};
  // What is kept of a frame begins behind its heads, which are a multiple of 16 bytes.
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  params.am_alignment = alignof(std::max_align_t);
  ucs_status_t status = library_->worker_create(context_, &params, &worker_);
  if (status != UCS_OK) return fail(Errc::system, "ucp_worker_create", library_->status_text(status));
  status = library_->worker_get_efd(worker_, &wait_fd_);
  if (status != UCS_OK) return fail(Errc::system, "ucp_worker_get_efd", library_->status_text(status));
  return {};
}

Result<Worker> Worker::open(const Library& library, const Choice& choice) {
  Worker worker(library);
  const SignalsBlocked blocked;
  net::DescriptorWatch watch;
  auto made = worker.create(choice);
  worker.ports_ = watch.mark();
  if (!made) return fail(std::move(made).error());
  return worker;
}

Worker::Worker(Worker&& other) noexcept
    : library_(other.library_),
      context_(std::exchange(other.context_, nullptr)),
      worker_(std::exchange(other.worker_, nullptr)),
      wait_fd_(std::exchange(other.wait_fd_, -1)),
      ports_(std::move(other.ports_)) {}

Worker::~Worker() {
  if (worker_ != nullptr) library_->worker_destroy(worker_);
  if (context_ != nullptr) library_->cleanup(context_);
}

Result<std::vector<std::byte>> Worker::address() const {
  ucp_worker_attr_t attributes{};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS;
  attributes.address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY;
  const ucs_status_t status = library_->worker_query(worker_, &attributes);
  if (status != UCS_OK) return fail(Errc::system, "ucp_worker_query", library_->status_text(status));
  const auto* const first = reinterpret_cast<const std::byte*>(attributes.address);
  std::vector<std::byte> bytes(first, first + attributes.address_length);
  library_->worker_release_address(worker_, attributes.address);
  return bytes;
}

}  // namespace starling::btl::ucx
