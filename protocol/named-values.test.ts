import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { anyNamed } from './named-values.ts';

const sizes = z.object({ files: anyNamed(z.object({ size: z.int() })) });

describe('values of any name', () => {
  test('can be named __proto__, which changes no prototype', () => {
    const { files } = sizes.parse(JSON.parse('{"files":{"__proto__":{"size":1},"constructor":{"size":2}}}'));
    expect(Object.entries(files)).toEqual([
      ['__proto__', { size: 1 }],
      ['constructor', { size: 2 }],
    ]);
    expect(Object.getPrototypeOf(files)).toBe(Object.prototype);
  });

  test.each([
    ['{"files":{"__proto__":{"size":"x"}}}', ['files', '__proto__', 'size']],
    ['{"files":[]}', ['files']],
    ['{"files":null}', ['files']],
    ['{}', ['files']],
  ])('%s is invalid, with the path of the fault', (text, path) => {
    expect(sizes.safeParse(JSON.parse(text)).error?.issues.map((issue) => issue.path)).toEqual([path]);
  });
});
