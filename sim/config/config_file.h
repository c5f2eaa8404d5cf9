// One configuration file, read through Boost.Program_options but with the line of every key kept,
// which that library does not report.
#pragma once

#include <string>
#include <vector>

#include "sim/config/bound_option.h"

namespace shiftpoint {

struct FileEntry {
  std::string key;    // "section.name"
  std::string value;  // as written, trimmed
  std::int64_t line = 0;
  std::string comment;  // text after '#' on the same line, trimmed
};

// Reads `path` and refuses unknown keys (naming the nearest known one), repeated keys and lines
// that are neither section, assignment, comment nor blank. Keys of a [sweep] section come back as
// "sweep.KEY" with KEY checked. Values are not yet parsed.
std::vector<FileEntry> read_config_file(const std::string& path,
                                        const std::vector<BoundOption>& known);

// Throws UserError for a key that no option table has.
void require_known(const std::string& key, const std::string& file, std::int64_t line,
                   const std::vector<BoundOption>& known);

const BoundOption* find_option(const std::string& key, const std::vector<BoundOption>& known);

}  // namespace shiftpoint
