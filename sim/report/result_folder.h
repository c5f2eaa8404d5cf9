// The only code that writes files. A result folder appears whole or not at all: everything is
// written to a temporary sibling, which is then renamed.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace shiftpoint {

// Writes `files` (name -> content) as folder `dir`, replacing an earlier result folder of that
// name. A folder that holds anything but what such a run wrote there is not touched: UserError.
void write_result_folder(const std::string& dir, const std::map<std::string, std::string>& files);

// Replaces single files in an existing or new folder, each by rename.
void write_files(const std::string& dir, const std::map<std::string, std::string>& files);

// The revision that made the complete result in `dir`; nothing where there is none, or where a file
// is missing or differs from the checksum in its manifest.
std::optional<std::string> complete_revision(const std::string& dir);

std::string read_text(const std::string& path);  // throws UserError

}  // namespace shiftpoint
