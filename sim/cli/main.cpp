#include <exception>
#include <iostream>
#include <new>

#include "sim/cli/command.h"

// The only place that turns exceptions into exit statuses.
int main(int argc, char** argv) {
  try {
    const int status = shiftpoint::run_command({argv + 1, argv + argc});
    std::cout.flush();
    if (!std::cout) throw shiftpoint::UserError("standard output cannot be written");
    return status;
  } catch (const shiftpoint::UsageError& error) {
    std::cerr << "shiftpoint: " << error.what() << "\n";
    return 2;
  } catch (const shiftpoint::UserError& error) {
    std::cerr << "shiftpoint: " << error.what() << "\n";
    return 1;
  } catch (const shiftpoint::InvariantError& error) {
    std::cerr << "shiftpoint: internal error, please report it with the experiment file: "
              << error.what() << "\n";
    return 70;
  } catch (const std::bad_alloc&) {
    std::cerr << "shiftpoint: out of memory\n";
    return 1;
  } catch (const std::exception& error) {
    std::cerr << "shiftpoint: " << error.what() << "\n";
    return 1;
  }
}
