// What the small model learns: texts that a seeded generator draws. An example is { ids, from, given }: the loss counts the tokens from
// `from` on, and generation gets the first `given` tokens and writes the rest.

// A hash of 32 bits [the finaliser of MurmurHash3], and numbers below 1 that depend on the seed alone.
function mixed(x) {
  x = Math.imul(x ^ (x >>> 16), 0x85EBCA6B);
  x = Math.imul(x ^ (x >>> 13), 0xC2B2AE35);
  return (x ^ (x >>> 16)) >>> 0;
}
function randomFrom(seed) {
  let n = mixed(seed + 1);
  return () => mixed(n = (n + 0x9E3779B9) | 0) / 2 ** 32;
}
const below = (random, n) => Math.floor(n * random());
const normal = random => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

// Questions that training never draws, one in eight, test what has been learned.
const isHeldOut = question => mixed([...question].reduce((hash, c) => Math.imul(hash, 31) + c.codePointAt(0), 7)) % 8 === 0;
// A task of questions and answers with a sign between them: "abcd>dcba". pair(random): [question, answer]
function pairTask(characters, positions, pair) {
  const draw = (random, held) => {
    for (;;) {
      const [question, answer] = pair(random);
      if (isHeldOut(question) !== held) continue;
      const ids = [...`${question}>${answer}`].map(c => characters.indexOf(c)), given = question.length + 1;
      return { ids, from: given, given };
    }
  };
  return { characters, positions, batch: 16, isHeldOut: true, draw };
}
function reversalTask() {
  const letters = 'abcdefgh', least = 3, most = 6;
  return pairTask([...letters, '>'], 2 * most + 1, random => {
    const word = Array.from({ length: least + below(random, most - least + 1) }, () => letters[below(random, letters.length)]);
    return [word.join(''), word.reverse().join('')];
  });
}
// Days of the years 2000 to 2029: "3 May 2021>2021-05-03".
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
function dateTask() {
  const characters = [...new Set('0123456789 ->' + MONTHS.join(''))].sort(), two = n => String(n).padStart(2, '0');
  return pairTask(characters, '31 May 2021>2021-05-31'.length, random => {
    const year = 2000 + below(random, 30), month = below(random, 12), days = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
    const day = 1 + below(random, days);
    return [`${day} ${MONTHS[month]} ${year}`, `${year}-${two(month + 1)}-${two(day)}`];
  });
}
// Windows of a text; what is tested is whether the model continues the text that it has learned.
const TEXT = { window: 24, given: 8, least: 32, most: 2000, characters: 120 };
function textTask(text) {
  const all = [...text], characters = [...new Set(all)].sort();
  const draw = random => {
    const at = below(random, all.length - TEXT.window + 1);
    return { ids: all.slice(at, at + TEXT.window).map(c => characters.indexOf(c)), from: 1, given: TEXT.given };
  };
  return { characters, positions: TEXT.window, batch: 8, isHeldOut: false, draw };
}
// What is wrong with a text to learn, as a key and parts of the table of words; null: nothing.
function wrongWithText(text) {
  const all = [...text], kinds = new Set(all).size;
  if (all.length < TEXT.least || all.length > TEXT.most) return ['l_wrong_length', TEXT.least, TEXT.most, all.length];
  return kinds > TEXT.characters ? ['l_wrong_characters', TEXT.characters, kinds] : null;
}
