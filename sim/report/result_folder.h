// The only code that writes files. A result folder appears whole or not at all: everything is
// written to a temporary sibling, which is then renamed.
#pragma once

#include <map>
#include <string>

namespace shiftpoint {

// Writes `files` (name -> content) as folder `dir`, replacing an earlier result folder of that
// name. A folder that holds something else (files, but no manifest.json) is not touched: UserError.
void write_result_folder(const std::string& dir, const std::map<std::string, std::string>& files);

// Replaces single files in an existing or new folder, each by rename.
void write_files(const std::string& dir, const std::map<std::string, std::string>& files);

// True if dir/manifest.json says that the run is complete.
bool is_complete_result(const std::string& dir);

std::string read_text(const std::string& path);  // throws UserError

}  // namespace shiftpoint
