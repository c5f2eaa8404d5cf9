#include "sim/config/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "sim/config/config_file.h"
#include "sim/config/hf_model.h"
#include "sim/config/input_file.h"
#include "sim/core/error.h"

namespace shiftpoint {
namespace {

namespace fs = std::filesystem;

// One value on its way into the scenario.
struct Layered {
  std::string key, value, file;
  std::int64_t line = 0;
  std::string tag;
};

std::string origin_of(const Layered& item) {
  return item.line > 0 ? fmt::format("{}:{}", item.file, item.line) : item.file;
}

// data/ of the source tree: SHIFTPOINT_DATA, or the nearest data/ above the experiment file or
// above the working folder that has the wanted subfolder.
fs::path find_data_folder(const std::string& experiment_file, const std::string& kind) {
  if (const char* set = std::getenv("SHIFTPOINT_DATA")) return fs::path(set) / kind;
  for (fs::path start : {fs::absolute(experiment_file).parent_path(), fs::current_path()}) {
    for (;; start = start.parent_path()) {
      if (fs::is_directory(start / "data" / kind)) return start / "data" / kind;
      if (start == start.root_path() || start.empty()) break;
    }
  }
  return {};
}

// A preset is a bare name in data/<kind>, or a path (it has a slash or ends in .cfg), relative to
// the working folder.
std::string find_preset(const std::string& experiment_file, const std::string& section,
                        const Layered& wanted) {
  const std::string kind = section == "model" ? "models" : "hardware";
  const std::string& name = wanted.value;
  const bool is_path =
      name.find('/') != std::string::npos || name.ends_with(".cfg") || name.ends_with(".json");
  const fs::path folder = find_data_folder(experiment_file, kind);
  const fs::path path = is_path ? fs::path(name) : folder / (name + ".cfg");
  if (fs::is_regular_file(path)) return fs::proximate(path).string();
  std::vector<std::string> names;
  if (!is_path && fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".cfg") names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end());
  }
  throw_bad_input({wanted.file, wanted.line}, section + ".preset", "no preset '" + name + "'",
                  names.empty() ? "a file in data/" + kind +
                                      " (SHIFTPOINT_DATA names another data "
                                      "folder) or a path to a .cfg"
                                : fmt::format("{}, or a path to a .cfg", fmt::join(names, ", ")));
}

void apply(const Layered& item, const std::vector<BoundOption>& options,
           std::vector<Setting>& settings) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i].key != item.key) continue;
    const std::string wrong = options[i].set(item.value);
    if (!wrong.empty())
      throw_bad_input({item.file, item.line}, item.key, wrong, options[i].accepted);
    settings[i].origin = origin_of(item);
    settings[i].tag = item.tag;
    return;
  }
}

std::vector<Layered> read_layer(const std::string& file, const std::vector<BoundOption>& options) {
  std::vector<Layered> layer;
  for (FileEntry& entry : read_config_file(file, options)) {
    layer.push_back({entry.key, entry.value, file, entry.line, entry.comment});
  }
  return layer;
}

std::vector<Layered> read_preset(const std::string& experiment_file, const std::string& section,
                                 const Layered& wanted, const std::vector<BoundOption>& options) {
  const std::string path = find_preset(experiment_file, section, wanted);
  if (section == "model" && path.ends_with(".json")) {
    std::vector<Layered> layer;
    for (const ModelValue& v : read_hf_config(read_input_file(path).bytes, path)) {
      layer.push_back({v.key, v.value, path, 0, v.tag});
    }
    return layer;
  }
  std::vector<Layered> layer = read_layer(path, options);
  for (const Layered& item : layer) {
    if (!item.key.starts_with(section + ".") || item.key == section + ".preset") {
      throw_bad_input({path, item.line}, item.key, "does not belong in this preset",
                      "keys of [" + section + "] without preset");
    }
  }
  return layer;
}

std::vector<Layered> parse_overrides(const Overrides& overrides,
                                     const std::vector<BoundOption>& options) {
  std::vector<Layered> layer;
  for (const std::string& text : overrides) {
    const auto equals = text.find('=');
    const std::string key = text.substr(0, equals);
    const bool swept = key.starts_with("sweep.");
    require_known(swept ? key.substr(6) : key, "command line", 0, options);
    if (equals == std::string::npos) {
      throw_bad_input({"command line", 0}, key, "no value", "--" + key + "=VALUE");
    }
    for (const Layered& earlier : layer) {
      if (earlier.key == key) {
        throw_bad_input({"command line", 0}, key, "repeated option", "each option once");
      }
    }
    layer.push_back({key, text.substr(equals + 1), "command line", 0, ""});
  }
  return layer;
}

// Values of a sweep axis: separated by commas, or by semicolons where each value is itself a list.
SweepAxis parse_axis(const Layered& item, const std::vector<BoundOption>& options) {
  SweepAxis axis{item.key.substr(6), {}};
  if (axis.key.starts_with("output.") || axis.key == "run.name") {
    throw_bad_input({item.file, item.line}, item.key, "changes no result", "a key that does");
  }
  const BoundOption& option = *find_option(axis.key, options);
  const char separator = option.is_list ? ';' : ',';
  const std::string before = option.get();
  for (std::size_t start = 0; start <= item.value.size();) {
    const std::size_t end = std::min(item.value.find(separator, start), item.value.size());
    const std::string text = item.value.substr(start, end - start);
    const std::string wrong = option.set(text);
    if (!wrong.empty()) {
      throw_bad_input({item.file, item.line}, item.key, wrong,
                      fmt::format("{}, several separated by '{}'", option.accepted, separator));
    }
    if (std::find(axis.values.begin(), axis.values.end(), option.get()) != axis.values.end()) {
      throw_bad_input({item.file, item.line}, item.key, "repeated value " + quoted_excerpt(text),
                      "each value once");
    }
    axis.values.push_back(option.get());
    start = end + 1;
  }
  option.set(before);
  return axis;
}

// The last of the layers that sets `key` decides.
const Layered* last_setting(const std::string& key, const std::vector<Layered>& file,
                            const std::vector<Layered>& command_line) {
  const Layered* found = nullptr;
  for (const auto* layer : {&file, &command_line}) {
    for (const Layered& item : *layer) {
      if (item.key == key) found = &item;
    }
  }
  return found;
}

// Part of a path under results/.
void require_plain_name(const std::string& name) {
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    if (!plain || name == "." || name == "..") {
      throw_bad_input({}, "run.name", "found " + quoted_excerpt(name),
                      "letters, digits, '.', '_', '-'");
    }
  }
}

}  // namespace

void with_places(const LoadedScenario& loaded, const std::function<void()>& action) {
  try {
    action();
  } catch (const BadValue& bad) {
    for (const Setting& setting : loaded.settings) {
      if (setting.key == bad.field) {
        throw_bad_input({setting.origin, 0}, bad.field, bad.found, bad.accepted);
      }
    }
    throw;
  }
}

LoadedScenario load_scenario(const std::string& file, const Overrides& overrides) {
  LoadedScenario loaded;
  loaded.file = file;
  loaded.overrides = overrides;
  const std::vector<BoundOption> options = bind_options(loaded.scenario);
  for (const BoundOption& option : options) {
    loaded.settings.push_back({option.key, "", option.unit, option.help, "default", ""});
  }
  std::vector<Layered> from_file = read_layer(file, options);
  for (Layered& item : from_file) item.tag.clear();  // comments are sources only in presets
  std::vector<Layered> from_command_line = parse_overrides(overrides, options);

  for (const char* section : {"model", "hardware"}) {
    const Layered* wanted =
        last_setting(std::string(section) + ".preset", from_file, from_command_line);
    if (wanted == nullptr || wanted->value.empty()) continue;
    for (const Layered& item : read_preset(file, section, *wanted, options)) {
      apply(item, options, loaded.settings);
    }
  }
  for (const std::vector<Layered>* layer : {&from_file, &from_command_line}) {
    for (const Layered& item : *layer) {
      if (!item.key.starts_with("sweep.")) {
        apply(item, options, loaded.settings);
        continue;
      }
      SweepAxis axis = parse_axis(item, options);
      const auto same = std::find_if(loaded.sweep.begin(), loaded.sweep.end(),
                                     [&](const SweepAxis& a) { return a.key == axis.key; });
      if (same == loaded.sweep.end()) {
        loaded.sweep.push_back(std::move(axis));
      } else {
        *same = std::move(axis);
      }
    }
  }
  // The command line comes first: a key given there is not swept.
  std::erase_if(loaded.sweep, [&](const SweepAxis& axis) {
    return last_setting(axis.key, {}, from_command_line) != nullptr;
  });
  with_places(loaded, [&] { require_plain_name(loaded.scenario.run.name); });
  if (loaded.scenario.run.name.empty()) {
    loaded.scenario.run.name = fs::path(file).stem().string();
  }
  for (std::size_t i = 0; i < options.size(); ++i) loaded.settings[i].value = options[i].get();
  return loaded;
}

LoadedScenario at_sweep_point(const LoadedScenario& loaded,
                              const std::vector<std::string>& values) {
  Overrides overrides;
  const auto is_swept = [&](const std::string& key) {
    return std::any_of(loaded.sweep.begin(), loaded.sweep.end(),
                       [&](const SweepAxis& axis) { return axis.key == key; });
  };
  for (const std::string& text : loaded.overrides) {
    const std::string key = text.substr(0, text.find('='));
    if (!key.starts_with("sweep.") && !is_swept(key)) overrides.push_back(text);
  }
  for (std::size_t a = 0; a < values.size(); ++a) {
    overrides.push_back(loaded.sweep[a].key + "=" + values[a]);
  }
  LoadedScenario point = load_scenario(loaded.file, overrides);
  point.sweep.clear();
  for (Setting& setting : point.settings) {
    if (is_swept(setting.key)) setting.origin = "sweep";
  }
  return point;
}

std::string options_help() {
  Scenario defaults;
  std::string text;
  std::string section;
  for (const BoundOption& option : bind_options(defaults)) {
    const std::string of = option.key.substr(0, option.key.find('.'));
    if (of != section) {
      section = of;
      text += fmt::format("\n[{}]\n", section);
    }
    std::string value = option.get();
    if (value.empty()) value = "(empty)";
    text += fmt::format("  --{}={}{}{}\n      {} ({})\n", option.key, value,
                        option.unit.empty() ? "" : " ", option.unit, option.help, option.accepted);
  }
  return text;
}

}  // namespace shiftpoint
