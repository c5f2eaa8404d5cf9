#include "sim/cli/command.h"

namespace shiftpoint {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      {"run", "FILE [--section.key=value ...]",
       "simulate one experiment and write its result folder", command_run},
      {"sweep", "FILE [--shard=i/n] [--section.key=value ...]",
       "simulate every point of an experiment's [sweep] section, then merge", command_sweep},
      {"merge", "FILE [--section.key=value ...]", "write points.csv from the points of all shards",
       command_merge},
      {"explain", "FILE [--section.key=value ...]",
       "print every value, its unit and where it came from", command_explain},
      {"trace", "inspect FILE [--workload.key=value ...]",
       "say what a request trace holds: format, rows, lengths, rates, rejected rows",
       command_trace},
      {"audit", "[--output.dir=DIR]", "judge the articles' claims against arithmetic and results",
       command_audit},
  };
  return table;
}

}  // namespace shiftpoint
