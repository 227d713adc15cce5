import { describe, expect, test } from 'vitest';
import { maxFaults } from '#protocol/index.ts';
import { defaultLimits } from '#server/platform/limits.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { readReport } from './read-report.ts';

const limits = defaultLimits.report;
const ages = { ageSeconds: 4, readSecondsAgo: 0 };
const heartbeatFile = [{ version: 1.0, heartbeat: { status: 'ready' } }];
const statusFile = [{ version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status: { status: 'success' } }];
const handler = (more: object = {}) => ({ extension: 'probe', sequenceNumber: 1, state: 'enabled', ...more });
const heartbeat = (more: object = {}) => ({ extension: 'probe', ...ages, file: heartbeatFile, ...more });
const status = (more: object = {}) => ({ extension: 'probe', sequenceNumber: 1, ...ages, file: statusFile, ...more });

const lines = (faults: readonly { path: string; code: string }[]) => faults.map(({ path, code }) => `${path} ${code}`);
const read = (report: unknown) => readReport(report, limits);
const faultsOf = (report: unknown) => lines(read(report).faults);

describe('the frame of a report', () => {
  test.each<[string, object]>([
    ['empty', {}],
    ['of nulls', { run: null, reportNumber: null, agentTime: null, appliedEtag: null, periods: null, handlers: null }],
    ['with empty lists', { handlers: [], heartbeats: [], statuses: [], problems: [], pendingRestart: [] }],
    ['with fields of a later release', { battery: 7, periods: { moon: 28 } }],
    ['with a run of 64 characters', { run: 'r'.repeat(64) }],
    ['with an ETag of 256 characters', { appliedEtag: 'e'.repeat(256) }],
    ['with report 0', { reportNumber: 0 }],
    ['with an offset', { agentTime: '2026-01-01T13:00:00+01:00' }],
    ['with 100 problems', { problems: Array(100).fill({ about: 'a', message: 'm' }) }],
    [
      'with 200 restart requests',
      { pendingRestart: Array(200).fill({ handler: 'A.B', version: '1', extensions: [], requestedSecondsAgo: 0 }) },
    ],
  ])('%s is accepted', (_, frame) => {
    expect(faultsOf(frame)).toEqual([]);
  });

  test.each<[string, unknown, string]>([
    ['text', 'report', '/ field_not_object'],
    ['a list', [], '/ field_not_object'],
    ['null', null, '/ field_not_object'],
    ['handlers that are not a list', { handlers: {} }, '/handlers field_not_array'],
    ['statuses that are not a list', { statuses: 'all' }, '/statuses field_not_array'],
    ['a negative number', { reportNumber: -1 }, '/reportNumber field_too_small'],
    ['half a number', { reportNumber: 1.5 }, '/reportNumber field_not_integer'],
    ['an empty run', { run: '' }, '/run field_empty'],
    ['a run of 65 characters', { run: 'r'.repeat(65) }, '/run field_too_long'],
  ])('%s is rejected as a whole', async (_, report, fault) => {
    const outcome = await outcomeOf((async () => read(report))());
    expect(outcome).toBe(`bad_request report_invalid; ${fault === '/ field_not_object' ? ' field_not_object' : fault}`);
  });

  test.each<[string, object, string]>([
    ['a time without an offset', { agentTime: '2026-01-01 12:00' }, '/agentTime field_format'],
    ['an ETag of 257 characters', { appliedEtag: 'e'.repeat(257) }, '/appliedEtag field_too_long'],
    ['a period as text', { periods: { statusSeconds: '5' } }, '/periods/statusSeconds field_not_number'],
    ['101 problems', { problems: Array(101).fill({ about: 'a', message: 'm' }) }, '/problems field_too_big'],
    ['a problem about nothing', { problems: [{ message: 'm' }] }, '/problems/0/about field_missing'],
    ['a long problem', { problems: [{ about: 'a', message: 'm'.repeat(4097) }] }, '/problems/0/message text_too_long'],
    ['a restart request of nothing', { pendingRestart: [{}] }, '/pendingRestart/0/handler field_missing'],
    ['restart requests that are not a list', { pendingRestart: true }, '/pendingRestart field_not_array'],
  ])('%s costs no entry', (_, part, fault) => {
    const { entries, faults, envelope } = read({ ...part, run: 'a', heartbeats: [heartbeat()] });
    expect(lines(faults)).toContain(fault);
    expect(entries).toHaveLength(1);
    expect(envelope).toMatchObject({ run: 'a' });
    const [name = ''] = Object.keys(part);
    const kept = (envelope as Record<string, unknown>)[name];
    expect(kept === undefined || JSON.stringify(kept) === '[]').toBe(true);
  });

  test('an unknown file name in a problem is dropped, and the problem is kept', () => {
    const { envelope, faults } = read({ problems: [{ about: 'probe', message: 'm', file: 'log' }] });
    expect(envelope.problems).toEqual([{ about: 'probe', message: 'm', file: undefined }]);
    expect(faults).toEqual([]);
  });
});

describe('an entry', () => {
  const tenYears = 315_360_000;
  test.each<[string, object]>([
    [
      'a handler with everything',
      { handlers: [handler({ version: '1.0', command: 'enable', exitCode: -1, timedOut: true, attempt: 0 })] },
    ],
    ['a handler with nulls', { handlers: [handler({ version: null, command: null, exitCode: null, output: null })] }],
    ['a handler of number 0', { handlers: [handler({ sequenceNumber: 0 })] }],
    ['output up to its limit', { handlers: [handler({ output: 'x'.repeat(limits.outputBytes) })] }],
    ['a heartbeat without the time since its reading', { heartbeats: [heartbeat({ readSecondsAgo: null })] }],
    ['a file of the future', { heartbeats: [heartbeat({ ageSeconds: 0 })] }],
    ['a file of ten years', { statuses: [status({ ageSeconds: tenYears })] }],
    ['a name of 64 characters', { statuses: [status({ extension: 'x'.repeat(64) })] }],
    [
      'AZ-H1 a heartbeat in capitals',
      { heartbeats: [heartbeat({ file: [{ version: 1, Heartbeat: { Status: 'READY' } }] })] },
    ],
  ])('is accepted: %s', (_, report) => {
    const { entries, faults } = read(report);
    expect(faults).toEqual([]);
    expect(entries).toHaveLength(1);
  });

  test.each<[string, object, string[]]>([
    ['a number in a list', { handlers: [7] }, ['/handlers/0 field_not_object']],
    ['no extension', { handlers: [handler({ extension: undefined })] }, ['/handlers/0/extension field_missing']],
    ['an empty name', { heartbeats: [heartbeat({ extension: '' })] }, ['/heartbeats/0/extension field_empty']],
    [
      'a name of 65 characters',
      { statuses: [status({ extension: 'x'.repeat(65) })] },
      ['/statuses/0/extension field_too_long'],
    ],
    ['an unknown state', { handlers: [handler({ state: 'flying' })] }, ['/handlers/0/state field_choice']],
    ['an unknown command', { handlers: [handler({ command: 'reset' })] }, ['/handlers/0/command field_choice']],
    ['an exit code of half', { handlers: [handler({ exitCode: 0.5 })] }, ['/handlers/0/exitCode field_not_integer']],
    [
      'output above its limit',
      { handlers: [handler({ output: 'x'.repeat(limits.outputBytes + 1) })] },
      ['/handlers/0/output text_too_long'],
    ],
    ['a NUL', { handlers: [handler({ output: 'a\u0000' })] }, ['/handlers/0/output json_character']],
    ['half a character', { handlers: [handler({ blockedBy: '\ud800' })] }, ['/handlers/0/blockedBy json_character']],
    ['a negative age', { heartbeats: [heartbeat({ ageSeconds: -0.1 })] }, ['/heartbeats/0/ageSeconds field_too_small']],
    [
      'an age above ten years',
      { statuses: [status({ ageSeconds: tenYears + 1 })] },
      ['/statuses/0/ageSeconds field_too_big'],
    ],
    ['no age', { statuses: [status({ ageSeconds: undefined })] }, ['/statuses/0/ageSeconds field_missing']],
    ['no number', { statuses: [status({ sequenceNumber: null })] }, ['/statuses/0/sequenceNumber field_not_number']],
    ['no file', { heartbeats: [heartbeat({ file: undefined })] }, ['/heartbeats/0/file file_not_array']],
    [
      'AZ-H1 a heartbeat that is neither',
      { heartbeats: [heartbeat({ file: [{ version: 1, heartbeat: { status: 'fine' } }] })] },
      ['/heartbeats/0/file/0/heartbeat/status field_choice'],
    ],
    [
      'AZ-S1 a status without a word',
      { statuses: [status({ file: [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status: {} }] })] },
      ['/statuses/0/file/0/status/status field_missing'],
    ],
  ])('is rejected by path: %s', (_, report, faults) => {
    const result = read(report);
    expect(lines(result.faults)).toEqual(faults);
    expect(result.entries).toEqual([]);
  });

  test('that is invalid does not affect the other entries', () => {
    const { entries, faults } = read({
      handlers: [handler(), 'x', handler({ extension: 'other' })],
      statuses: [status({ sequenceNumber: -1 }), status()],
    });
    expect(entries.map(({ kind, name, path }) => `${kind} ${name} ${path}`)).toEqual([
      'handler probe /handlers/0',
      'handler other /handlers/2',
      'status probe /statuses/1',
    ]);
    expect(lines(faults)).toEqual(['/handlers/1 field_not_object', '/statuses/0/sequenceNumber field_too_small']);
  });

  test('keeps what was sent as it was sent', () => {
    const sent = heartbeat({ file: [{ version: '1.0', Heartbeat: { Status: 'NotReady', code: 7, extra: true } }] });
    const [entry] = read({ heartbeats: [sent] }).entries;
    expect(entry?.raw).toEqual(sent);
    expect(entry).toMatchObject({ kind: 'heartbeat', document: { status: 'notready', code: 7 } });
  });

  test('has the fingerprint of its contents, which neither its age nor its spelling changes', () => {
    const hashOf = (report: object) => read(report).entries[0]?.hash;
    const first = hashOf({ heartbeats: [heartbeat()] });
    expect(first).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(hashOf({ heartbeats: [heartbeat({ ageSeconds: 99, extension: 'other' })] })).toBe(first);
    expect(hashOf({ heartbeats: [heartbeat({ file: [{ version: 1, heartbeat: { status: 'Ready ' } }] })] })).toBe(
      first,
    );
    expect(hashOf({ heartbeats: [heartbeat({ file: [{ version: 1, heartbeat: { status: 'notready' } }] })] })).not.toBe(
      first,
    );
    expect(hashOf({ handlers: [handler()] })).not.toBe(hashOf({ handlers: [handler({ sequenceNumber: 2 })] }));
  });
});

describe('a file that breaks the contract', () => {
  const broken = [{ version: 1.0, heartbeat: { status: 'fine' } }];
  test('is kept with its faults by their paths within the file', () => {
    const { refused } = read({
      heartbeats: [heartbeat({ file: broken, readSecondsAgo: 7 })],
      statuses: [status({ sequenceNumber: 4, file: [] })],
    });
    expect(refused).toEqual([
      {
        kind: 'heartbeat',
        name: 'probe',
        sequenceNumber: null,
        readSecondsAgo: 7,
        faults: [expect.objectContaining({ path: '/0/heartbeat/status', code: 'field_choice' })],
      },
      expect.objectContaining({ kind: 'status', name: 'probe', sequenceNumber: 4 }),
    ]);
  });

  test('is not kept if its entry does not name an extension', () => {
    expect(read({ heartbeats: [heartbeat({ extension: '', file: broken })] }).refused).toEqual([]);
  });

  test('keeps five faults, and 256 characters of a path', () => {
    const name = 'n'.repeat(400);
    const substatus = Array.from({ length: 8 }, () => ({ [name]: 1 }));
    const file = [{ ...statusFile[0], status: { status: 'success', substatus } }];
    const [refused] = read({ statuses: [status({ file })] }).refused;
    expect(refused?.faults).toHaveLength(5);
    for (const { path } of refused?.faults ?? []) expect(path.length).toBeLessThanOrEqual(256);
  });
});

describe('the limits of a report', () => {
  test('200 entries of all kinds together', async () => {
    const many = (count: number) =>
      read({ heartbeats: Array(count - 100).fill(heartbeat()), handlers: Array(100).fill(handler()) });
    expect(many(200).entries).toHaveLength(200);
    expect(await outcomeOf((async () => many(201))())).toBe('too_large report_entries_too_many');
  });

  test('1,000 faults are named, of several thousand', () => {
    const file = [{ ...statusFile[0], status: { status: 'success', substatus: Array(900).fill({}) } }];
    expect(read({ statuses: Array(4).fill(status({ file })), handlers: [handler()] }).faults).toHaveLength(maxFaults);
  });

  test('the faults of entries are returned with the faults of the frame', async () => {
    const outcome = await outcomeOf((async () => read({ run: '', handlers: ['x'] }))());
    expect(outcome).toBe('bad_request report_invalid; /run field_empty; /handlers/0 field_not_object');
  });
});
