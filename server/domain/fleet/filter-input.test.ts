import { expect, test } from 'vitest';
import { parse } from '#server/domain/parse.ts';
import { extensionHealths, vmHealths } from '#server/domain/verdicts/index.ts';
import { fleetField } from './field.ts';
import { coreFields } from './fields.ts';
import { fleetFilterInput } from './filter-input.ts';

const x = (length: number) => 'x'.repeat(length);
const tagsOf = (count: number) => Array.from({ length: count }, () => ({ name: 'site' }));
const filterInput = fleetFilterInput(coreFields);

test.each([
  [{}],
  [{ q: '' }],
  [{ q: x(200) }],
  [{ health: [] }],
  [{ health: [...vmHealths] }],
  [{ tags: tagsOf(16) }],
  [{ tags: [{ name: x(256), value: x(256) }] }],
  [{ tags: [{ name: 'site', value: '' }] }],
  [{ handler: x(300) }],
  [{ version: '24' }],
  [{ version: '2.4.1.*' }],
  [{ version: '2.4.*,2.5.0.0,3' }],
  [{ olderThan: '2.4.1.0' }],
  [{ exitCode: -1 }],
  [{ state: ['failed', 'disabled'], cause: ['timeout', 'exit'] }],
  [{ overdue: ['yes'], hasMessage: ['no'] }],
  [{ stateAfter: '2026-03-01T12:00:00Z', changedBefore: '2026-03-01T12:00:00.123456Z' }],
  [{ messageId: x(256) }],
  [{ silentMinutes: 1 }],
  [{ silentMinutes: 525_600 }],
])('accepts %j as it is', (filter) => {
  expect(parse(filterInput, filter)).toEqual(filter);
});

test.each([
  [null, '', 'field_not_object', {}],
  [{ q: 7 }, '/q', 'field_not_text', {}],
  [{ q: x(201) }, '/q', 'field_too_long', { maximum: 200 }],
  [{ health: 'failed' }, '/health', 'field_not_array', {}],
  [{ health: ['failed', 'disabled'] }, '/health/1', 'field_choice', { choices: vmHealths.join(', ') }],
  [{ health: [...vmHealths, 'failed'] }, '/health', 'field_too_many', { maximum: vmHealths.length }],
  [{ tags: { site: 'a' } }, '/tags', 'field_not_array', {}],
  [{ tags: tagsOf(17) }, '/tags', 'field_too_many', { maximum: 16 }],
  [{ tags: [{ name: 'a' }, { name: '' }] }, '/tags/1/name', 'field_empty', {}],
  [{ tags: [{ value: 'a' }] }, '/tags/0/name', 'field_missing', {}],
  [{ tags: [{ name: x(257) }] }, '/tags/0/name', 'field_too_long', { maximum: 256 }],
  [{ tags: [{ name: 'a', value: x(257) }] }, '/tags/0/value', 'field_too_long', { maximum: 256 }],
  [{ tags: [{ name: 'a', value: null }] }, '/tags/0/value', 'field_not_text', {}],
  [{ handler: '' }, '/handler', 'field_empty', {}],
  [{ handler: x(301) }, '/handler', 'field_too_long', { maximum: 300 }],
  [{ version: '2.*.1' }, '/version', 'version_filter_form', {}],
  [{ version: '' }, '/version', 'version_filter_form', {}],
  [{ version: `1.${'1'.repeat(3_999)}` }, '/version', 'field_too_long', { maximum: 4_000 }],
  [{ otherHandler: 'Probe' }, '/otherHandler', 'handler_filter_form', {}],
  [{ otherHandler: 'Acme.Lab.Probe,' }, '/otherHandler', 'handler_filter_form', {}],
  [{ version: '2.4.*,' }, '/version', 'version_filter_form', {}],
  [{ olderThan: '2.4.*' }, '/olderThan', 'version_form', {}],
  [{ olderThan: '2.04' }, '/olderThan', 'version_form', {}],
  [{ state: ['ill'] }, '/state/0', 'field_choice', { choices: extensionHealths.join(', ') }],
  [{ overdue: ['maybe'] }, '/overdue/0', 'field_choice', { choices: 'yes, no' }],
  [{ stateAfter: 'yesterday' }, '/stateAfter', 'field_format', {}],
  [{ stateAfter: '2026-02-30T12:00:00Z' }, '/stateAfter', 'field_format', {}],
  [{ stateAfter: '2026-03-01T12:00:00+01:00' }, '/stateAfter', 'field_format', {}],
  [{ messageId: '' }, '/messageId', 'field_empty', {}],
  [{ messageId: x(257) }, '/messageId', 'field_too_long', { maximum: 256 }],
  [{ silentMinutes: 0 }, '/silentMinutes', 'field_too_small', { minimum: 1 }],
  [{ silentMinutes: 525_601 }, '/silentMinutes', 'field_too_big', { maximum: 525_600 }],
  [{ silentMinutes: 1.5 }, '/silentMinutes', 'field_not_integer', {}],
  [{ silentMinutes: '10' }, '/silentMinutes', 'field_not_number', {}],
])('rejects %j at %j with %s', (filter, path, code, params) => {
  const rejection = expect(() => parse(filterInput, filter));
  rejection.toThrow(
    expect.objectContaining({
      kind: 'unprocessable',
      code: 'invalid',
      faults: [{ path, code, ...(Object.keys(params).length > 0 && { params }) }],
    }),
  );
});

test('names every fault of a filter, and repeats no value', () => {
  const filter = { version: 'secret-1', health: ['secret-2'], silentMinutes: -5, tags: [{ name: '' }] };
  let thrown: unknown;
  try {
    parse(filterInput, filter);
  } catch (error) {
    thrown = error;
  }
  const { faults } = thrown as { faults: { path: string }[] };
  expect(faults.map(({ path }) => path).toSorted()).toEqual([
    '/health/0',
    '/silentMinutes',
    '/tags/0/name',
    '/version',
  ]);
  expect(JSON.stringify(faults)).not.toContain('secret');
});

test('a field of another module is part of the filter of its process only', () => {
  const site = fleetField({
    ...{ name: 'site', parameter: 'site', label: 'filter.tag', isSetByPeople: true, of: 'vm' },
    value: { kind: 'words', words: ['north', 'south'] },
    where: () => [],
  });
  const filter = { site: ['north'] };
  expect(parse(fleetFilterInput([...coreFields, site]), filter)).toEqual(filter);
  expect(parse(filterInput, filter)).toEqual({});
  expect(() => parse(fleetFilterInput([...coreFields, site]), { site: ['east'] })).toThrow('invalid');
});
