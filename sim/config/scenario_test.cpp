#include "sim/config/scenario.h"

#include <algorithm>

#include "sim/config/bound_option.h"
#include "sim/core/error.h"
#include "sim/test_support/catch.h"
#include "sim/test_support/temporary_folder.h"

using namespace shiftpoint;
using shiftpoint::test::message_of;
using shiftpoint::test::TemporaryFolder;

namespace {

const Setting& setting(const LoadedScenario& loaded, const std::string& key) {
  const auto found = std::find_if(loaded.settings.begin(), loaded.settings.end(),
                                  [&](const Setting& s) { return s.key == key; });
  REQUIRE(found != loaded.settings.end());
  return *found;
}

std::string failure(const std::string& file, const Overrides& overrides = {}) {
  return message_of<UserError>([&] { load_scenario(file, overrides); });
}

}  // namespace

TEST_CASE("layers: command line over file over preset over default, each with its origin") {
  const TemporaryFolder folder;
  const std::string preset =
      folder.write("card.cfg", "[hardware]\nsms = 100 # cited: datasheet\nranks = 4\n");
  const std::string file = folder.write(
      "x.cfg", "[hardware]\npreset = " + preset + "\nranks = 2\n[serving]\nmax_running = 7\n");
  const LoadedScenario loaded = load_scenario(file, {"serving.max_running=9"});
  CHECK(loaded.scenario.deployment.hardware.sms == 100);
  CHECK(loaded.scenario.deployment.hardware.ranks == 2);
  CHECK(loaded.scenario.deployment.serving.max_running == 9);
  CHECK(setting(loaded, "hardware.sms").origin.ends_with("card.cfg:2"));
  CHECK(setting(loaded, "hardware.sms").tag == "cited: datasheet");
  CHECK(setting(loaded, "hardware.ranks").origin == file + ":3");
  CHECK(setting(loaded, "hardware.ranks").tag.empty());
  CHECK(setting(loaded, "serving.max_running").origin == "command line");
  CHECK(setting(loaded, "serving.chunk_tokens").origin == "default");
  CHECK(loaded.scenario.run.name == "x");
}

TEST_CASE("bad files: one message with file, line, key, finding and what is accepted") {
  const TemporaryFolder folder;
  const auto expect = [&](const std::string& text, const std::string& ending) {
    const std::string file = folder.write("bad.cfg", text);
    CHECK(failure(file) == file + ending);
  };
  expect("[moe]\nplacment = tp-sliced\n",
         ":2: 'moe.placment': unknown key; accepted: did you mean 'moe.placement'?");
  expect("[workload]\nbatch = 1\n\nbatch = 2\n",
         ":4: 'workload.batch': repeated key (first on line 2); accepted: each key once");
  expect("[workload]\nbatch = -1\n",
         ":2: 'workload.batch': found '-1'; accepted: integer, 1 .. 1000000");
  expect("[workload]\nbatch = 1.5\n",
         ":2: 'workload.batch': found '1.5'; accepted: integer, 1 .. 1000000");
  expect("[workload]\nbatch = many\n",
         ":2: 'workload.batch': found 'many'; accepted: integer, 1 .. 1000000");
  expect("[workload]\nbatch =\n",
         ":2: 'workload.batch': found ''; accepted: integer, 1 .. 1000000");
  expect("[workload]\nclip = 1\n", ":2: 'workload.clip': found '1'; accepted: true or false");
  expect("[moe]\nplacement = both\n",
         ":2: 'moe.placement': found 'both'; accepted: one of tp-sliced|whole-expert");
  expect("[speculation]\nconditional = 0.5, 1.5\n",
         ":2: 'speculation.conditional': found '0.5, 1.5'; accepted: numbers separated by commas, "
         "each a number, 0 .. 1");
  expect(
      "[speculation]\nconditional = 0.5,\n",
      ":2: 'speculation.conditional': found '0.5,'; accepted: numbers separated by commas, each a "
      "number, 0 .. 1");
  expect("[cost]\nhost_us = nan\n",
         ":2: 'cost.host_us': found 'nan'; accepted: number, 0 .. 10000000");
  expect("[workload]\njust words\n",
         ":2: found 'just words'; accepted: [section], key = value, or # comment");
  CHECK(failure((folder.path() / "none.cfg").string())
            .ends_with("none.cfg: cannot be opened; accepted: a readable configuration file"));
}

TEST_CASE("a value that the command line overrides is still checked in the file") {
  const TemporaryFolder folder;
  const std::string file = folder.write("x.cfg", "[workload]\nbatch = -1\n");
  CHECK(failure(file, {"workload.batch=3"}).find(":2: 'workload.batch'") != std::string::npos);
}

TEST_CASE("bad command lines") {
  const TemporaryFolder folder;
  const std::string file = folder.write("x.cfg", "");
  CHECK(failure(file, {"workload.batch=0"}) ==
        "command line: 'workload.batch': found '0'; accepted: integer, 1 .. 1000000");
  CHECK(failure(file, {"workload.batch=1", "workload.batch=2"}) ==
        "command line: 'workload.batch': repeated option; accepted: each option once");
  CHECK(failure(file, {"batch=1"}) ==
        "command line: 'batch': unknown key; accepted: did you mean 'workload.batch'?");
}

TEST_CASE("presets: unknown names list what there is; foreign keys are refused") {
  const TemporaryFolder folder;
  folder.write("data/hardware/a.cfg", "[hardware]\nsms = 1\n");
  folder.write("data/hardware/b.cfg", "[hardware]\nsms = 2\n");
  const std::string file = folder.write("exp/x.cfg", "[hardware]\npreset = c\n");
  CHECK(failure(file) ==
        file + ":2: 'hardware.preset': no preset 'c'; accepted: a, b, or a path to a .cfg");
  folder.write("data/hardware/c.cfg", "[hardware]\nsms = 3\n[moe]\nplacement = tp-sliced\n");
  CHECK(failure(file).find("c.cfg:4: 'moe.placement': does not belong in this preset") !=
        std::string::npos);
}

TEST_CASE("presets by path: relative to the working folder, absolute, or missing") {
  const TemporaryFolder folder;
  folder.write("card.cfg", "[hardware]\nsms = 100\n");
  const std::string file = folder.write("x.cfg", "");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const char* path : {"card.cfg", "./card.cfg"}) {
    const LoadedScenario loaded = load_scenario("x.cfg", {std::string("hardware.preset=") + path});
    CHECK(loaded.scenario.deployment.hardware.sms == 100);
    CHECK(setting(loaded, "hardware.sms").origin == "card.cfg:2");
  }
  std::filesystem::current_path(before);
  CHECK(failure(file, {"hardware.preset=none.cfg"}) ==
        "command line: 'hardware.preset': no preset 'none.cfg'; accepted: a file in data/hardware "
        "(SHIFTPOINT_DATA names another data folder) or a path to a .cfg");
}

TEST_CASE("odd files: a folder, a byte-order mark, carriage returns, control bytes") {
  const TemporaryFolder folder;
  CHECK(failure(folder.path().string()) == folder.path().string() +
                                               ": cannot be opened; accepted: a readable "
                                               "configuration file");
  const std::string marked =
      folder.write("bom.cfg", "\xEF\xBB\xBF[workload]\r\nbatch = 3\r\n# caf\xC3\xA9\r\n");
  CHECK(load_scenario(marked, {}).scenario.workload.batch == 3);
  const std::string bell = folder.write("bell.cfg", "[run]\nname = a\x07\n");
  CHECK(failure(bell) == bell + ":2: byte 7 in 'name = a?'; accepted: text without control bytes");
  const std::string path = folder.write("path.cfg", "[run]\nname = ../x\n");
  CHECK(failure(path) ==
        path + ":2: 'run.name': found '../x'; accepted: letters, digits, '.', '_', '-'");
}

TEST_CASE("a bad value found later is reported where it was set") {
  const TemporaryFolder folder;
  const std::string file = folder.write("x.cfg", "[hardware]\nranks = 3\n");
  const LoadedScenario loaded = load_scenario(file, {});
  CHECK(message_of<UserError>([&] {
          with_places(loaded,
                      [] { throw_bad_input({}, "hardware.ranks", "64 heads", "a divisor"); });
        }) == file + ":2: 'hardware.ranks': 64 heads; accepted: a divisor");
}

TEST_CASE("a sweep is the cross product of its axes; lists are separated by semicolons") {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "x.cfg", "[sweep]\nworkload.batch = 1, 2,4\nspeculation.conditional = 0.5; 0.5, 0.25\n");
  const LoadedScenario loaded = load_scenario(file, {"sweep.workload.batch=8, 16"});
  REQUIRE(loaded.sweep.size() == 2);
  CHECK(loaded.sweep[0].values == std::vector<std::string>{"8", "16"});
  CHECK(loaded.sweep[1].values == std::vector<std::string>{"0.5", "0.5, 0.25"});
  CHECK(loaded.scenario.workload.batch == 1);  // the base scenario is untouched
  const LoadedScenario point = at_sweep_point(loaded, {"16", "0.5, 0.25"});
  CHECK(point.scenario.workload.batch == 16);
  CHECK(point.scenario.deployment.speculation.conditional == std::vector<double>{0.5, 0.25});
  CHECK(setting(point, "workload.batch").origin == "sweep");
  // A key on the command line is not swept.
  CHECK(load_scenario(file, {"workload.batch=8"}).sweep.size() == 1);
  const std::string bad = folder.write("bad.cfg", "[sweep]\nworkload.batch = 1, x\n");
  CHECK(failure(bad) == bad +
                            ":2: 'sweep.workload.batch': found 'x'; accepted: integer, 1 .. "
                            "1000000, several separated by ','");
  const std::string twice = folder.write("twice.cfg", "[sweep]\nworkload.batch = 1, 1\n");
  CHECK(failure(twice) ==
        twice + ":2: 'sweep.workload.batch': repeated value ' 1'; accepted: each value once");
  const std::string inert = folder.write("inert.cfg", "[sweep]\noutput.steps_rows = 1, 2\n");
  CHECK(failure(inert) ==
        inert + ":2: 'sweep.output.steps_rows': changes no result; accepted: a key that does");
  const std::string unknown = folder.write("unknown.cfg", "[sweep]\nworkload.bach = 1\n");
  CHECK(failure(unknown).find(":2: 'workload.bach': unknown key") != std::string::npos);
}

TEST_CASE("a swept preset brings its values") {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.cfg", "[hardware]\nsms = 10 # cited: a\n");
  const std::string b = folder.write("b.cfg", "[hardware]\nsms = 20 # cited: b\n");
  const std::string file =
      folder.write("x.cfg", "[sweep]\nhardware.preset = " + a + ", " + b + "\n");
  const LoadedScenario loaded = load_scenario(file, {"run.seed=7"});
  const LoadedScenario point = at_sweep_point(loaded, {b});
  CHECK(point.scenario.deployment.hardware.sms == 20);
  CHECK(setting(point, "hardware.sms").tag == "cited: b");
  CHECK(setting(point, "hardware.preset").origin == "sweep");
  CHECK(point.scenario.run.seed == 7);
  CHECK(point.sweep.empty());
}

TEST_CASE("every option round-trips through its own text") {
  Scenario scenario;
  for (const BoundOption& option : bind_options(scenario)) {
    const std::string text = option.get();
    CAPTURE(option.key, text);
    CHECK(option.set(text).empty());
    CHECK(option.get() == text);
    CHECK(!option.help.empty());
    CHECK(option.key.find('.') != std::string::npos);
  }
}

TEST_CASE("every shipped preset value says what kind of evidence it rests on") {
  for (const char* kind : {"models", "hardware"}) {
    int presets = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(test::source_dir() / "data" / kind)) {
      if (entry.path().extension() != ".cfg") continue;
      ++presets;
      const std::string section = kind == std::string("models") ? "model" : "hardware";
      const TemporaryFolder folder;
      const std::string file =
          folder.write("x.cfg", "[" + section + "]\npreset = " + entry.path().string() + "\n");
      const LoadedScenario loaded = load_scenario(file, {});
      for (const Setting& s : loaded.settings) {
        if (!s.key.starts_with(section + ".") || s.key == section + ".preset") continue;
        CAPTURE(entry.path().string(), s.key, s.origin, s.tag);
        CHECK(s.origin != "default");  // a preset sets every key
        const bool tagged = s.tag.starts_with("cited: ") || s.tag.starts_with("measured: ") ||
                            s.tag.starts_with("fitted: ") || s.tag.starts_with("assumed: ");
        CHECK(tagged);
      }
    }
    CHECK(presets >= 1);
  }
}

TEST_CASE("every shipped experiment loads") {
  int experiments = 0;
  for (const char* folder : {"experiments", "experiments/smoke"}) {
    for (const auto& entry : std::filesystem::directory_iterator(test::source_dir() / folder)) {
      if (entry.path().extension() != ".cfg") continue;
      CAPTURE(entry.path().string());
      ++experiments;
      CHECK_NOTHROW(load_scenario(entry.path().string(), {}));
    }
  }
  CHECK(experiments >= 3);
}
