"""Word-level LSTM language model: toy regex tokenizer, a bit of training, top-k sampling."""
import re
from collections import Counter
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)

TEXT = """the cat sat on the mat . the dog sat on the log . a cat and a dog met on the road .
the cat said hello to the dog , and the dog said hello to the cat . then they sat on the mat .""" * 6

class Tokenizer:
    PAT = re.compile(r"\w+|[^\w\s]")

    def __init__(self, text):
        counts = Counter(self.PAT.findall(text))
        self.itos = ["<unk>"] + [w for w, _ in counts.most_common()]
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def encode(self, s):
        return [self.stoi.get(w, 0) for w in self.PAT.findall(s)]

    def decode(self, ids):
        return " ".join(self.itos[i] for i in ids)

class LSTMLM(nn.Module):
    def __init__(self, vocab, dim=48, hidden=64):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, hidden, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(hidden, vocab)

    def forward(self, x, state=None):
        h, state = self.rnn(self.emb(x), state)
        return self.head(self.drop(h)), state

@torch.compile
def pick(logits, temperature, top_k=5):
    logits = logits / temperature
    v, _ = torch.topk(logits, top_k)
    logits[logits < v[-1]] = -float("inf")
    probs = F.softmax(logits, -1)
    idx = torch.multinomial(probs, 1)
    return idx.item()

def generate(model, tok, prompt, n=12, temperature=1.0):
    model.eval()
    ids = tok.encode(prompt)
    x, state = torch.tensor([ids]), None
    with torch.no_grad():
        for _ in range(n):
            logits, state = model(x, state)
            nxt = pick(logits[0, -1], temperature)
            ids.append(nxt)
            x = torch.tensor([[nxt]])
    return tok.decode(ids)

tok = Tokenizer(TEXT)
data = torch.tensor(tok.encode(TEXT))
model = LSTMLM(len(tok.itos))
model = torch.compile(model)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)

BPTT, BS = 16, 8
for step in range(40):
    start = torch.randint(0, len(data) - BPTT - 1, (BS,))
    x = torch.stack([data[s:s + BPTT] for s in start])
    y = torch.stack([data[s + 1:s + BPTT + 1] for s in start])
    logits, _ = model(x)
    loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()

print("vocab", len(tok.itos), "loss %.4f" % loss.item())
for temp in (0.5, 0.8, 1.0):
    print(temp, generate(model, tok, "the cat", temperature=temp))
