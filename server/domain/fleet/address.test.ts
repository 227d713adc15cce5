import { describe, expect, test } from 'vitest';
import type { FieldShape, FieldValue, TagFilter, ValueOf } from '#server/domain/fleet-field.ts';
import { vmHealths } from '#server/domain/verdicts/index.ts';
import { readParameter, tagFrom, tagText, writeParameter } from './address.ts';
import { coreFields } from './fields.ts';
import { valueSchema } from './filter-input.ts';

type Value = ValueOf<FieldValue> | undefined;

function fieldOf(parameter: string): FieldShape {
  const field = coreFields.find((one) => one.parameter === parameter);
  if (field === undefined) throw new Error(`no field ${parameter}`);
  return field;
}

const x = (length: number) => 'x'.repeat(length);
const tagsOf = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `t${n}`, value: String(n) }));

/** Values of a URL parameter, the filter value that they become, and whether all of them are valid. */
const readings: readonly [parameter: string, given: readonly string[], value: Value, isValid: boolean][] = [
  // Absent and empty values are not conditions.
  ['q', [], undefined, true],
  ['q', [''], undefined, true],
  ['health', [''], undefined, true],
  ['tag', [''], undefined, true],
  ['silentMinutes', [''], undefined, true],
  // Texts keep every character except NUL, up to their maximum length.
  ['q', [' a  b '], ' a  b ', true],
  ['q', ['%_\\\'"&=+#,'], '%_\\\'"&=+#,', true],
  ['q', ['東京 😀'], '東京 😀', true],
  ['q', ['a\0b'], undefined, false],
  ['q', [x(200)], x(200), true],
  ['q', [x(201)], undefined, false],
  ['handler', [x(300)], x(300), true],
  ['handler', [x(301)], undefined, false],
  ['messageId', [x(256)], x(256), true],
  ['messageId', [x(257)], undefined, false],
  // Only the first of several texts counts.
  ['q', ['first', 'second'], 'first', true],
  ['q', ['', 'second'], 'second', true],
  // Versions, complete or as a prefix.
  ['version', ['2'], '2', true],
  ['version', ['2.*'], '2.*', true],
  ['version', ['2.4.1.0'], '2.4.1.0', true],
  ['version', ['2.4.1.*'], '2.4.1.*', true],
  ['version', ['2.4.1.0.*'], undefined, false],
  ['version', ['2.4.1.0.0'], undefined, false],
  ['version', ['2.4*'], undefined, false],
  ['version', ['2.*.1'], undefined, false],
  ['version', ['*'], undefined, false],
  ['version', ['v2'], undefined, false],
  ['version', ['2.4\n'], undefined, false],
  ['version', ['2.4.*,3'], '2.4.*,3', true],
  ['version', ['2.4.*,x'], undefined, false],
  ['version', [','], undefined, false],
  ['olderThan', ['2.4.1.0'], '2.4.1.0', true],
  ['olderThan', ['2.4.*'], undefined, false],
  ['olderThan', ['01'], undefined, false],
  ['olderThan', ['1.2147483647'], '1.2147483647', true],
  ['olderThan', ['1.2147483648'], undefined, false],
  ['exitCode', ['-1'], -1, true],
  ['exitCode', ['2147483648'], undefined, false],
  ['state', ['disabled,failed'], ['failed', 'disabled'], true],
  ['cause', ['timeout,bad'], ['timeout'], false],
  // Valid times in UTC.
  ['stateAfter', ['2026-03-01T12:00:00Z'], '2026-03-01T12:00:00Z', true],
  ['changedAfter', ['2026-03-01T12:00:00.123456Z'], '2026-03-01T12:00:00.123456Z', true],
  ['sinceAfter', ['2026-02-29T12:00:00Z'], undefined, false],
  ['sinceAfter', ['2026-03-01T25:00:00Z'], undefined, false],
  ['sinceAfter', ['2026-03-01T12:00:00+01:00'], undefined, false],
  ['sinceAfter', ['2026-03-01'], undefined, false],
  ['sinceAfter', ['0000-01-01T00:00:00Z'], undefined, false],
  // Known values in order of severity, each once.
  ['health', ['failed'], ['failed'], true],
  ['health', ['healthy,failed'], ['failed', 'healthy'], true],
  ['health', ['failed,failed'], ['failed'], true],
  ['health', ['failed,'], ['failed'], true],
  ['health', ['failed,ill'], ['failed'], false],
  ['health', ['disabled'], [], false],
  ['health', ['Failed'], [], false],
  ['health', [vmHealths.join(',')], [...vmHealths], true],
  // Whole numbers within their limits.
  ['silentMinutes', ['1'], 1, true],
  ['silentMinutes', ['0010'], 10, true],
  ['silentMinutes', ['525600'], 525_600, true],
  ['silentMinutes', ['525601'], undefined, false],
  ['silentMinutes', ['0'], undefined, false],
  ['silentMinutes', ['-1'], undefined, false],
  ['silentMinutes', ['1.5'], undefined, false],
  ['silentMinutes', ['1e3'], undefined, false],
  ['silentMinutes', [' 1'], undefined, false],
  ['silentMinutes', ['٣'], undefined, false],
  // Tags by name, with a value, or with an empty value.
  ['tag', ['env'], [{ name: 'env' }], true],
  ['tag', ['env='], [{ name: 'env', value: '' }], true],
  ['tag', ['env=a=b'], [{ name: 'env', value: 'a=b' }], true],
  ['tag', ['a%3Db%25=%3D'], [{ name: 'a=b%', value: '%3D' }], true],
  ['tag', ['env', 'env=prod'], [{ name: 'env' }, { name: 'env', value: 'prod' }], true],
  ['tag', ['=prod'], [], false],
  ['tag', ['=prod', 'env'], [{ name: 'env' }], false],
  ['tag', ['a\0'], [], false],
  ['tag', ['a=\0'], [], false],
  ['tag', [`${x(256)}=${x(256)}`], [{ name: x(256), value: x(256) }], true],
  ['tag', [x(257)], [], false],
  ['tag', [`a=${x(257)}`], [], false],
  ['tag', tagsOf(16).map(tagText), tagsOf(16), true],
  ['tag', tagsOf(17).map(tagText), tagsOf(16), false],
];

test.each(readings)('reads ?%s=%j', (parameter, given, value, isValid) => {
  const parameters = new URLSearchParams(given.map((text) => [parameter, text]));
  expect(readParameter(fieldOf(parameter), parameters)).toEqual({ value, isValid });
});

test.each(readings.filter(([, , value]) => value !== undefined))(
  'the value of ?%s=%j is one that verbs accept',
  (parameter, _, value) => {
    expect(valueSchema(fieldOf(parameter).value).safeParse(value).success).toBe(true);
  },
);

/**
 * Values that are ignored in a URL and rejected by verbs. NUL is omitted, because the database rejects it with its own
 * error.
 */
const rejected = readings.filter(
  ([parameter, [text = ''], , isValid]) =>
    !isValid &&
    !text.includes('\0') &&
    ['q', 'handler', 'messageId', 'version', 'olderThan', 'sinceAfter'].includes(parameter),
);

test.each(rejected)('verbs reject what ?%s=%j ignores', (parameter, given) => {
  expect(valueSchema(fieldOf(parameter).value).safeParse(given[0]).success).toBe(false);
});

describe('written URLs', () => {
  test.each<[parameter: string, value: Value, written: string]>([
    ['q', undefined, ''],
    ['q', '', ''],
    ['health', [], ''],
    ['tag', [], ''],
    ['q', 'a b&c', 'q=a+b%26c'],
    ['health', ['failed', 'healthy'], 'health=failed%2Chealthy'],
    ['silentMinutes', 10, 'silentMinutes=10'],
    ['tag', [{ name: 'a' }, { name: 'b', value: '' }], 'tag=a&tag=b%3D'],
  ])('%s of %j is %j', (parameter, value, written) => {
    const parameters = new URLSearchParams();
    writeParameter({ parameter }, value, parameters);
    expect(parameters.toString()).toBe(written);
  });

  test('a text replaces an earlier text, and other parameters are kept', () => {
    const parameters = new URLSearchParams('q=old&sort=name');
    writeParameter({ parameter: 'q' }, 'new', parameters);
    expect(parameters.toString()).toBe('q=new&sort=name');
  });

  test.each(readings.filter(([, , value, isValid]) => isValid && value !== undefined))(
    '?%s=%j is read back from its URL',
    (parameter, _, value) => {
      const parameters = new URLSearchParams();
      writeParameter({ parameter }, value, parameters);
      const sent = new URLSearchParams(parameters.toString());
      expect(readParameter(fieldOf(parameter), sent)).toEqual({ value, isValid: true });
    },
  );
});

describe('tags as text', () => {
  const parts = ['a', '%', '=', '%3D', '%25', '%253D', '=%', 'a=b=c', ' ', '&', '+', ',', '東'];
  const tags: TagFilter[] = parts.flatMap((name) => [{ name }, ...['', ...parts].map((value) => ({ name, value }))]);

  test('every name with every value is read back as it was', () => {
    expect(tags.map((tag) => tagFrom(tagText(tag)))).toEqual(tags);
  });

  test('no two tags have the same text', () => {
    expect(new Set(tags.map(tagText)).size).toBe(tags.length);
  });
});
