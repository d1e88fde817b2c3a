// SPDX-License-Identifier: BSD-3-Clause
// Boost.DLL, header only. Hard: only its throwing overloads keep what dlerror said. Layer: core.

#define BOOST_DLL_USE_STD_FS

#include "core/shared_library.hpp"

#include <boost/dll/shared_library.hpp>
#include <map>
#include <mutex>
#include <string_view>

#include "core/limits.hpp"

namespace starling {
namespace {

namespace dll = boost::dll;

struct Opened {
  std::mutex mutex;
  std::map<std::string, dll::shared_library> libraries;
};

Opened& opened() {
  static Opened* const instance = new Opened;  // never destroyed, so nothing is ever closed
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

std::string words_of(const std::exception& thrown) {
  std::string words = linker_words(thrown.what());
  for (const char* const of_memory : {"failed to map segment", "annot allocate memory"}) {
    if (words.find(of_memory) == std::string::npos) continue;
    words += address_space_note(0);
    break;
  }
  return words;
}

}  // namespace

Result<SharedLibrary> SharedLibrary::open(const std::string& file) {
  Opened& known = opened();
  const std::scoped_lock lock(known.mutex);
  try {
    dll::shared_library& library = known.libraries[file];
    if (!library.is_loaded()) {
      // A name without a folder is looked for where the system has its libraries, and not in the working
      // directory.
      library.load(std::filesystem::path(file), dll::load_mode::rtld_now | dll::load_mode::rtld_local |
                                                    dll::load_mode::search_system_folders);
    }
    return SharedLibrary(file, &library);
  } catch (const std::exception& thrown) {
    return fail(Errc::unsupported, file, words_of(thrown));
  }
}

Result<void*> SharedLibrary::symbol(const char* name) const {
  try {
    const auto& library = *static_cast<const dll::shared_library*>(opened_);
    return static_cast<void*>(&library.get<char>(name));
  } catch (const std::exception& thrown) {
    return fail(Errc::unsupported, file_, words_of(thrown));
  }
}

Result<void> SharedLibrary::complete() const {
  if (missing_ == nullptr) return {};
  return fail(Errc::unsupported, file_, std::string("has no function ") + missing_ + "; it is too old");
}

}  // namespace starling
