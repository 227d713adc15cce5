import { expect, test } from 'vitest';
import { formulaNameIn } from './read-zip.ts';
import { suggest } from './suggest.ts';

test('the name in the metadata of a formula is suggested as the last part of its id', () => {
  const version = '1.0.0';
  expect(suggest('package-1.0.0.zip', [], ['Acme.Lab'], null, 'blog')).toEqual({ handler: 'Acme.Lab.blog', version });
  expect(suggest('package-1.0.0.zip', ['Other.blog'], ['A', 'B'], null, 'blog').handler).toBe('Other.blog');
  expect(suggest('Acme.Lab.blog-1.0.0.zip', [], [], null, 'blog').handler).toBe('Acme.Lab.blog');
});

test('a handler is suggested by the name of its file', () => {
  expect(suggest('probe-1.2.zip', ['Acme.Lab.Probe'], [], null).handler).toBe('Acme.Lab.Probe');
  expect(suggest('probe-1.2.zip', [], ['Acme.Lab'], null).handler).toBe('Acme.Lab.probe');
  expect(suggest('photo.png', [], ['Acme.Lab'], null)).toEqual({ handler: '', version: '' });
});

test.each([
  ['name: blog\n', 'blog'],
  ['summary: x\nname:   "blog"\n', 'blog'],
  ['summary: |\n  name: no\n', null],
  [null, null],
])('the name in %j is %j', (metadata, name) => {
  expect(formulaNameIn(metadata)).toBe(name);
});
