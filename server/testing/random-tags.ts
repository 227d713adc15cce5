const known = ['und', 'de', 'DE', 'zh', 'zh-CHT', 'cmn', 'iw', 'i', 'x', 'u', 'root', 'mul', 'zxx', 'sr', 'art-lojban'];
const scripts = ['Latn', 'hant', 'Hans', 'Cyrl', 'Zzzz', 'Qaaa'];
const regions = ['DE', 'us', 'TW', '419', '001', 'ZZ', 'XA', 'XB', 'AA'];
const others = ['1996', 'valencia', 'rozaj', 'u-ca-buddhist', 'x-private', 'u', 't-en', 'a-bbb-bbb', 'posix', '*', ''];
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const foreign = [...' -_;=*/"\\[](){}<>@.:', 'é', 'ß', 'ı', 'İ', 'Ａ', '日', '😀', '\u202e', '\ud800'];

/** Returns a seeded generator of numbers from 0 to 1. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

/** Returns texts that are valid, nearly valid or invalid language tags. The same seed gives the same texts. */
export function randomTags(count: number, seed: number): string[] {
  const random = randomFrom(seed);
  const pick = (list: readonly string[] | string): string => list[Math.floor(random() * list.length)] ?? '';
  const word = () => Array.from({ length: Math.floor(random() * 10) }, () => pick(letters)).join('');
  const noise = () => Array.from({ length: Math.floor(random() * 12) }, () => pick(foreign) + word()).join('');
  const tag = (): string => {
    const parts = [random() < 0.6 ? pick(known) : word()];
    if (random() < 0.4) parts.push(pick(scripts));
    if (random() < 0.5) parts.push(pick(regions));
    while (random() < 0.3) parts.push(random() < 0.5 ? pick(others) : word());
    return parts.join(random() < 0.8 ? '-' : '_');
  };
  return Array.from({ length: count }, () => (random() < 0.1 ? noise() : tag()));
}
