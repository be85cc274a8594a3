"""Beam search with a GRUCell decoder and length penalty."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)
VOCAB, BOS, EOS = 40, 0, 1

class Decoder(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.cell = nn.GRUCell(dim, dim)
        self.out = nn.Linear(dim, VOCAB)

    def forward(self, tok, h):
        h = self.cell(self.emb(tok), h)
        return F.log_softmax(self.out(h) * 3.0, -1), h

@torch.compile
def beam_step(decoder, tok, h, scores, done, step):
    logp, h = decoder(tok, h)
    # finished beams may only emit EOS for free
    frozen = torch.full_like(logp, float("-inf"))
    frozen[:, EOS] = 0.0
    logp = torch.where(done[:, None], frozen, logp)
    if step == 0:
        # all beams are equal, expand only the first
        cand = scores[:1, None] + logp[:1]
    else:
        cand = scores[:, None] + logp
    scores, flat = cand.flatten().topk(tok.size(0))
    parent = flat // VOCAB
    tok = flat % VOCAB
    done = done[parent] | (tok == EOS)
    finished = done.sum().item()
    if finished == tok.numel():
        print("all beams finished at step", step)
    return tok, h[parent], scores, done, parent.tolist(), finished

def beam_search(decoder, h0, width=4, max_len=20, alpha=0.7):
    h = h0.expand(width, -1).contiguous()
    tok = torch.full((width,), BOS)
    scores = torch.zeros(width)
    done = torch.zeros(width, dtype=torch.bool)
    seqs = [[] for _ in range(width)]
    for step in range(max_len):
        tok, h, scores, done, parent, n_done = beam_step(decoder, tok, h, scores, done, step)
        seqs = [seqs[p] + [t] for p, t in zip(parent, tok.tolist())]
        if n_done == width:
            break
    best, best_score = None, -1e9
    for s, sc in zip(seqs, scores.tolist()):
        n = s.index(EOS) + 1 if EOS in s else len(s)
        norm = sc / (((5 + n) / 6) ** alpha)
        if norm > best_score:
            best, best_score = s[:n], norm
    return best, best_score

dec = Decoder().eval()
dec.out.bias.data[EOS] += 0.4
with torch.no_grad():
    for i in range(4):
        h0 = torch.randn(1, 64)
        seq, sc = beam_search(dec, h0)
        print("sentence", i, "len", len(seq), "score %.4f" % sc, seq[:8])
    for width in (2, 6):
        seq, sc = beam_search(dec, h0, width=width)
        print("width", width, "score %.4f" % sc, len(seq))
