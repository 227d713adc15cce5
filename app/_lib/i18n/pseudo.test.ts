import { expect, it } from 'vitest';
import { pseudo } from './pseudo.ts';

it('makes a sentence 40 % longer and keeps placeholders and tags', () => {
  const made = pseudo('Delete {{count}} VMs <b>now</b>');
  expect(made).toContain('{{count}}');
  expect(made).toContain('<b>ñóŵ</b>');
  expect(made).toMatch(/^\[Ðéļéţé .*·+\]$/);
  expect(made.length).toBeGreaterThanOrEqual('Delete {{count}} VMs <b>now</b>'.length * 1.2);
});
