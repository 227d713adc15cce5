import { describe, expect, test } from 'vitest';
import { outlineSchema } from './schema-outline.ts';

const outlineOf = (publicSettings: unknown) => outlineSchema({ publicSettings });
/** Number of characters that an outline holds. */
const sizeOf = ({ settings, required, words }: ReturnType<typeof outlineSchema>): number =>
  [...settings, ...required, ...words.keys(), ...[...words.values()].flatMap((text) => Object.values(text))].join('')
    .length;
const properties = (names: readonly string[], property: unknown) =>
  Object.fromEntries(names.map((name) => [name, property]));
/** A reference from the node to itself. */
const again = { $ref: '#/$defs/node' };
const recursive = (node: object) => outlineOf({ ...again, $defs: { node } });

describe('a schema of a few kilobytes', () => {
  test('whose references multiply at each level is read within a limited number of steps', () => {
    let reads = 0;
    const level = (next: number) => ({ allOf: Array.from({ length: 30 }, () => ({ $ref: `#/$defs/${next}` })) });
    const last = {
      get title() {
        reads += 1;
        return 'Last';
      },
    };
    const $defs = { 0: level(1), 1: level(2), 2: level(3), 3: last };
    expect(outlineOf({ $ref: '#/$defs/0', $defs }).words.get('/publicSettings')).toEqual({ title: 'Last' });
    expect(reads).toBeLessThan(20_000);
  });

  test.each([
    ['long names', properties(['x'.repeat(50_000), 'b', 'c', 'd'], again)],
    [
      'many names',
      properties(
        Array.from({ length: 5_000 }, (_, n) => `name-${n}`),
        again,
      ),
    ],
    ['a long description', properties(['a', 'b', 'c', 'd'], { ...again, description: 'x'.repeat(50_000) })],
  ])('that refers to itself, with %s, results in a limited outline', (_, own) => {
    expect(sizeOf(recursive({ properties: own }))).toBeLessThan(30_000_000);
  });

  test('that refers to itself and requires many settings results in a limited outline', () => {
    const required = Array.from({ length: 5_000 }, (_, n) => `name-${n}`);
    const { settings, required: found } = recursive({ required, properties: properties(['a', 'b', 'c', 'd'], again) });
    expect([settings.size, found.size].map((size) => size <= 20_000)).toEqual([true, true]);
  });
});

test('a large schema without references is outlined completely', () => {
  const names = Array.from({ length: 4_000 }, (_, n) => `setting-${n}`);
  const { settings, required, words } = outlineOf({
    required: names,
    properties: properties(names, { title: 'A title' }),
  });
  expect([settings.size, required.size, words.size]).toEqual([4_001, 4_000, 4_000]);
});
