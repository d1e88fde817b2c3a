// SPDX-License-Identifier: BSD-3-Clause
// From bytes of a file to a usable plugin or a reason. Hard: nothing in the records is to be trusted before
// magic, size and interfaces fit, and then only text within its field. See docs/design/plugins.md.

#include "frameworks/examine.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "core/plugin/elf.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/params.hpp"
#include "frameworks/btl/btl.hpp"
#include "frameworks/pmi/pmi.hpp"
#include "frameworks/pml/params.hpp"
#include "frameworks/pml/pml.hpp"
#include "frameworks/shm/params.hpp"
#include "frameworks/shm/shm.hpp"
#include "params/decl.hpp"
#include "params/value.hpp"

namespace starling::plugin {
namespace {

constexpr FrameworkInfo kFrameworks[] = {
    {"pmi",
     pmi::Framework::kInterface,
     params::equal_in_job(params::selection(
         "pmi", "",
         "Process managers to try: pmi=a,b only these in this order, pmi=^a all but these. The "
         "first that finds its process manager is used.")),
     {}},
    {"shm", shm::Framework::kInterface,
     params::equal_in_job(params::selection(
         "shm", "",
         "Ways to share memory on a node: shm=a,b only these in this order, shm=^a all but these. "
         "The first that works is used.")),
     shm::kSegmentParams},
    {"btl",
     btl::Framework::kInterface,
     params::equal_everywhere(params::selection(
         "btl", "",
         "Transports that may carry messages: btl=a,b only these, btl=^a all but these. Each peer "
         "is reached by the best that reaches it.")),
     {}},
    {"pml", pml::Framework::kInterface,
     params::equal_everywhere(params::selection(
         "pml", "",
         "Message layers to try: pml=a,b only these in this order, pml=^a all but these. The first "
         "that works is used.")),
     pml::kEngineParams},
    {"bootstrap", bootstrap::Framework::kInterface,
     params::equal_everywhere(
         params::selection("bootstrap", "",
                           "How communicators are agreed on: bootstrap=a,b only these in this order, "
                           "bootstrap=^a all but these. The first that works is used.")),
     bootstrap::kParams},
};

std::string differs(const char* field, std::string_view found, std::string_view wanted) {
  return std::string(field) + " is '" + std::string(found) + "', expected '" + std::string(wanted) + "'";
}
std::string differs(const char* field, std::uint32_t found, std::uint32_t wanted) {
  return std::string(field) + " is " + std::to_string(found) + ", expected " + std::to_string(wanted);
}

std::string hex(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%016" PRIx64, number);
  return text;
}

std::string framework_names() {
  std::string names;
  for (const auto& framework : kFrameworks) names += (names.empty() ? "" : "|") + std::string(framework.name);
  return names;
}

/// What the records say that this build cannot live with; empty: nothing.
std::string misfit(const Descriptor& descriptor) {
  if (descriptor.magic != kMagic)
    return differs("descriptor field magic", hex(descriptor.magic), hex(kMagic));
  if (descriptor.bytes != sizeof(Descriptor)) {
    return differs("descriptor field bytes", descriptor.bytes, sizeof(Descriptor)) + "; rebuild the plugin";
  }
  if (descriptor.core_interface != kCoreInterface) {
    return differs("descriptor field core_interface", descriptor.core_interface, kCoreInterface) +
           "; rebuild the plugin";
  }
  if (descriptor.fingerprint.view() != kFingerprint.view()) {
    return differs("descriptor field fingerprint", descriptor.fingerprint.view(), kFingerprint.view()) +
           "; rebuild the plugin with the compiler of this library";
  }
  const auto framework =
      std::find_if(std::begin(kFrameworks), std::end(kFrameworks),
                   [&](const FrameworkInfo& known) { return known.name == descriptor.framework.view(); });
  if (framework == std::end(kFrameworks)) {
    return differs("descriptor field framework", descriptor.framework.view(), framework_names());
  }
  if (descriptor.framework_interface != framework->interface_number) {
    return differs("descriptor field framework_interface", descriptor.framework_interface,
                   framework->interface_number) +
           " for framework " + std::string(framework->name) + "; rebuild the plugin";
  }
  if (!params::valid_name(descriptor.name.view())) {
    return differs("descriptor field name", descriptor.name.view(), "letters, digits and _");
  }
  return {};
}

/// The name or synonym of `later` that `earlier` has too, or nothing.
std::string_view shared_name(const params::Decl& earlier, const params::Decl& later) {
  for (const std::string_view name : {later.name.view(), later.synonym.view()}) {
    if (!name.empty() && (name == earlier.name.view() || name == earlier.synonym.view())) return name;
  }
  return {};
}

std::string unsound(std::span<const params::Decl> manifest) {
  for (std::size_t i = 0; i < manifest.size(); ++i) {
    if (auto sound = params::check(manifest[i]); !sound) return sound.error().detail;
    for (std::size_t j = 0; j < i; ++j) {
      const std::string_view name = shared_name(manifest[j], manifest[i]);
      if (!name.empty()) return "declares parameter '" + std::string(name) + "' twice";
    }
  }
  return {};
}

/// Names for lists of a file whose records are of no use: `<framework>_<name>.so`.
void name_by_file(Candidate& candidate) {
  std::string_view stem = candidate.file;
  if (const auto slash = stem.rfind('/'); slash != std::string_view::npos) stem.remove_prefix(slash + 1);
  if (stem.ends_with(".so")) stem.remove_suffix(3);
  const auto split = stem.find('_');
  if (split != std::string_view::npos) candidate.framework = stem.substr(0, split);
  candidate.name = split == std::string_view::npos ? stem : stem.substr(split + 1);
}

void judge(Candidate& candidate, const std::string& label) {
  std::string why = misfit(candidate.descriptor);
  if (why.empty() ||
      (candidate.descriptor.magic == kMagic && candidate.descriptor.bytes == sizeof(Descriptor) &&
       params::valid_name(candidate.descriptor.name.view()))) {
    candidate.framework = candidate.descriptor.framework.view();
    candidate.name = candidate.descriptor.name.view();
  }
  if (why.empty()) why = unsound(candidate.manifest);
  if (why.empty()) return;
  candidate.refusal = label + ": " + why;
  candidate.manifest = {};
}

}  // namespace

std::span<const FrameworkInfo> all_frameworks() noexcept { return kFrameworks; }

Examined examine_file(const std::string& file) {
  Examined plugin;
  plugin.candidate.file = file;
  name_by_file(plugin.candidate);
  const auto refuse = [&](const std::string& why) {
    plugin.candidate.refusal = file + ": " + why;
    return std::move(plugin);
  };
  constexpr std::string_view kNames[] = {kDescriptorSection, kParamsSection};
  auto sections = read_sections(file, kNames);
  if (!sections) return refuse(sections.error().text());
  if (!(*sections)[0]) {
    return refuse(std::string("has no section ") + kDescriptorSection + "; it is no Starling plugin");
  }
  const std::vector<std::byte>& record = *(*sections)[0];
  // An older or newer record may have another size; what is there is enough to say so. An empty one has no
  // address.
  if (!record.empty()) {
    std::memcpy(&plugin.candidate.descriptor, record.data(), std::min(record.size(), sizeof(Descriptor)));
  }
  if (record.size() < sizeof(Descriptor)) {
    return refuse(differs("size of section .starling.plugin", static_cast<std::uint32_t>(record.size()),
                          sizeof(Descriptor)) +
                  "; rebuild the plugin");
  }
  if ((*sections)[1]) {
    const std::vector<std::byte>& table = *(*sections)[1];
    if (table.size() % sizeof(params::Decl) != 0) {
      return refuse("size of section .starling.params is " + std::to_string(table.size()) +
                    ", expected a multiple of " + std::to_string(sizeof(params::Decl)) +
                    "; rebuild the plugin, with one parameter array");
    }
    auto manifest = std::make_unique<params::Decl[]>(table.size() / sizeof(params::Decl));
    if (!table.empty()) std::memcpy(manifest.get(), table.data(), table.size());
    plugin.candidate.manifest = {manifest.get(), table.size() / sizeof(params::Decl)};
    plugin.read = std::move(manifest);
  }
  judge(plugin.candidate, file);
  return plugin;
}

Examined examine_builtin(const Exported& exported) {
  Examined plugin;
  plugin.candidate.descriptor = *exported.descriptor;
  plugin.candidate.manifest = {exported.params, exported.param_count};
  judge(plugin.candidate, "linked in");
  return plugin;
}

}  // namespace starling::plugin
