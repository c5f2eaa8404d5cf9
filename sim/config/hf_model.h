// A Hugging Face config.json in place of a model preset: the fields that decode time depends on, as
// values of [model] keys.
#pragma once

#include <string>
#include <vector>

namespace shiftpoint {

struct ModelValue {
  std::string key;    // "model.layers"
  std::string value;  // text, as a preset would hold it
  std::string tag;    // "cited: num_hidden_layers"
};

// `text` is the content of the file, `name` what messages call it. Multi-modal files are read from
// their text_config. Only models with a latent (MLA) cache can be priced: others are refused. The
// file says nothing of a drafter: model.drafter_* keep their values. Throws UserError with file and
// field.
std::vector<ModelValue> read_hf_config(const std::string& text, const std::string& name);

}  // namespace shiftpoint
