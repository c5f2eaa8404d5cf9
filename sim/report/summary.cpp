#include "sim/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sim/report/distribution.h"

namespace shiftpoint {
namespace {

using Json = nlohmann::ordered_json;

double ratio(double numerator, double denominator) {
  return denominator > 0 ? numerator / denominator : 0;
}

double ratio(std::int64_t numerator, std::int64_t denominator) {
  return ratio(static_cast<double>(numerator), static_cast<double>(denominator));
}

// Shares of the time of steps by part; they sum to 1 (null when there was no such step).
Json attribution(const Nanos (&part_ns)[kParts]) {
  Nanos total = 0;
  for (const Nanos ns : part_ns) total += ns;
  Json json;
  for (int p = 0; p < kParts; ++p) {
    const char* name = part_name(static_cast<Part>(p));
    json[name] = total > 0 ? Json(ratio(part_ns[p], total)) : Json(nullptr);
  }
  return json;
}

// The largest part with its share and its runner-up: a bottleneck is never a bare name.
Json bottleneck(const Nanos (&part_ns)[kParts]) {
  int order[kParts];
  Nanos total = 0;
  for (int p = 0; p < kParts; ++p) {
    order[p] = p;
    total += part_ns[p];
  }
  if (total == 0) {
    return {{"part", nullptr},
            {"share", nullptr},
            {"runner_up", nullptr},
            {"runner_up_share", nullptr}};
  }
  std::stable_sort(order, order + kParts, [&](int a, int b) { return part_ns[a] > part_ns[b]; });
  return {{"part", part_name(static_cast<Part>(order[0]))},
          {"share", ratio(part_ns[order[0]], total)},
          {"runner_up", part_name(static_cast<Part>(order[1]))},
          {"runner_up_share", ratio(part_ns[order[1]], total)}};
}

// Prefill and verify steps together: what limits the server, where "attribution" says what limits
// decoding. Shares of the whole simulated time, idle included.
Json busy_summary(const StepLog& steps, const SimulationResult& result) {
  Nanos all[kParts];
  for (int p = 0; p < kParts; ++p) all[p] = steps.verify().part_ns[p] + steps.prefill().part_ns[p];
  return {{"verify_share", ratio(steps.verify().total_ns(), result.end_ns)},
          {"prefill_share", ratio(steps.prefill().total_ns(), result.end_ns)},
          {"idle_share", ratio(result.idle_ns, result.end_ns)},
          {"attribution", attribution(all)},
          {"bottleneck", bottleneck(all)}};
}

Json request_counts(const Workload& workload, const SimulationResult& result) {
  std::int64_t by_outcome[4] = {};
  for (const RequestResult& r : result.requests) ++by_outcome[static_cast<int>(r.outcome)];
  const std::int64_t rejected = workload.counts.rejected;
  return {{"submitted", by_outcome[0] + by_outcome[1] + by_outcome[2] + rejected},
          {"finished", by_outcome[0]},
          {"rejected", rejected},
          {"unservable", by_outcome[1]},
          {"in_flight", by_outcome[2]},
          {"not_arrived", by_outcome[3]},
          {"clipped", workload.counts.clipped_rows},
          {"clipped_tokens", workload.counts.clipped_tokens}};
}

// TTFT: first token - arrival. TPOT: (end - first token) / (output - 1), requests with one output
// token left out. E2E: end - arrival. Populations: finished requests.
void add_latencies(Json& json, const SimulationResult& result) {
  std::vector<Nanos> ttft, tpot, e2e, queue, prefill, decode, stall;
  std::int64_t single_token = 0;
  for (const RequestResult& r : result.requests) {
    if (r.outcome != Outcome::kFinished) continue;
    ttft.push_back(r.first_token_ns - r.arrival_ns);
    e2e.push_back(r.end_ns - r.arrival_ns);
    queue.push_back(r.queue_ns);
    prefill.push_back(r.prefill_ns);
    decode.push_back(r.decode_ns);
    stall.push_back(r.stall_ns);
    if (r.output_tokens > 1) {
      tpot.push_back((r.end_ns - r.first_token_ns) / (r.output_tokens - 1));
    } else {
      ++single_token;
    }
  }
  json["ttft_ms"] = distribution_ms(std::move(ttft));
  json["tpot_ms"] = distribution_ms(std::move(tpot));
  json["tpot_ms"]["single_token_requests"] = single_token;
  json["e2e_ms"] = distribution_ms(std::move(e2e));
  json["e2e_parts_ms"] = {{"queue", distribution_ms(std::move(queue))},
                          {"prefill", distribution_ms(std::move(prefill))},
                          {"decode", distribution_ms(std::move(decode))},
                          {"stall", distribution_ms(std::move(stall))}};
}

// Share of the simulated busy time by where its timing came from. Only attention can come from a
// recorded table or a live kernel; everything else is the analytic model.
Json timing_source(const StepLog& steps) {
  const Nanos busy = steps.verify().total_ns() + steps.prefill().total_ns();
  Nanos by_source[kTimingSources] = {};
  for (int s = 1; s < kTimingSources; ++s) {
    by_source[s] = steps.verify().attention_source_ns[s] + steps.prefill().attention_source_ns[s];
    by_source[0] -= by_source[s];
  }
  by_source[0] += busy;
  Json json;
  for (int s = 0; s < kTimingSources; ++s) {
    json[timing_source_name(static_cast<TimingSource>(s))] = ratio(by_source[s], busy);
  }
  json["outside_table"] =
      ratio(steps.verify().outside_table_ns + steps.prefill().outside_table_ns, busy);
  return json;
}

Json kv_summary(const SimulationResult& result) {
  const KvCapacity& c = result.capacity;
  Json json = {{"slots", c.slots},
               {"origin", c.origin},
               {"estimated_slots", c.estimated_slots},
               {"bytes_per_slot", c.bytes_per_slot},
               {"memory_gb", c.memory_bytes * 1e-9},
               {"usable_gb", c.usable_bytes * 1e-9},
               {"weights_gb", c.weight_bytes * 1e-9},
               {"reserved_gb", c.reserved_bytes * 1e-9},
               {"pool_gb", c.pool_bytes * 1e-9},
               {"peak_used_slots", result.peak_slots},
               {"peak_occupancy", ratio(result.peak_slots, c.slots)},
               {"retractions", result.retractions},
               {"recomputed_tokens", result.recomputed_tokens},
               {"allocated_slots", result.allocator.allocated_slots},
               {"freed_slots", result.allocator.freed_slots},
               {"sorts", result.allocator.sorts},
               {"sorted_slots", result.allocator.sorted_slots}};
  LayoutSample sum;
  for (const LayoutSample& s : result.layout) {
    sum.prompt_slots += s.prompt_slots;
    sum.prompt_runs += s.prompt_runs;
    sum.decode_slots += s.decode_slots;
    sum.decode_runs += s.decode_runs;
    sum.adjacency += s.adjacency;
    sum.span_ratio += s.span_ratio;
  }
  // Token-weighted mean run lengths: sum of slots / sum of runs over all samples.
  const auto samples = static_cast<double>(result.layout.size());
  json["layout"] = {{"samples", result.layout.size()},
                    {"prompt_run_slots", ratio(sum.prompt_slots, sum.prompt_runs)},
                    {"decode_run_slots", ratio(sum.decode_slots, sum.decode_runs)},
                    {"adjacency", ratio(sum.adjacency, samples)},
                    {"span_ratio", ratio(sum.span_ratio, samples)}};
  return json;
}

// What attention makes of the memory: bytes of the contexts' KV rows of one rank, read once a
// verify step, over the attention time, and that rate as a share of the card's rated bandwidth.
Json attention_summary(const Scenario& scenario, const StepLog& steps) {
  const StepLog::Sums& v = steps.verify();
  const double bytes =
      static_cast<double>(v.context_tokens) * scenario.deployment.model.kv_bytes_per_token();
  const Nanos ns = v.part_ns[static_cast<int>(Part::kAttention)];
  const double gbps = ratio(bytes, static_cast<double>(ns));  // bytes a nanosecond are GB/s
  return {{"variant", scenario.deployment.cost.attention},
          {"kv_gbps", gbps},
          {"share_of_rated_dram", gbps / scenario.deployment.hardware.dram_gbps}};
}

// Means over verify steps (each step is a mean over its MoE layers).
Json moe_summary(const Scenario& scenario, const StepLog& steps) {
  const StepLog::Sums& v = steps.verify();
  const auto n = static_cast<double>(v.steps);
  const auto ranks = static_cast<double>(scenario.deployment.hardware.ranks);
  return {{"placement", scenario.deployment.moe.placement},
          {"routing", scenario.deployment.moe.routing},
          {"tokens_per_step", ratio(v.tokens, v.steps)},
          {"expected_load_share", ratio(v.expected_load_steps, v.steps)},
          {"activated_experts", ratio(v.activated_experts, n)},
          {"expert_imbalance", ratio(v.expert_imbalance, n)},
          {"pair_imbalance", ratio(v.pair_imbalance, n)},
          {"idle_rank_share", ratio(v.idle_ranks, n * ranks)}};
}

}  // namespace

Json make_summary(const Scenario& scenario, const Workload& workload,
                  const SimulationResult& result, const StepLog& steps) {
  const StepLog::Sums& v = steps.verify();
  const std::int64_t output = v.emitted_tokens + steps.prefill().emitted_tokens;
  Json json;
  json["requests"] = request_counts(workload, result);
  json["output_tokens"] = output;
  json["simulated_s"] = s_from_nanos(result.end_ns);
  json["throughput_tok_s"] = ratio(static_cast<double>(output), s_from_nanos(result.end_ns));
  add_latencies(json, result);
  json["step_ms"] = distribution_ms(v.durations_ns);
  // Tokens emitted by verify steps / (request, verify step) pairs, bonus included. The last step of
  // a request is cut at its output length.
  json["acceptance_length"] = ratio(v.emitted_tokens, v.request_steps);
  json["time_s"] = {{"verify", s_from_nanos(v.total_ns())},
                    {"prefill", s_from_nanos(steps.prefill().total_ns())},
                    {"idle", s_from_nanos(result.idle_ns)}};
  json["steps"] = {{"verify", v.steps}, {"prefill", steps.prefill().steps}};
  json["attribution"] = attribution(v.part_ns);
  json["bottleneck"] = bottleneck(v.part_ns);
  json["busy"] = busy_summary(steps, result);
  Json per_token;
  for (int p = 0; p < kParts; ++p) {
    per_token[part_name(static_cast<Part>(p))] =
        ratio(ms_from_nanos(v.part_ns[p]), static_cast<double>(v.emitted_tokens));
  }
  per_token["total"] = ratio(ms_from_nanos(v.total_ns()), static_cast<double>(v.emitted_tokens));
  json["ms_per_token"] = per_token;
  json["prefill_attribution"] = attribution(steps.prefill().part_ns);
  json["attention"] = attention_summary(scenario, steps);
  json["timing_source"] = timing_source(steps);
  json["kv"] = kv_summary(result);
  json["moe"] = moe_summary(scenario, steps);
  return json;
}

std::string requests_csv(const SimulationResult& result) {
  std::string text =
      "id,outcome,arrival_ms,input_tokens,output_tokens,queue_ms,prefill_ms,decode_ms,stall_ms,"
      "ttft_ms,e2e_ms,verify_steps,accepted_drafts,retractions\n";
  auto out = std::back_inserter(text);
  for (const RequestResult& r : result.requests) {
    const auto since_arrival = [&](Nanos ns) { return ns < 0 ? Nanos{-1} : ns - r.arrival_ns; };
    fmt::format_to(out, "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", r.id,
                   outcome_name(r.outcome), ms_text(r.arrival_ns), r.input_tokens, r.output_tokens,
                   ms_text(r.queue_ns), ms_text(r.prefill_ns), ms_text(r.decode_ns),
                   ms_text(r.stall_ns), ms_text(since_arrival(r.first_token_ns)),
                   ms_text(since_arrival(r.end_ns)), r.verify_steps, r.accepted_drafts,
                   r.retractions);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> flatten(const Json& summary) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [key, value] : summary.items()) {
    if (value.is_object()) {
      for (auto& [name, text] : flatten(value)) {
        all.emplace_back(std::string(key).append(".").append(name), text);
      }
    } else {
      all.emplace_back(key, value.is_string() ? value.get<std::string>()
                                              : (value.is_null() ? "" : value.dump()));
    }
  }
  return all;
}

}  // namespace shiftpoint
