#include "learn/chapters.h"

#include "base/error.h"

namespace tril::learn {

const std::vector<Chapter>& chapters() {
  static const std::vector<Chapter> all{
      {1, "01-ids.md", {"From text to ids", "从文本到编号"}, {"How does text become numbers?", "文本怎样变成数字？"}},
      {2,
       "02-embedding-and-positions.md",
       {"Embedding and positions", "词嵌入与位置编码"},
       {"How does a number become a vector that knows its place?", "编号怎样变成带有位置信息的向量？"}},
      {3,
       "03-one-head.md",
       {"One head by hand", "手算一个注意力头"},
       {"How does a token take something from other tokens?", "一个词元怎样从别的词元那里取得信息？"}},
      {4, "04-mask.md", {"The mask", "掩码"}, {"Why does no token see the answer?", "为什么词元看不到答案？"}},
      {5,
       "05-many-heads.md",
       {"Many heads", "多头注意力"},
       {"Why is one attention cut into many?", "为什么要把一个注意力头切成多个？"}},
      {6,
       "06-residuals-and-norms.md",
       {"Residuals and norms", "残差与归一化"},
       {"Why can a deep stack learn?", "很深的网络为什么还能训练？"}},
      {7,
       "07-feed-forward.md",
       {"Feed-forward", "前馈网络"},
       {"What happens to a token by itself?", "每个词元单独经过什么处理？"}},
      {8,
       "08-cross-attention.md",
       {"Cross-attention", "交叉注意力"},
       {"How does the decoder read the source?", "解码器怎样读源句？"}},
      {9,
       "09-whole-decoder.md",
       {"The whole decoder", "完整的解码器"},
       {"Where are the 35,474,192 parameters?", "35,474,192 个参数都在哪里？"}},
      {10,
       "10-loss.md",
       {"Loss and teacher forcing", "损失与教师强制"},
       {"How wrong is a guess, and what does the decoder read while it learns?",
        "怎样衡量猜错了多少？训练时解码器读什么？"}},
      {11,
       "11-backpropagation.md",
       {"Backpropagation", "反向传播"},
       {"Which way should each weight move?", "每个权重该往哪边动？"}},
      {12,
       "12-training.md",
       {"Training tricks", "训练技巧"},
       {"What makes training fast and stable?", "怎样让训练又快又稳？"}},
      {13,
       "13-decoding.md",
       {"Decoding and the cache", "解码与缓存"},
       {"How does text come out, and what does a token cost?", "文本怎样生成？生成一个词元代价多大？"}},
      {14,
       "14-since-2017.md",
       {"Since 2017, and what it is for", "2017 年以来的变化，以及解码器的用途"},
       {"What did Llama, T5 and Gemma change?", "Llama、T5、Gemma 改了什么？"}},
  };
  return all;
}

const Chapter& chapter(int number) {
  check(number >= 1 && number <= static_cast<int>(chapters().size()), "chapter",
        "there is no chapter {}: they are 1 to {}", number, chapters().size());
  return chapters()[static_cast<std::size_t>(number) - 1];
}

}  // namespace tril::learn
