#include "sim/report/result_folder.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sim/config/input_file.h"
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

// Through a link to the folder itself, and without a trailing slash.
fs::path resolved(const std::string& dir) {
  const fs::path path = fs::weakly_canonical(dir);
  return path.has_filename() ? path : path.parent_path();
}

nlohmann::json manifest_of(const fs::path& dir) {
  std::ifstream in(dir / "manifest.json");
  if (!in) return nullptr;
  return nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
}

// True for a manifest of ours, whatever else is in it.
bool is_ours(const nlohmann::json& manifest) {
  return manifest.is_object() && manifest.contains("complete") &&
         manifest["complete"].is_boolean() && manifest.contains("shiftpoint") &&
         manifest["shiftpoint"].is_object() && manifest["shiftpoint"].contains("revision") &&
         manifest["shiftpoint"]["revision"].is_string() && manifest.contains("files") &&
         manifest["files"].is_object();
}

void require_replaceable(const fs::path& target) {
  if (!fs::exists(target)) return;
  const auto refuse = [&](const std::string& why) {
    throw_bad_input({}, "output.dir", quoted_excerpt(target.string()) + " " + why,
                    "a new folder, an empty one, or an earlier result");
  };
  if (!fs::is_directory(target)) refuse("is no folder");
  if (fs::is_empty(target)) return;
  const nlohmann::json manifest = manifest_of(target);
  if (!is_ours(manifest)) refuse("exists and is no result folder");
  for (const auto& entry : fs::directory_iterator(target)) {
    const std::string name = entry.path().filename().string();
    if (name != "manifest.json" && !(entry.is_regular_file() && manifest["files"].contains(name))) {
      refuse("also holds " + quoted_excerpt(name) + ", which no run wrote");
    }
  }
}

template <class Action>
void with_clear_errors(const std::string& dir, Action&& action) {
  try {
    action();
  } catch (const fs::filesystem_error& error) {
    throw_bad_input({}, "output.dir",
                    quoted_excerpt(dir) + " cannot be written: " + error.code().message(),
                    "a folder that can be made or replaced");
  }
}

}  // namespace

void write_result_folder(const std::string& dir, const std::map<std::string, std::string>& files) {
  with_clear_errors(dir, [&] {
    const fs::path target = resolved(dir);
    require_replaceable(target);
    const fs::path temporary = temporary_beside(target);
    try {
      fs::create_directories(temporary);
      for (const auto& [name, content] : files) write_file(temporary / name, content);
      // Another run may put its result there in between: then this one replaces it.
      std::error_code busy;
      for (int attempt = 0; attempt < 3; ++attempt) {
        require_replaceable(target);
        fs::remove_all(target);
        fs::rename(temporary, target, busy);
        if (!busy) break;
      }
      if (busy) throw fs::filesystem_error("rename", target, busy);
    } catch (...) {
      std::error_code ignored;
      fs::remove_all(temporary, ignored);
      throw;
    }
  });
}

void write_files(const std::string& dir, const std::map<std::string, std::string>& files) {
  with_clear_errors(dir, [&] {
    const fs::path folder = resolved(dir);
    fs::create_directories(folder);
    for (const auto& [name, content] : files) {
      const fs::path temporary = temporary_beside(folder / name);
      write_file(temporary, content);
      fs::rename(temporary, folder / name);
    }
  });
}

std::optional<std::string> complete_revision(const std::string& dir) {
  const nlohmann::json manifest = manifest_of(dir);
  if (!is_ours(manifest) || !manifest["complete"].get<bool>()) return std::nullopt;
  for (const auto& [name, checksum] : manifest["files"].items()) {
    std::ifstream in(fs::path(dir) / name, std::ios::binary);
    if (!in || !checksum.is_string() ||
        sha256_hex(std::string(std::istreambuf_iterator<char>(in), {})) !=
            checksum.get<std::string>()) {
      return std::nullopt;
    }
  }
  return manifest["shiftpoint"]["revision"].get<std::string>();
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || fs::is_directory(path)) {
    throw_bad_input({path, 0}, "", "cannot be opened", "a readable file");
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace shiftpoint
