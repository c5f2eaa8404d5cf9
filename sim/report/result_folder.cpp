#include "sim/report/result_folder.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sim/core/error.h"

namespace shiftpoint {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::string& content) {
  std::ofstream out(path, std::ios::binary);
  out << content;
  out.close();
  if (!out) throw UserError(path.string() + ": cannot be written (permissions, disk space?)");
}

// Unique beside the target, so that two runs of the same experiment do not meet.
fs::path temporary_beside(const fs::path& target) {
  return target.string() + ".tmp-" + std::to_string(::getpid());
}

fs::path without_trailing_slash(const std::string& dir) {
  fs::path path = fs::path(dir).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

void write_result_folder(const std::string& dir, const std::map<std::string, std::string>& files) {
  const fs::path target = without_trailing_slash(dir);
  const bool exists = fs::exists(target);
  if (exists && (!fs::is_directory(target) ||
                 (!fs::is_empty(target) && !fs::exists(target / "manifest.json")))) {
    throw_bad_input({}, "output.dir", "'" + target.string() + "' exists and is no result folder",
                    "a new folder, an empty one, or an earlier result");
  }
  const fs::path temporary = temporary_beside(target);
  try {
    fs::remove_all(temporary);
    fs::create_directories(temporary);
    for (const auto& [name, content] : files) write_file(temporary / name, content);
    if (exists) fs::remove_all(target);
    fs::rename(temporary, target);
  } catch (const fs::filesystem_error& error) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw UserError(std::string("output.dir: ") + error.what());
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw;
  }
}

void write_files(const std::string& dir, const std::map<std::string, std::string>& files) {
  try {
    fs::create_directories(dir);
    for (const auto& [name, content] : files) {
      const fs::path target = fs::path(dir) / name;
      const fs::path temporary = temporary_beside(target);
      write_file(temporary, content);
      fs::rename(temporary, target);
    }
  } catch (const fs::filesystem_error& error) {
    throw UserError(std::string("output.dir: ") + error.what());
  }
}

bool is_complete_result(const std::string& dir) {
  std::ifstream in(fs::path(dir) / "manifest.json");
  if (!in) return false;
  const auto manifest = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  return manifest.is_object() && manifest.value("complete", false);
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_bad_input({path, 0}, "", "cannot be opened", "a readable file");
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace shiftpoint
