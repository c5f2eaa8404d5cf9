#include "sim/cli/command.h"

namespace shiftpoint {
int command_audit(const std::vector<std::string>&) {
  throw UserError("not linked yet");
}
}  // namespace shiftpoint
