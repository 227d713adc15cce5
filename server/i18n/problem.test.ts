import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import de from '#locales/de/errors.json' with { type: 'json' };
import en from '#locales/en/errors.json' with { type: 'json' };
import { DomainError, type ErrorCode, type ErrorKind, statusOfKind } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { createLogger } from '#server/platform/logger.ts';
import { languageFor, problemResponse, translateError } from './index.ts';

const silent = pino({ level: 'silent' });

describe('the language of a response', () => {
  test.each([
    [null, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['de-AT', 'de'],
    ['DE-at, en;q=0.5', 'de'],
    ['fr', 'en'],
    ['fr, de;q=0.3', 'de'],
    ['de;q=0.1, en', 'en'],
    ['en;q=0, de;q=0.1', 'de'],
    ['*', 'en'],
    ['fr, *;q=0.1', 'en'],
    [';;;q=,,--,de;q=ä', 'en'],
    ['\u0000{{x}}', 'en'],
    [`${'x,'.repeat(2_000)}de`, 'en'],
    ['*, de;q=0.5', 'de'],
    ['de;q=2', 'de'],
    ['de;Q=0.5', 'de'],
    ['de-AT, de;q=0', 'en'],
    ['und-DE', 'en'],
  ])('%j → %s', (header, language) => {
    expect(languageFor({ acceptLanguage: header })).toBe(language);
  });
});

describe('every code has its message in every language', () => {
  test('has the same keys', () => {
    expect(Object.keys(de).toSorted()).toEqual(Object.keys(en).toSorted());
  });

  const placeholders = (text: string) =>
    [...text.matchAll(/\{\{(\w+)(?:, \w+)?\}\}/g)].map((match) => match[1]).toSorted();
  const sentences: Readonly<Record<string, string>> = de;
  /** Codes whose English text is that of the source document, which is not a sentence. */
  const quoted = [
    'availability_sets_frozen',
    'legacy_instance_ambiguous',
    'machine_placement_unsupported',
    'unit_placement_unsupported',
  ];
  test.each(Object.entries(en))('%s has the same placeholders and reads as a sentence', (key, english) => {
    const german = sentences[key] ?? '';
    expect(placeholders(german)).toEqual(placeholders(english));
    for (const text of [english, german]) {
      expect(text).not.toMatch(/!|\bplease\b|\bbitte\b|\boops\b/i);
      const isQuoted = text === english && quoted.includes(key);
      if (!key.startsWith('kind.') && !isQuoted) expect(text).toMatch(/[.:…]$|"$/);
    }
    expect(german).not.toMatch(/\b(du|dein|deine)\b/i);
  });

  test.each(Object.keys(statusOfKind))('the kind %s has a title', (kind) => {
    expect(en).toHaveProperty([`kind.${kind}`]);
  });
});

describe('a problem document', () => {
  test('has the members of RFC 9457 and of the contract', () => {
    const error = new DomainError('conflict', 'vm_name_taken', { params: { name: 'web-1' } });
    expect(translateError(error, 'en', 'r1')).toEqual({
      type: 'urn:annex:problem:vm_name_taken',
      title: en['kind.conflict'],
      status: 409,
      detail: 'The name web-1 is already used by another VM. Choose another name.',
      code: 'vm_name_taken',
      requestId: 'r1',
    });
  });

  test("is in the caller's language, including its faults", async () => {
    const error = new DomainError('unprocessable', 'invalid', { faults: [{ path: '/name', code: 'field_missing' }] });
    const request = new Request('http://annex/x', { headers: { 'accept-language': 'de-CH, en;q=0.2' } });
    const response = problemResponse(error, request, 'r2', silent);
    expect(response.status).toBe(422);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('content-language')).toBe('de');
    expect(response.headers.get('vary')).toBe('Accept-Language');
    expect(await response.json()).toMatchObject({
      detail: de.invalid,
      errors: [{ path: '/name', code: 'field_missing', message: de.field_missing }],
    });
  });

  test('names in the path of a fault are escaped and truncated at 64 characters', () => {
    const path = `/${'a'.repeat(70)}/b\u202e\u0007c/${'😀'.repeat(40)}/0`;
    const faults = [{ path, code: 'field_missing' as const }];
    const error = new DomainError('unprocessable', 'invalid', { faults });
    const [, long, hidden, pair, index] = translateError(error, 'en', 'r').errors?.[0]?.path.split('/') ?? [];
    expect([long, hidden, index]).toEqual([`${'a'.repeat(63)}…`, 'b\\u202e\\u0007c', '0']);
    expect(pair?.isWellFormed()).toBe(true);
    expect(pair).toHaveLength(64);
  });

  test.each([
    ['en', '1.5 MiB'],
    ['de', '1,5 MiB'],
  ] as const)('sizes are shown in binary units, as %s writes numbers', (language, size) => {
    const error = new DomainError('too_large', 'package_too_large', { params: { limit: 1_572_864 } });
    expect(translateError(error, language, 'r3').detail).toContain(size);
  });

  test('has Retry-After', () => {
    const error = new DomainError('rate_limited', 'too_many_attempts', { params: { seconds: 3 }, retryAfter: 2.2 });
    const response = problemResponse(error, new Request('http://annex/'), 'r', silent);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '3']);
  });

  const kinds = Object.entries(statusOfKind) as [ErrorKind, number][];
  test.each(kinds)('%s is %i', (kind, status) => {
    expect(translateError(new DomainError(kind, 'invalid'), 'en', 'r').status).toBe(status);
  });

  test('an unexpected error shows only the request id, and the log contains the error', async () => {
    const lines: string[] = [];
    const log = createLogger('test', 'info', { write: (line: string) => lines.push(line) });
    const response = problemResponse(new Error('MARKER in a stack'), new Request('http://annex/'), 'r-77', log);
    const body = await response.text();
    expect(response.status).toBe(500);
    expect(body).toContain('r-77');
    expect(body).not.toContain('MARKER');
    expect(lines.join()).toContain('MARKER in a stack');
  });

  test.each<[string, unknown]>([
    ['a string', 'MARKER'],
    ['nothing', undefined],
    ['a SyntaxError', new SyntaxError('Unexpected token MARKER')],
    ['a zod error', z.string().safeParse(1).error],
  ])('throwing %s is an internal error', (_name, thrown) => {
    const problem = translateError(thrown, 'en', 'r');
    expect(problem.code).toBe('internal');
    expect(JSON.stringify(problem)).not.toContain('MARKER');
  });

  test.each<[string, unknown]>([
    ['refused', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })],
    ['out of disk', Object.assign(new Error('could not extend file'), { code: '53100' })],
    ['shut down', Object.assign(new Error('terminating'), { code: '57P01' })],
    ['cut', new Error('Connection terminated unexpectedly')],
    ['timed out', new Error('timeout exceeded when trying to connect')],
    ['silent', new Error('Query read timeout')],
    ['wrapped', new Error('Failed query', { cause: Object.assign(new Error('x'), { code: '57P03' }) })],
    ['both addresses', new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })])],
  ])('an unavailable database (%s) is 503 with Retry-After', (_name, thrown) => {
    const response = problemResponse(thrown, new Request('http://annex/'), 'r', silent);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
  });

  test('a missing file does not count as an unavailable database', () => {
    const missing = Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'open' });
    expect(translateError(missing, 'en', 'r').code).toBe('internal');
  });

  test('a name in a message is truncated, and cannot contain line breaks or direction characters', () => {
    const name = `a\r\nSet-Cookie: x\u202e${'y'.repeat(500)}`;
    const problem = translateError(new DomainError('conflict', 'vm_name_taken', { params: { name } }), 'en', 'r');
    expect(problem.detail).not.toMatch(/[\r\n\u202e]/);
    expect(problem.detail.length).toBeLessThan(300);
  });

  test('faults above the limit are counted', () => {
    const faults = Array.from({ length: 1_005 }, (_, index) => ({ path: `/${index}`, code: 'field_unknown' as const }));
    const { errors = [] } = translateError(new DomainError('unprocessable', 'invalid', { faults }), 'en', 'r');
    expect(errors).toHaveLength(1_001);
    expect(errors.at(-1)).toEqual({
      path: '',
      code: 'more_faults',
      message: 'Number of errors that are not listed: 5.',
    });
  });

  test('a placeholder inside a value is not filled in', () => {
    const name = '{{requestId}} $t(forbidden)';
    const problem = translateError(new DomainError('conflict', 'vm_name_taken', { params: { name } }), 'en', 'r');
    expect(problem.detail).toContain(name);
  });
});

test('AZ-C2 the log keeps no values of a failed statement', async () => {
  const lines: string[] = [];
  const stream = { write: (line: string) => lines.push(line) };
  const error = Object.assign(new Error('Failed query: insert into vms\nparams: MARKER'), {
    query: 'insert into vms values ($1)',
    params: ['MARKER'],
  });
  problemResponse(error, new Request('http://annex/'), 'r', createLogger('test', 'info', stream));
  expect(lines.join()).toContain('"requestId":"r"');
  expect(lines.join()).not.toContain('MARKER');
});

test('a fault names its line where it is known', () => {
  const error = new DomainError('unprocessable', 'invalid', {
    faults: [
      { path: '', code: 'json_malformed', params: { line: 2, column: 11 } },
      { path: '/name', code: 'field_missing' },
    ],
  });
  expect(translateError(error, 'en', 'req_1').errors).toEqual([
    { path: '', code: 'json_malformed', message: 'This is not valid JSON: line 2, column 11.', line: 2 },
    { path: '/name', code: 'field_missing', message: 'This field is required.' },
  ]);
});

describe('faults of an input', () => {
  const schema = z.strictObject({
    name: z.string().min(1).max(5),
    mode: z.enum(['a', 'b']),
    port: z.number().int().max(10).optional(),
    list: z.array(z.string()).min(1).max(2).optional(),
    tag: z.string().regex(/^x$/, 'if_match_form').optional(),
  });

  const faults = (input: unknown) => {
    try {
      parse(schema, input);
      return [];
    } catch (error) {
      return error instanceof DomainError ? error.faults.map((fault) => `${fault.path} ${fault.code}`) : [];
    }
  };

  test.each<[unknown, string[]]>([
    [{}, ['/name field_missing', '/mode field_missing']],
    ['text', [' field_not_object']],
    [{ name: '', mode: 'a' }, ['/name field_empty']],
    [{ name: 'abcdef', mode: 'c', port: 11 }, ['/name field_too_long', '/mode field_choice', '/port field_too_big']],
    [{ name: 'a', mode: 'a', port: 1.5, list: [] }, ['/port field_not_integer', '/list field_too_few']],
    [{ name: 'a', mode: 'a', list: [1, 2] }, ['/list/0 field_not_text', '/list/1 field_not_text']],
    [{ name: 'a', mode: 'a', list: ['', '', ''] }, ['/list field_too_many']],
    [{ name: 'a', mode: 'a', tag: 'y' }, ['/tag if_match_form']],
    [{ name: 'a', mode: 'a', more: 1, 'a b!': 2 }, ['/more field_unknown', ' field_unknown']],
  ])('%j', (input, expected) => {
    expect(faults(input).toSorted()).toEqual(expected.toSorted());
  });
});

test('an error code is a key of the messages', () => {
  const code: ErrorCode = 'invalid';
  expect(en).toHaveProperty(code);
});
