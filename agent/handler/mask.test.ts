import { expect, test } from 'vitest';
import { Mask, maskedDocument, maskedTexts } from './mask.ts';

function masked(secrets: string[], text: string, size: number): string {
  const mask = new Mask(secrets);
  const bytes = Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(mask.push(bytes.subarray(at, at + size)));
  return Buffer.concat([...parts, mask.end()]).toString('utf8');
}

test.each<[string, string[], string, string]>([
  ['one', ['swordfish'], 'the password is swordfish.', 'the password is [masked].'],
  ['at both ends', ['swordfish'], 'swordfish and swordfish', '[masked] and [masked]'],
  ['side by side', ['abcdef'], 'abcdefabcdef', '[masked][masked]'],
  ['overlapping itself', ['aaaaaa'], 'aaaaaaaaaa.', '[masked].'],
  ['one within the other', ['swordfish', 'swordfish-and-more'], 'x swordfish-and-more y', 'x [masked] y'],
  ['two that overlap', ['abcdef', 'efghij'], '-abcdefghij-', '-[masked]-'],
  ['an umlaut', ['Größe-ß'], 'Größe-ß Größe', '[masked] Größe'],
  ['nothing to hide', [], 'swordfish', 'swordfish'],
  ['only the beginning of it', ['swordfish'], 'swordfis', 'swordfis'],
  ['with a line break within', ['swordfish'], 'a sword\nfish b\n', 'a [masked] b\n'],
  ['with one of Windows', ['swordfish'], 'swo\r\nrdf\r\nish\r\n', '[masked]\r\n'],
  ['with an empty line within', ['swordfish'], '\n\nsword\n\nfish\r\n\r\n', '\n\nsword\n\nfish\r\n\r\n'],
  ['of two lines', ['sword\nfish'], 'a sword\nfish swordfish', 'a [masked] swordfish'],
])('secrets are masked in chunks of every size: %s', (_, secrets, text, expected) => {
  for (let size = 1; size <= text.length + 4; size += 1) expect(masked(secrets, text, size)).toBe(expected);
});

test('AZ-C3 values of at least six characters, lines of keys, and their JSON-escaped forms are masked', () => {
  const texts = maskedTexts({
    user: 'bob',
    password: 'a "quoted" one',
    nested: [{ key: '-----BEGIN-----\nMIIEvQIBADANBg\n-----END-----\n' }, { pin: 12345678, on: true }],
  });
  expect(texts).toEqual(expect.arrayContaining(['a "quoted" one', 'a \\"quoted\\" one', 'MIIEvQIBADANBg', '12345678']));
  expect(texts).not.toContain('bob');
  expect(texts).not.toContain('true');
});

test.each(['swordfish', 'käse & brot', 'sword/fish?>>'])(
  'AZ-C3 %s is masked in base64 too, at any offset',
  (secret) => {
    const texts = maskedTexts({ secret });
    for (const encoding of ['base64', 'base64url'] as const) {
      expect(masked(texts, Buffer.from(secret).toString(encoding), 7)).toBe('[masked]');
      for (const before of ['', 'a', 'ab', 'abc', '{"secret":"']) {
        const whole = Buffer.from(`${before}${secret}"}`).toString(encoding);
        const left = masked(texts, whole, 7);
        expect(left).toContain('[masked]');
        // What remains is the surrounding text, and the few bits of the secret that share a base64 character with it.
        expect(left.length).toBeLessThanOrEqual(whole.length - Math.floor((Buffer.byteLength(secret) * 4) / 3) + 10);
      }
    }
  },
);

test.each([
  ['base64', 76, '\n'],
  ['openssl', 64, '\n'],
  ['a mail', 76, '\r\n'],
])('AZ-C3 a long value is masked in base64 with the line breaks of %s', (_, columns, lineBreak) => {
  const secret = Array.from({ length: 12 }, (_, line) => `line ${line} of a key that is long`).join('\n');
  const texts = maskedTexts({ secret });
  const lines = (text: string) =>
    Buffer.from(text)
      .toString('base64')
      .match(new RegExp(`.{1,${columns}}`, 'g')) ?? [];
  const wrapped = `${lines(secret).join(lineBreak)}${lineBreak}`;
  for (const size of [1, 7, 76, 77, wrapped.length]) expect(masked(texts, wrapped, size)).toBe(`[masked]${lineBreak}`);
  const within = lines(`{"user":"bob","secret":"swordfish","more":"${'.'.repeat(99)}"}`).join(lineBreak);
  expect(masked(maskedTexts({ secret: 'swordfish' }), within, 5)).toContain('[masked]');
});

test('a value is masked in base64 wherever its lines break', () => {
  const encoded = Buffer.from('a swordfish').toString('base64');
  const texts = maskedTexts({ secret: 'a swordfish' });
  for (let at = 1; at < encoded.length; at += 1) {
    const broken = `${encoded.slice(0, at)}\n${encoded.slice(at)}`;
    for (let size = 1; size <= broken.length; size += 1) expect(masked(texts, broken, size)).toBe('[masked]');
    expect(maskedDocument({ message: `<${broken}>` }, texts)).toEqual({ message: '<[masked]>' });
  }
});

test.each([
  ['a line', 'waiting for 250 s.\n', 'waiting for 250 s.\n'],
  ['a line that ends with the first letter of a secret', 'waiting for 250 s\n', 'waiting for 250 '],
  ['a line of Windows', 'waiting\r\n', 'waiting\r\n'],
  ['a text without a line break', 'Continue? ', 'Continue? '],
  ['a text that ends with the beginning of a secret', 'a swor', 'a '],
  ['a line that ends with the beginning of a secret', 'a swo\n', 'a '],
  ['a carriage return after the beginning of a secret', 'a swo\r', 'a '],
  ['a whole secret', 'swordfish\n', '[masked]\n'],
])('%s is passed on as soon as it is written', (_, written, expected) => {
  expect(new Mask(['swordfish']).push(Buffer.from(written)).toString()).toBe(expected);
});

test('an endless run of line breaks is not held back', () => {
  const mask = new Mask(['swordfish']);
  const out = mask.push(Buffer.alloc(100_000, '\r\n'));
  expect(out.length).toBeGreaterThan(99_900);
  expect(Buffer.concat([out, mask.end()])).toEqual(Buffer.alloc(100_000, '\r\n'));
});

test('AZ-C3 secrets in a reported status are masked, and its other text is unchanged', () => {
  const document = [
    {
      status: { status: 'success', code: 5, Message: { id: 'success', params: ['success', 'of swordfish'] } },
      version: 1,
    },
  ];
  expect(maskedDocument(document, ['success', 'swordfish'])).toEqual([
    {
      status: { status: 'success', code: 5, Message: { id: 'success', params: ['[masked]', 'of [masked]'] } },
      version: 1,
    },
  ]);
});
