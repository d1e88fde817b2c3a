// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Findings of trials that outlast a job, in a file that a parameter names. Layer: framework (pml).
///
/// Threads: the pml's. Ownership: owns the findings. Errors: a file that is refused or cannot be written is
/// logged, once, and the job goes on without.

#include <string>

#include "frameworks/pml/findings.hpp"

namespace starling::pml {

class TrialsFile {
 public:
  /// `path`: of the file; empty: there is none. Every process that has found something writes it at its end.
  /// `speaks`: this process logs why the file was refused.
  TrialsFile(std::string path, Findings::Origin origin, bool speaks);
  TrialsFile(const TrialsFile&) = delete;
  TrialsFile& operator=(const TrialsFile&) = delete;
  ~TrialsFile();

  [[nodiscard]] Findings& findings() noexcept { return findings_; }
  /// For the report; empty without a file.
  [[nodiscard]] const std::string& note() const noexcept { return note_; }

 private:
  std::string path_;
  Findings::Origin origin_;
  bool writes_;
  Findings findings_;
  std::string note_;
};

}  // namespace starling::pml
