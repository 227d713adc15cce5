import { expect, test } from 'vitest';
import { Mask, maskedTexts } from './mask.ts';

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
