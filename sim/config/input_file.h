// Input files by path: plain or gzip-compressed, or standard input, with the checksum that a
// manifest needs.
#pragma once

#include <string>

namespace shiftpoint {

struct InputFile {
  std::string name;    // as the user wrote it
  std::string bytes;   // decompressed content
  std::string sha256;  // of the file as it lies on disk (compressed where it is), lower-case hex
};

// Reads a whole file ("-": standard input); .gz content is recognised by its first bytes. Throws
// UserError when it cannot be opened or is damaged.
InputFile read_input_file(const std::string& path);

std::string sha256_hex(const std::string& bytes);

}  // namespace shiftpoint
