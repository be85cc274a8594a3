"""PEFT: a model with LoRA is trained, and used with the adapter off."""
# needs: peft, transformers

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

if __name__ == "__main__":
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4,
        num_key_value_heads=4, max_position_embeddings=64, use_cache=False,
    )
    lora = LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    model = get_peft_model(LlamaForCausalLM(config), lora)
    compiled = torch.compile(model)
    tokens = torch.randint(0, 64, (2, 12))
    for _ in range(2):
        compiled(input_ids=tokens, labels=tokens).loss.backward()
    model.eval()
    with torch.no_grad():
        compiled(input_ids=tokens)
        with model.disable_adapter():
            compiled(input_ids=tokens)
