import { expect, it } from 'vitest';
import { mirrored, mirroredBundle, pseudo } from './pseudo.ts';

it('makes a sentence 40% longer and keeps placeholders and tags', () => {
  const made = pseudo('Delete {{count}} VMs <b>now</b>');
  expect(made).toContain('{{count}}');
  expect(made).toContain('<b>ñóŵ</b>');
  expect(made).toMatch(/^\[Ðéļéţé .*·+\]$/);
  expect(made.length).toBeGreaterThanOrEqual('Delete {{count}} VMs <b>now</b>'.length * 1.2);
});

it('lengthens a paragraph without creating words longer than 40 characters', () => {
  const made = pseudo('It restarts the machine. '.repeat(20));
  expect(made.length).toBeGreaterThanOrEqual(25 * 20 * 1.4);
  expect(Math.max(...made.split(' ').map((word) => word.length))).toBeLessThanOrEqual(40);
});

it('reverses the words of a sentence, but not its placeholders', () => {
  expect(mirrored('Delete {{count}} VMs <b>now</b>')).toBe(
    '\u202eDelete\u202c {{count}} \u202eVMs\u202c <b>\u202enow\u202c</b>',
  );
});

it('has every plural form of Arabic, and keeps the English text for zero', () => {
  const made = mirroredBundle({ row_zero: 'None', row_one: 'One', row_other: '{{count}} rows' });
  expect(Object.keys(made).sort()).toEqual(['row_few', 'row_many', 'row_one', 'row_other', 'row_two', 'row_zero']);
  expect(made.row_zero).toContain('None');
});
