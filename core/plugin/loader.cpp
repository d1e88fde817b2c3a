// SPDX-License-Identifier: BSD-3-Clause
// Boost.DLL, header only. Hard: only its throwing overloads keep what dlerror said. Layer: core.

#define BOOST_DLL_USE_STD_FS

#include "core/plugin/loader.hpp"

#include <boost/dll/shared_library.hpp>
#include <map>
#include <mutex>
#include <string_view>

#include "core/limits.hpp"

namespace starling::plugin {
namespace {

struct Loaded {
  std::mutex mutex;
  std::map<std::string, boost::dll::shared_library> libraries;
};

Loaded& loaded() {
  static Loaded* const instance = new Loaded;  // never destroyed, so nothing is ever unloaded
  return *instance;
}

/// What dlerror said, out of Boost's sentence around it; the whole sentence if it has another form one day.
std::string linker_words(std::string_view thrown) {
  constexpr std::string_view kBefore = "(dlerror system message: ";
  const auto begin = thrown.find(kBefore);
  const auto end = thrown.rfind("): ");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
    return std::string(thrown);
  return std::string(thrown.substr(begin + kBefore.size(), end - begin - kBefore.size()));
}

}  // namespace

Result<const void*> load_symbol(const std::string& file, const char* symbol) {
  Loaded& known = loaded();
  const std::scoped_lock lock(known.mutex);
  try {
    boost::dll::shared_library& library = known.libraries[file];
    if (!library.is_loaded()) {
      library.load(std::filesystem::path(file),
                   boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
    }
    return static_cast<const void*>(&library.get<const char>(symbol));
  } catch (const std::exception& thrown) {
    std::string words = linker_words(thrown.what());
    for (const char* const of_memory : {"failed to map segment", "annot allocate memory"}) {
      if (words.find(of_memory) == std::string::npos) continue;
      words += address_space_note(0);
      break;
    }
    return fail(Errc::not_found, {}, std::move(words));
  }
}

}  // namespace starling::plugin
