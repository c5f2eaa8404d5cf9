#include "sim/config/config_file.h"

#include <boost/program_options.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "sim/core/error.h"

namespace shiftpoint {
namespace {

namespace po = boost::program_options;

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Lets Boost.Program_options read one line below its section, so that its grammar decides what an
// assignment is, and the line number is ours.
FileEntry parse_line(const std::string& file, std::int64_t line, const std::string& section,
                     const std::string& text) {
  std::istringstream snippet((section.empty() ? "" : "[" + section + "]\n") + text + "\n");
  const po::options_description none;
  try {
    const auto parsed = po::parse_config_file(snippet, none, /*allow_unregistered=*/true);
    if (parsed.options.size() == 1 && parsed.options[0].value.size() == 1) {
      return {parsed.options[0].string_key, trimmed(parsed.options[0].value[0]), line, ""};
    }
  } catch (const po::error&) {
    // Falls through to our message, which has file and line.
  }
  throw_bad_input({file, line}, "", "found " + quoted_excerpt(trimmed(text)),
                  "[section], key = value, or # comment");
}

// What a file says may reach a terminal: no control bytes.
void require_text(const std::string& file, std::int64_t line, const std::string& text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t' && c != '\r') || byte == 0x7f) {
      throw_bad_input({file, line}, "",
                      "byte " + std::to_string(byte) + " in " + quoted_excerpt(text),
                      "text without control bytes");
    }
  }
}

}  // namespace

const BoundOption* find_option(const std::string& key, const std::vector<BoundOption>& known) {
  for (const BoundOption& option : known) {
    if (option.key == key) return &option;
  }
  return nullptr;
}

void require_known(const std::string& key, const std::string& file, std::int64_t line,
                   const std::vector<BoundOption>& known) {
  if (find_option(key, known) != nullptr) return;
  const std::string near = nearest_key(key, known);
  throw_bad_input({file, line}, key, "unknown key",
                  near.empty() ? "the keys that --help lists" : "did you mean '" + near + "'?");
}

std::vector<FileEntry> read_config_file(const std::string& path,
                                        const std::vector<BoundOption>& known) {
  std::ifstream in(path);
  if (!in || std::filesystem::is_directory(path))
    throw_bad_input({path, 0}, "", "cannot be opened", "a readable configuration file");
  std::vector<FileEntry> entries;
  std::map<std::string, std::int64_t> first_line;
  std::string section;
  std::string text;
  for (std::int64_t line = 1; std::getline(in, text); ++line) {
    if (line == 1 && text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    require_text(path, line, text);
    const auto hash = text.find('#');
    const std::string comment = hash == std::string::npos ? "" : trimmed(text.substr(hash + 1));
    const std::string code = trimmed(text.substr(0, hash));
    if (code.empty()) continue;
    if (code.front() == '[' && code.back() == ']') {
      section = trimmed(code.substr(1, code.size() - 2));
      continue;
    }
    FileEntry entry = parse_line(path, line, section, code);
    entry.comment = comment;
    const bool swept = entry.key.starts_with("sweep.");
    require_known(swept ? entry.key.substr(6) : entry.key, path, line, known);
    const auto [place, fresh] = first_line.emplace(entry.key, line);
    if (!fresh) {
      throw_bad_input({path, line}, entry.key,
                      "repeated key (first on line " + std::to_string(place->second) + ")",
                      "each key once");
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace shiftpoint
