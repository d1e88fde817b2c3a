// SPDX-License-Identifier: BSD-3-Clause
// The system's unwinder, opened when the first exception is thrown. Loading libgcc_s takes a process of a C
// program some 0.1 ms, half of it for a constructor that asks the processor what it is; hardly any process
// throws. The unwinder stays the shared one: an exception of the program's own may pass through our frames.
// Hard: what throws starts at the frame of its caller, which here is one frame more, without a handler; these
// functions must not be noexcept. Linked into each file of Starling's (starling_loads_fast), and seen by that
// file alone. Layer: core. See docs/design/startup.md.

#include <dlfcn.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

struct Unwinder {
  int (*raise)(void*);
  void (*resume)(void*);
  int (*resume_or_rethrow)(void*);
  void (*delete_exception)(void*);
  std::uintptr_t (*ip_info)(void*, int*);
  std::uintptr_t (*language_data)(void*);
  std::uintptr_t (*region_start)(void*);
  std::uintptr_t (*text_base)(void*);
  std::uintptr_t (*data_base)(void*);
  void (*set_register)(void*, int, std::uintptr_t);
  void (*set_ip)(void*, std::uintptr_t);
};

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  void* const found = library == nullptr ? nullptr : ::dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "libgcc_s.so.1 is needed for exceptions: %s\n", ::dlerror());
    std::abort();
  }
  function = reinterpret_cast<Function>(found);
}

Unwinder open_unwinder() {
  void* const library = ::dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
  Unwinder unwinder{};
  look_up(library, "_Unwind_RaiseException", unwinder.raise);
  look_up(library, "_Unwind_Resume", unwinder.resume);
  look_up(library, "_Unwind_Resume_or_Rethrow", unwinder.resume_or_rethrow);
  look_up(library, "_Unwind_DeleteException", unwinder.delete_exception);
  look_up(library, "_Unwind_GetIPInfo", unwinder.ip_info);
  look_up(library, "_Unwind_GetLanguageSpecificData", unwinder.language_data);
  look_up(library, "_Unwind_GetRegionStart", unwinder.region_start);
  look_up(library, "_Unwind_GetTextRelBase", unwinder.text_base);
  look_up(library, "_Unwind_GetDataRelBase", unwinder.data_base);
  look_up(library, "_Unwind_SetGR", unwinder.set_register);
  look_up(library, "_Unwind_SetIP", unwinder.set_ip);
  return unwinder;
}

const Unwinder& unwinder() {
  static const Unwinder opened = open_unwinder();
  return opened;
}

/// Where the address space has a limit, an exception may be the word that it has been reached: no time to map
/// a library.
[[gnu::constructor]] void open_early_where_memory_is_short() {
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) (void)unwinder();
}

}  // namespace

// The names are the compiler's (NOLINT). Types are those of <unwind.h>, which would make the names visible to
// others.
extern "C" {
#pragma GCC visibility push(hidden)
int _Unwind_RaiseException(void* exception) { return unwinder().raise(exception); }
[[noreturn]] void _Unwind_Resume(void* exception) {
  unwinder().resume(exception);
  std::abort();
}
int _Unwind_Resume_or_Rethrow(void* exception) { return unwinder().resume_or_rethrow(exception); }
void _Unwind_DeleteException(void* exception) { unwinder().delete_exception(exception); }
std::uintptr_t _Unwind_GetIPInfo(void* context, int* before) { return unwinder().ip_info(context, before); }
std::uintptr_t _Unwind_GetLanguageSpecificData(void* context) { return unwinder().language_data(context); }
std::uintptr_t _Unwind_GetRegionStart(void* context) { return unwinder().region_start(context); }
std::uintptr_t _Unwind_GetTextRelBase(void* context) { return unwinder().text_base(context); }
std::uintptr_t _Unwind_GetDataRelBase(void* context) { return unwinder().data_base(context); }
void _Unwind_SetGR(void* context, int index, std::uintptr_t value) {
  unwinder().set_register(context, index, value);
}
void _Unwind_SetIP(void* context, std::uintptr_t value) { unwinder().set_ip(context, value); }
#pragma GCC visibility pop
}
