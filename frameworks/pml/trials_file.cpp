// SPDX-License-Identifier: BSD-3-Clause
// Reading at the beginning, writing at the end. Layer: framework (pml).
#include "frameworks/pml/trials_file.hpp"

#include <exception>
#include <utility>

#include "core/log.hpp"

namespace starling::pml {

TrialsFile::TrialsFile(std::string path, Findings::Origin origin, bool speaks)
    : path_(std::move(path)), origin_(std::move(origin)), writes_(!path_.empty()) {
  if (path_.empty()) return;
  origin_.machine = Findings::this_machine();
  const Result<void> loaded = findings_.load(path_, origin_);
  if (loaded) {
    note_ = "trials begin with what " + path_ + " has (pml_trials_file)";
  } else if (loaded.error().code != Errc::not_found) {
    note_ = "pml_trials_file is refused: " + loaded.error().text();
    // What another machine has found is not overwritten.
    if (speaks) log::warning(note_);
    writes_ = false;
  }
}

TrialsFile::~TrialsFile() {
  if (!writes_ || !findings_.found_some()) return;
  try {
    const Result<void> saved = findings_.save(path_, origin_);
    if (!saved) log::warning("pml_trials_file: " + saved.error().text());
  } catch (const std::exception& failure) {
    log::warning(failure.what());
  }
}

}  // namespace starling::pml
