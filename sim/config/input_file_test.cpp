#include "sim/config/input_file.h"

#include "sim/core/error.h"
#include "sim/test_support/catch.h"
#include "sim/test_support/temporary_folder.h"

using namespace shiftpoint;
using shiftpoint::test::message_of;

TEST_CASE("sha256 of 'abc' is the example of FIPS 180-4") {
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("plain and gzip files read alike; damage is reported") {
  const test::TemporaryFolder folder;
  CHECK(read_input_file(folder.write("a.txt", "hello\n")).bytes == "hello\n");
  // printf 'hello\n' | gzip -n9, as hex.
  const unsigned char packed[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
                                  0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xe7, 0x02, 0x00,
                                  0x20, 0x30, 0x3a, 0x36, 0x06, 0x00, 0x00, 0x00};
  const std::string gz(packed, packed + sizeof packed);
  CHECK(read_input_file(folder.write("a.gz", gz)).bytes == "hello\n");
  CHECK(read_input_file(folder.write("two.gz", gz + gz)).bytes == "hello\nhello\n");
  const std::string cut = folder.write("cut.gz", gz.substr(0, 15));
  CHECK(message_of<UserError>([&] { read_input_file(cut); }) ==
        cut + ": damaged or truncated gzip data; accepted: a complete .gz or plain text");
  const std::string none = (folder.path() / "none").string();
  CHECK(message_of<UserError>([&] { read_input_file(none); }) ==
        none + ": cannot be opened; accepted: a readable file");
}
