import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Content, isSealed, linkOf, sealOf } from './seal.ts';

const key = randomBytes(32);
const content: Content = {
  at: new Date('2030-01-01T10:00:00.123Z'),
  ...{ actorKind: 'user', actorId: 'ada', actorName: 'Ada' },
  ...{ door: 'page', address: '192.0.2.1', client: 'Firefox' },
  ...{ action: 'vm.update', targetKind: 'vm', targetId: 'vm-1', vmId: '0197a3f0-0000-7000-8000-000000000000' },
  ...{ requestId: 'r-1', details: { name: 'a' }, before: { tags: { b: '1', a: '2' } }, after: { share: 0.1 } },
};

/** Values that differ from the original, for each field that readers see. */
const others: { [Field in keyof Content]: Content[Field][] } = {
  at: [new Date('2030-01-01T10:00:00.124Z')],
  actorKind: ['token'],
  actorId: ['eve'],
  actorName: ['Eve', ''],
  door: ['api', null],
  address: ['192.0.2.2', null],
  client: ['firefox', '', null],
  action: ['vm.delete'],
  targetKind: ['handler'],
  targetId: ['vm-2'],
  vmId: [null],
  requestId: ['r-2'],
  details: [{}, { name: 'b' }, { name: 'a', more: null }],
  before: [null, {}, { tags: { b: '2', a: '1' } }, { tags: { b: 1, a: '2' } }],
  after: [null, { share: 0.2 }, { share: '0.1' }],
};
const altered = Object.entries(others).flatMap(([field, values]) =>
  values.map((value): [string, Content] => [`${field} ${JSON.stringify(value)}`, { ...content, [field]: value }]),
);

const row = (changed: object = {}) => ({ ...content, id: 7, seal: 'once.digest', ...changed });
const link = linkOf(key, 'before', 3, row());

describe('the seal of an act', () => {
  const seal = sealOf(key, content);

  test('is valid for its content, whatever the order of the keys', () => {
    expect(isSealed(key, content, seal)).toBe(true);
    const reordered = Object.fromEntries(Object.entries(content).toReversed()) as Content;
    expect(isSealed(key, { ...reordered, before: { tags: { a: '2', b: '1' } } }, seal)).toBe(true);
  });

  test.each(altered)('is not valid after a change of %s', (_, changed) => {
    expect(isSealed(key, changed, seal)).toBe(false);
  });

  test('is unique: the same content gets a different seal each time', () => {
    expect(sealOf(key, content)).not.toBe(seal);
  });

  test.each([
    ['created with another key', () => sealOf(randomBytes(32), content)],
    ['another number', () => `other.${seal.split('.')[1]}`],
    ['no digest', () => seal.split('.')[0] ?? ''],
    ['more text at the end', () => `${seal}.more`],
    ['empty text', () => ''],
  ])('is not valid: %s', (_, other) => {
    expect(isSealed(key, content, other())).toBe(false);
  });

  test('is not valid if a value moves to the next field', () => {
    const moved = { ...content, actorId: 'adaAda', actorName: '' };
    expect(isSealed(key, moved, seal)).toBe(false);
  });
});

describe('the link of an act', () => {
  test('is the same for the same row in the same place', () => {
    expect(linkOf(key, 'before', 3, row())).toBe(link);
  });

  test.each([
    ['the act before it', () => linkOf(key, 'other', 3, row())],
    ['its number', () => linkOf(key, 'before', 4, row())],
    ['its id', () => linkOf(key, 'before', 3, row({ id: 8 }))],
    ['its seal', () => linkOf(key, 'before', 3, row({ seal: 'once.other' }))],
    ['a missing seal', () => linkOf(key, 'before', 3, row({ seal: null }))],
    ['the key', () => linkOf(randomBytes(32), 'before', 3, row())],
  ])('depends on %s', (_, other) => {
    expect(other()).not.toBe(link);
  });

  test.each(altered)('depends on %s', (_, changed) => {
    expect(linkOf(key, 'before', 3, { ...changed, id: 7, seal: 'once.digest' })).not.toBe(link);
  });
});
