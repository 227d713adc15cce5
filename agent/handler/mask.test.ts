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
])('%s, in chunks of every size', (_, secrets, text, expected) => {
  for (let size = 1; size <= text.length + 4; size += 1) expect(masked(secrets, text, size)).toBe(expected);
});

test('AZ-C3 values of six characters or more are hidden, each line of a key, and as JSON spells them', () => {
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
  'AZ-C3 %s is hidden in base64 too, wherever it stands in it',
  (secret) => {
    const texts = maskedTexts({ secret });
    for (const encoding of ['base64', 'base64url'] as const) {
      expect(masked(texts, Buffer.from(secret).toString(encoding), 7)).toBe('[masked]');
      for (const before of ['', 'a', 'ab', 'abc', '{"secret":"']) {
        const whole = Buffer.from(`${before}${secret}"}`).toString(encoding);
        const left = masked(texts, whole, 7);
        expect(left).toContain('[masked]');
        // What is left are its neighbours, and of the secret the few bits that share a character with them.
        expect(left.length).toBeLessThanOrEqual(whole.length - Math.floor((Buffer.byteLength(secret) * 4) / 3) + 10);
      }
    }
  },
);

test('AZ-C3 a status is told without secrets, and its words stay as they are', () => {
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
