"""Programs with small models whose graphs break in the library transformers.

They train and evaluate the models: classes of transformers 5.24 that break with torch 2.13, and for which a
small random configuration runs. LayerDrop is enabled if a model has it, at a rate so low that no layer is
skipped in these runs: after a skipped layer, dropout draws different numbers with the edit than without.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def _without(options: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {other: value for other, value in options.items() if other != name}


_SMALL: Mapping[str, Any] = {
    "vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 64, "max_position_embeddings": 64,
}  # fmt: skip
_SEQUENCES: Mapping[str, Any] = {
    "vocab_size": 99, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 64,
    "encoder_layerdrop": 0.001, "decoder_layerdrop": 0.001, "use_cache": False,
}  # fmt: skip
_GPT: Mapping[str, Any] = {
    "vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "use_cache": False,
}  # fmt: skip
_SPEECH: Mapping[str, Any] = {
    "vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 64, "conv_dim": (16, 16), "conv_kernel": (3, 3), "conv_stride": (2, 2),
    "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2,
    "layerdrop": 0.001,
}  # fmt: skip
_DETECTION: Mapping[str, Any] = {
    "backbone_config": {
        "model_type": "swin", "window_size": 7, "image_size": 128, "embed_dim": 12, "depths": [1, 1, 1, 1],
        "num_heads": [2, 2, 2, 2], "out_indices": [2, 3, 4],
    },
    "text_config": {
        "model_type": "bert", "vocab_size": 200, "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 64,
    },
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "num_queries": 9,
    "max_text_len": 16,
}  # fmt: skip
_CLIPS: Mapping[str, Any] = {
    "enable_fusion": True, "hidden_size": 64, "patch_embeds_hidden_size": 16, "depths": [2, 2],
    "num_attention_heads": [2, 4], "spec_size": 64, "num_mel_bins": 16, "patch_size": 4,
    "patch_stride": [4, 4], "window_size": 4, "projection_dim": 32,
}  # fmt: skip
_SPEAKING = ("Hubert", "Wav2Vec2", "WavLM", "UniSpeech", "UniSpeechSat", "Data2VecAudio")
_SEAMLESS: Mapping[str, Any] = {
    **_without(_SEQUENCES, "d_model"), "hidden_size": 32,
}  # fmt: skip


_INPUTS = {
    "text": "{'input_ids': ids, 'attention_mask': torch.ones_like(ids), 'labels': ids}",
    "classes": "{'input_ids': ids, 'attention_mask': torch.ones_like(ids)}",
    "speech": "{'input_values': torch.randn(2, 800)}",
    "detection": (
        "{'pixel_values': torch.randn(1, 3, 128, 128), 'input_ids': ids[:1], "
        "'attention_mask': torch.ones_like(ids[:1]), 'token_type_ids': torch.zeros_like(ids[:1])}"
    ),
    "clips": (
        "{'input_features': torch.randn(4, 4, 250, 16), "
        "'is_longer': torch.tensor([[True], [False], [True], [False]])}"
    ),
    "features": "{'input_features': torch.randn(2, 16, 120), 'labels': ids}",
}
_LOSSES = {
    **dict.fromkeys(("classes", "speech"), "[0].float().sin().sum()"),
    "clips": ".pooler_output.float().sin().sum()",
    "detection": ".logits.float().nan_to_num(0, 0, 0).sin().sum()",
}


@dataclass(frozen=True)
class Model:
    """A class of transformers, its configuration, and the kind of its inputs."""

    name: str
    config: str
    options: Mapping[str, Any]
    inputs: str = "text"
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def program(self) -> str:
        """A script that evaluates and trains the model, compiled."""
        options = ", ".join(f"{name}={value!r}" for name, value in {**self.options, **self.extra}.items())
        loss = _LOSSES.get(self.inputs, ".loss")
        return (
            f"import torch\nfrom transformers import {self.config}, {self.name}\n\n"
            f"torch.manual_seed(0)\nmodel = {self.name}({self.config}({options}))\n"
            f"compiled = torch.compile(model)\nids = torch.randint(3, 90, (2, 12))\n"
            f"inputs = {_INPUTS[self.inputs]}\n"
            f"for train in (False, True):\n    model.train(train)\n"
            f"    loss = compiled(**inputs){loss}\n    loss.backward()\n"
        )


def _sequences(name: str, **extra: Any) -> Model:
    return Model(f"{name}ForConditionalGeneration", f"{name}Config", _SEQUENCES, extra=extra)


MODELS = (
    *map(
        _sequences,
        ("Bart", "BigBirdPegasus", "Blenderbot", "BlenderbotSmall", "M2M100", "MBart", "Mvp", "NllbMoe"),
    ),
    *map(_sequences, ("PLBart", "Pegasus", "PegasusX")),
    Model(
        "MarianMTModel", "MarianConfig", _SEQUENCES, extra={"pad_token_id": 0, "decoder_start_token_id": 2}
    ),
    Model(
        "FSMTForConditionalGeneration",
        "FSMTConfig",
        _without(_SEQUENCES, "vocab_size"),
        extra={"src_vocab_size": 99, "tgt_vocab_size": 99, "langs": ["en", "de"]},
    ),
    Model(
        "LEDForConditionalGeneration",
        "LEDConfig",
        _without(_SEQUENCES, "max_position_embeddings"),
        extra={"attention_window": 4},
    ),
    Model("SeamlessM4TForTextToText", "SeamlessM4TConfig", _SEAMLESS),
    Model("SeamlessM4Tv2ForTextToText", "SeamlessM4Tv2Config", _SEAMLESS),
    Model(
        "WhisperForConditionalGeneration",
        "WhisperConfig",
        _without(_SEQUENCES, "max_position_embeddings"),
        "features",
        {
            "num_mel_bins": 16,
            "max_source_positions": 60,
            "max_target_positions": 40,
            "pad_token_id": 0,
            "decoder_start_token_id": 2,
        },
    ),
    Model("BioGptForCausalLM", "BioGptConfig", _SMALL, extra={"layerdrop": 0.001, "use_cache": False}),
    Model(
        "OPTForCausalLM",
        "OPTConfig",
        _without(_SMALL, "intermediate_size"),
        extra={"ffn_dim": 64, "word_embed_proj_dim": 32, "layerdrop": 0.001, "use_cache": False},
    ),
    Model(
        "TrOCRForCausalLM",
        "TrOCRConfig",
        {
            "vocab_size": 99,
            "d_model": 32,
            "decoder_layers": 2,
            "decoder_attention_heads": 4,
            "decoder_ffn_dim": 64,
            "max_position_embeddings": 64,
            "decoder_layerdrop": 0.001,
            "use_cache": False,
        },
    ),
    Model(
        "XGLMForCausalLM",
        "XGLMConfig",
        {
            "vocab_size": 99,
            "d_model": 32,
            "num_layers": 2,
            "attention_heads": 4,
            "ffn_dim": 64,
            "max_position_embeddings": 64,
            "layerdrop": 0.001,
            "use_cache": False,
        },
    ),
    Model("BertLMHeadModel", "BertConfig", _SMALL),
    Model("BertGenerationDecoder", "BertGenerationConfig", _SMALL),
    Model("GPT2LMHeadModel", "GPT2Config", _GPT),
    Model("OpenAIGPTLMHeadModel", "OpenAIGPTConfig", _without(_GPT, "use_cache")),
    Model("CTRLLMHeadModel", "CTRLConfig", _GPT, extra={"dff": 64}),
    Model(
        "FlaubertWithLMHeadModel",
        "FlaubertConfig",
        {
            "vocab_size": 99,
            "emb_dim": 32,
            "n_layers": 2,
            "n_heads": 4,
            "max_position_embeddings": 64,
            "layerdrop": 0.001,
            "use_cache": False,
        },
    ),
    Model("IBertForMaskedLM", "IBertConfig", _SMALL),
    Model("LongformerForMaskedLM", "LongformerConfig", _SMALL, extra={"attention_window": 4}),
    Model("MraForMaskedLM", "MraConfig", _SMALL),
    Model("YosoForMaskedLM", "YosoConfig", _SMALL),
    Model(
        "JetMoeForCausalLM",
        "JetMoeConfig",
        _SMALL,
        extra={"num_key_value_heads": 2, "num_local_experts": 4, "kv_channels": 8, "use_cache": False},
    ),
    Model(
        "OpenAIPrivacyFilterModel",
        "OpenAIPrivacyFilterConfig",
        _SMALL,
        "classes",
        {
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
            "head_dim": 8,
            "sliding_window": 8,
            "pad_token_id": 0,
        },
    ),
    Model(
        "HiggsAudioV2ForConditionalGeneration",
        "HiggsAudioV2Config",
        _SMALL,
        "classes",
        {"num_key_value_heads": 2, "head_dim": 8, "pad_token_id": 0, "use_cache": False},
    ),
    *(Model(f"{name}Model", f"{name}Config", _SPEECH, "speech") for name in _SPEAKING),
    Model("GroundingDinoForObjectDetection", "GroundingDinoConfig", _DETECTION, "detection"),
    Model("ClapAudioModel", "ClapAudioConfig", _CLIPS, "clips"),
)
"""The models: 42 classes."""
