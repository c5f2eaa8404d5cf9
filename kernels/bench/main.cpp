// kernel_bench list | verify | bench | memory: the variants on the GPU of this machine.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <fstream>
#include <iostream>

#include "kernels/bench/cases.h"
#include "kernels/bench/device_case.h"
#include "kernels/bench/memory_bench.h"
#include "kernels/bench/points.h"
#include "kernels/bench/profile_file.h"

namespace {

namespace po = boost::program_options;
using namespace shiftpoint;

std::vector<std::string> chosen_variants(const po::variables_map& options) {
  if (options.count("variant") != 0) {
    return options["variant"].as<std::vector<std::string>>();
  }
  std::vector<std::string> names;
  for (const VariantInfo& info : verify_attention_variants()) {
    names.emplace_back(info.name);
  }
  return names;
}

int list() {
  for (const VariantInfo& info : verify_attention_variants()) {
    std::cout << fmt::format("{:<15} {:>6} B  {}\n", info.name, info.dynamic_shared_bytes,
                             info.help);
  }
  return 0;
}

struct Worst {
  int runs = 0, failures = 0;
  double l2 = 0, cosine = 0, lse = 0;
};

void verify_case(const std::string& variant, const CorrectnessCase& test, const VerifyCase& host,
                 DeviceCase& device, const ReferenceTokens& reference, Worst& worst) {
  for (const int nsplit : test.nsplits) {
    VerifyAttentionParams params = host.host_params();
    params.nsplit = nsplit;
    const Support support = supported(variant, params, current_device_limits());
    if (!support.ok) {
      std::cout << fmt::format("{}: {}: not supported: {}\n", variant, test.spec.name,
                               support.reason);
      continue;
    }
    const CompareResult result = verify_on_device(variant, device, nsplit, reference);
    ++worst.runs;
    worst.l2 = std::max(worst.l2, result.relative_l2);
    worst.lse = std::max(worst.lse, result.worst_lse_error);
    worst.cosine = std::max(worst.cosine, result.worst_cosine_distance);
    if (!result.ok) {
      ++worst.failures;
      std::cout << fmt::format("FAILED {}: {}, nsplit {}: L2 {:.2e}: {}\n", variant, test.spec.name,
                               nsplit, result.relative_l2, result.detail);
    }
  }
}

int verify(const po::variables_map& options) {
  const std::vector<std::string> variants = chosen_variants(options);
  std::vector<Worst> worst(variants.size());
  for (const std::string& variant : variants) {
    prepare(variant);
  }
  for (const CorrectnessCase& test : correctness_cases()) {
    const VerifyCase host = build_verify_case(test.spec);
    const ReferenceTokens reference = compute_reference(host.host_params(), test.max_tokens);
    DeviceCase device(host);
    for (std::size_t v = 0; v < variants.size(); ++v) {
      verify_case(variants[v], test, host, device, reference, worst[v]);
    }
  }
  int failures = 0;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    std::cout << fmt::format(
        "{}: {} runs, {} failed, worst relative L2 {:.2e}, cosine distance {:.1e}, LSE {:.1e}\n",
        variants[v], worst[v].runs, worst[v].failures, worst[v].l2, worst[v].cosine, worst[v].lse);
    failures += worst[v].failures;
  }
  return failures == 0 ? 0 : 1;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  if (!out) {
    throw KernelError("cannot write " + path);
  }
}

int bench(const po::variables_map& options, const std::string& command_line) {
  const Ceilings ceilings = options["ceilings"].as<bool>() ? measure_ceilings() : Ceilings{};
  std::cout << fmt::format(
      "read {:.0f} GB/s, copy {:.0f} GB/s, mma.sync {:.0f} TFLOPS, empty kernel {:.2f} us\n",
      ceilings.read_gbps, ceilings.copy_gbps, ceilings.mma_tflops, ceilings.empty_kernel_us);
  const BenchPool pool(options["slots"].as<std::int64_t>());
  std::ofstream csv;
  if (options.count("csv") != 0) {
    csv.open(options["csv"].as<std::string>());
    write_profile_header(csv);
  }
  for (const std::string& set : options["points"].as<std::vector<std::string>>()) {
    for (BenchPoint& point : named_points(set, chosen_variants(options))) {
      if (options.count("nsplit") != 0) {
        point.nsplit = options["nsplit"].as<int>();
      }
      const BenchRow row = time_point(pool, point, options["budget-ms"].as<double>());
      std::cout << describe_row(row, ceilings) << std::endl;
      if (csv.is_open()) {
        write_profile_row(csv, row);
        csv.flush();
      }
    }
  }
  if (options.count("manifest") != 0) {
    write_file(options["manifest"].as<std::string>(), profile_manifest(ceilings, command_line));
  }
  return 0;
}

std::vector<NamedOrder> read_orders(const po::variables_map& options) {
  std::vector<NamedOrder> orders;
  if (options.count("order") == 0) {
    return orders;
  }
  for (const std::string& path : options["order"].as<std::vector<std::string>>()) {
    std::ifstream in(path);
    NamedOrder order;
    order.name = path.substr(path.find_last_of('/') + 1);
    for (long long slot = 0; in >> slot;) {
      order.slots.push_back(slot);
    }
    if (order.slots.empty()) {
      throw KernelError(path + ": no slots; accepted: one slot number a line");
    }
    orders.push_back(std::move(order));
  }
  return orders;
}

int memory(const po::variables_map& options) {
  const Ceilings ceilings = measure_ceilings();
  std::cout << fmt::format("read {:.0f} GB/s, copy {:.0f} GB/s\n", ceilings.read_gbps,
                           ceilings.copy_gbps)
            << std::flush << relocation_report(ceilings.copy_gbps) << std::flush;
  if (options.count("csv") != 0) {
    std::ofstream csv(options["csv"].as<std::string>());
    gather_profile(csv, read_orders(options));
  } else {
    gather_profile(std::cout, read_orders(options));
  }
  return 0;
}

po::options_description describe_options() {
  po::options_description options("kernel_bench list | verify | bench | memory");
  auto add = options.add_options();
  add("help", "this text");
  add("command", po::value<std::string>(), "list, verify, bench or memory");
  add("variant", po::value<std::vector<std::string>>()->multitoken(), "variants; default: all");
  add("points",
      po::value<std::vector<std::string>>()->multitoken()->default_value({"bars"}, "bars"),
      "bench: point sets (bars, full, splits)");
  add("nsplit", po::value<int>(), "bench: overrides the split count");
  add("slots", po::value<std::int64_t>()->default_value(4407296),
      "bench: pool slots of 1,152 bytes");
  add("budget-ms", po::value<double>()->default_value(30), "bench: replay time a point");
  add("order", po::value<std::vector<std::string>>()->multitoken(),
      "memory: files with a slot order, one slot a line");
  add("ceilings", po::value<bool>()->default_value(true), "bench: measure the ceilings first");
  add("csv", po::value<std::string>(), "bench: profile to write");
  add("manifest", po::value<std::string>(), "bench: manifest to write");
  return options;
}

int run(int argc, char** argv) {
  po::positional_options_description positional;
  positional.add("command", 1);
  po::variables_map options;
  po::store(
      po::command_line_parser(argc, argv).options(describe_options()).positional(positional).run(),
      options);
  po::notify(options);
  std::string command_line = "kernel_bench";
  for (int i = 1; i < argc; ++i) {
    command_line += std::string(" ") + argv[i];
  }
  const std::string command =
      options.count("command") != 0 ? options["command"].as<std::string>() : "";
  if (command == "list") {
    return list();
  }
  if (command == "verify") {
    return verify(options);
  }
  if (command == "bench") {
    return bench(options, command_line);
  }
  if (command == "memory") {
    return memory(options);
  }
  std::cerr << describe_options();
  return options.count("help") != 0 ? 0 : 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const po::error& error) {
    std::cerr << "kernel_bench: " << error.what() << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "kernel_bench: " << error.what() << "\n";
    return 1;
  }
}
