// SPDX-License-Identifier: BSD-3-Clause
// starling-info: what an MPI program would find here. Layer: tools. See the README beside this file.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "core/standard_descriptors.hpp"
#include "params/nearest.hpp"
#include "tools/starling-info/options.hpp"

namespace starling::info {
namespace {

/// Prints the parameters that were asked for by name; false: one does not exist.
bool print_named(const Context& context, const Wanted& wanted, Printer& printer) {
  bool all_known = true;
  for (const std::string& name : wanted.params) {
    const params::Value* const value = context.params.find(name);
    if (value != nullptr) {
      print_parameter(*value, printer);
      continue;
    }
    std::vector<std::string_view> names;
    for (const params::Value* known : context.params.all()) names.push_back(known->decl.name.view());
    const std::string near = params::nearest(name, names);
    std::cerr << "starling-info: there is no parameter '" << name << "'";
    if (!near.empty()) std::cerr << "; did you mean '" << near << "'?";
    std::cerr << "\n";
    all_known = false;
  }
  return all_known;
}

int report(const Error& error) {
  std::cerr << "starling-info: " << error.text() << "\n";
  return 1;
}

/// Puts --mca where look_around() and a runtime read it, as mpiexec does for its ranks.
Result<void> publish(const std::vector<std::pair<std::string, std::string>>& mca) {
  if (mca.empty()) return {};
  std::vector<params::CommandLineSetting> settings;
  for (const auto& [name, value] : mca) settings.push_back({name, value});
  auto text = params::command_line_value(settings);
  if (!text) return fail(std::move(text).error());
  ::setenv(std::string(params::kCommandLineVariable).c_str(), text->c_str(), 1);
  return {};
}

int show(const Wanted& wanted) {
  if (auto done = publish(wanted.mca); !done) return report(done.error());
  auto context = look_around();
  if (!context) return report(context.error());
  context->planned = wanted.planned;
  if (wanted.params_page) {
    write_parameters_page(context->params, std::cout);
    return context->problems.empty() ? 0 : 1;
  }
  Printer printer(std::cout, wanted.parsable);
  const bool all_known = print_named(*context, wanted, printer);
  for (const Section& section : all_sections()) {
    if (wanted.everything() || wanted.section(section.name)) section.print(*context, printer);
  }
  std::cout.flush();
  for (const std::string& warning : context->warnings)
    std::cerr << "starling-info: warning: " << warning << "\n";
  for (const std::string& problem : context->problems)
    std::cerr << "starling-info: error: " << problem << "\n";
  return all_known && context->problems.empty() ? 0 : 1;
}

int run(const std::vector<std::string>& words) {
  const auto wanted = parse_options(words);
  if (!wanted) return report(wanted.error());
  if (!wanted->help && !wanted->version) return show(*wanted);
  std::cout << (wanted->help ? help_text() : "Starling " STARLING_VERSION "\n");
  return 0;
}

}  // namespace
}  // namespace starling::info

int main(int argc, char** argv) {
  starling::fill_standard_descriptors(starling::Filling::refuses);
  try {
    const int code = starling::info::run({argv + std::min(argc, 1), argv + argc});
    if (std::cout.flush()) return code;
    std::cerr << "starling-info: standard output could not be written whole (a full disk?)\n";
    return 1;
  } catch (const std::exception& thrown) {
    std::cerr << "starling-info: " << thrown.what() << "\n";
    return 1;
  }
}
