#include "sim/config/input_file.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "sim/core/error.h"

namespace shiftpoint {
namespace {

std::string gunzip(const std::string& packed, const std::string& name) {
  z_stream stream{};
  // 16 + MAX_WBITS: gzip wrapper.
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
    throw UserError(name + ": zlib does not start");
  std::string plain;
  std::array<char, 1 << 16> buffer{};
  // zlib's interface is not const-correct: it only reads from next_in.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = buffer.size();
    status = inflate(&stream, Z_NO_FLUSH);
    plain.append(buffer.data(), buffer.size() - stream.avail_out);
    // Concatenated members are one file (RFC 1952, 2.2).
    if (status == Z_STREAM_END && stream.avail_in > 0) status = inflateReset(&stream);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) {
    throw_bad_input({name, 0}, "", "damaged or truncated gzip data",
                    "a complete .gz or plain text");
  }
  return plain;
}

}  // namespace

std::string sha256_hex(const std::string& bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  SIM_CHECK(
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) == 1,
      std::string("sha256 is not available"));
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < length; ++i) {
    text += kHex[digest[i] >> 4];
    text += kHex[digest[i] & 15];
  }
  return text;
}

InputFile read_input_file(const std::string& path) {
  InputFile file;
  file.name = path == "-" ? "standard input" : path;
  std::string raw;
  if (path == "-") {
    raw.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else {
    std::ifstream in(path, std::ios::binary);
    if (!in || std::filesystem::is_directory(path)) {
      throw_bad_input({path, 0}, "", "cannot be opened", "a readable file");
    }
    raw.assign(std::istreambuf_iterator<char>(in), {});
    if (in.bad()) throw_bad_input({path, 0}, "", "cannot be read", "a readable file");
  }
  file.sha256 = sha256_hex(raw);
  const bool gzip = raw.size() > 2 && raw[0] == '\x1f' && raw[1] == '\x8b';
  file.bytes = gzip ? gunzip(raw, file.name) : std::move(raw);
  return file;
}

}  // namespace shiftpoint
