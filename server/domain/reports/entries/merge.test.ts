import { describe, expect, test } from 'vitest';
import { type FileReading, readAt, wentBack } from './file-reading.ts';
import { type HandlerReportEntry, isRemoval } from './handler.ts';
import { type HeartbeatReportEntry, heartbeatReading } from './heartbeat.ts';
import { emptyPulse, kindOf, mergeEntry } from './index.ts';
import type { MergeContext, PulseRow } from './kind.ts';
import { type StatusReportEntry, statusReading } from './status.ts';

const now = new Date('2026-01-01T12:00:00.000Z');
const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const empty = emptyPulse('vm', 'probe');
const context = (goal: Partial<MergeContext['goal']> = {}, receivedAt = now): MergeContext => ({
  goal: { state: 'enabled', sequenceNumber: 3, ...goal },
  receivedAt,
  periods: { heartbeatSeconds: 120, statusSeconds: 300 },
});
const base = { path: '', name: 'probe', raw: {} };

const handler = (sequenceNumber: number, state: string, hash = state): HandlerReportEntry =>
  ({ ...base, kind: 'handler', sequenceNumber, hash, report: { sequenceNumber, state } }) as HandlerReportEntry;
const heartbeat = (status: string, ages: Partial<FileReading> = {}, hash = status): HeartbeatReportEntry =>
  ({
    ...base,
    kind: 'heartbeat',
    sequenceNumber: null,
    hash,
    document: { status },
    ageSeconds: 1,
    readSecondsAgo: 0,
    ...ages,
  }) as HeartbeatReportEntry;
const status = (
  sequenceNumber: number,
  word: string,
  ages: Partial<FileReading> = {},
  hash = word,
): StatusReportEntry =>
  ({
    ...base,
    kind: 'status',
    sequenceNumber,
    hash,
    document: { status: word },
    ageSeconds: 1,
    readSecondsAgo: 0,
    ...ages,
  }) as StatusReportEntry;

const outcome = ({ current, news, visible }: { current: boolean; news: boolean; visible: boolean }) =>
  [current ? 'shown' : 'kept', ...(news ? ['new'] : []), ...(visible ? ['seen'] : [])].join(' ');
/** Returns the pulse after these entries, one second apart. */
const after = (...entries: (HandlerReportEntry | HeartbeatReportEntry | StatusReportEntry)[]): PulseRow =>
  entries.reduce((row, entry, index) => mergeEntry(row, entry, context({}, at(index - entries.length))).row, empty);

describe('the state of a handler', () => {
  test.each<[string, PulseRow, HandlerReportEntry, Partial<MergeContext['goal']>, string]>([
    ['the first one', empty, handler(3, 'installing'), {}, 'shown new seen'],
    ['the same again', after(handler(3, 'enabled')), handler(3, 'enabled'), {}, 'shown'],
    ['another one', after(handler(3, 'installing')), handler(3, 'enabled'), {}, 'shown new seen'],
    ['of a higher number', after(handler(2, 'enabled')), handler(3, 'installing'), {}, 'shown new seen'],
    ['of a lower number', after(handler(3, 'enabled')), handler(2, 'failed'), {}, 'kept new'],
    ['before the goal', empty, handler(1, 'enabled'), {}, 'shown new seen'],
    ['removed while it should be there', after(handler(3, 'enabled')), handler(3, 'removed'), {}, 'kept new'],
    [
      'removed for another number',
      after(handler(2, 'enabled')),
      handler(2, 'removed'),
      { state: 'uninstall' },
      'kept new',
    ],
    [
      'AZ-G5 removed as it should be',
      after(handler(2, 'enabled')),
      handler(3, 'removed'),
      { state: 'uninstall' },
      'shown new seen',
    ],
  ])('%s', (_, row, entry, goal, expected) => {
    const merged = mergeEntry(row, entry, context(goal));
    expect(outcome(merged)).toBe(expected);
    const isShown = merged.current && merged.news;
    expect(merged.row.handlerHash).toBe(isShown ? entry.hash : row.handlerHash);
    expect(merged.row.handlerSequence).toBe(isShown ? entry.sequenceNumber : row.handlerSequence);
  });

  test.each<[string, number, MergeContext['goal'], boolean]>([
    ['removed', 3, { state: 'uninstall', sequenceNumber: 3 }, true],
    ['removed', 2, { state: 'uninstall', sequenceNumber: 3 }, false],
    ['removed', 3, { state: 'disabled', sequenceNumber: 3 }, false],
    ['uninstalling', 3, { state: 'uninstall', sequenceNumber: 3 }, false],
  ])('%s %i for the goal %j ends the extension: %s', (state, sequenceNumber, goal, expected) => {
    expect(isRemoval(handler(sequenceNumber, state), goal)).toBe(expected);
  });

  test('only the state of a handler can be a removal', () => {
    expect(isRemoval(status(3, 'removed'), { state: 'uninstall', sequenceNumber: 3 })).toBe(false);
  });
});

describe('a heartbeat', () => {
  const ready = after(heartbeat('ready'));
  test.each<[string, PulseRow, HeartbeatReportEntry, string]>([
    ['the first one', empty, heartbeat('ready'), 'shown new seen'],
    ['AZ-H1 the same in a newer file', ready, heartbeat('ready'), 'shown'],
    ['another word', ready, heartbeat('notready'), 'shown new seen'],
    ['other contents under the same word', ready, heartbeat('ready', {}, 'other'), 'shown new seen'],
    ['AZ-H3 the same in a file that became old', ready, heartbeat('ready', { ageSeconds: 61 }), 'shown seen'],
    ['AZ-H3 the same at the last moment of a minute', ready, heartbeat('ready', { ageSeconds: 60 }), 'shown seen'],
    ['the same from an earlier reading', ready, heartbeat('ready', { readSecondsAgo: 30 }), 'shown seen'],
    [
      'AZ-H3 not ready beyond ten minutes',
      after(heartbeat('notready')),
      heartbeat('notready', { ageSeconds: 601 }),
      'shown seen',
    ],
  ])('%s', (_, row, entry, expected) => {
    const merged = mergeEntry(row, entry, context());
    expect(outcome(merged)).toBe(expected);
    expect(heartbeatReading(merged.row)).toEqual({
      status: entry.document.status,
      readAt: readAt(entry, now),
      ageSeconds: entry.ageSeconds,
    });
  });

  test('after a silence is a visible change, even if the heartbeat is the same', () => {
    const old = mergeEntry(empty, heartbeat('ready'), context({}, at(-151))).row;
    expect(outcome(mergeEntry(old, heartbeat('ready'), context()))).toBe('shown seen');
    const recent = mergeEntry(empty, heartbeat('ready'), context({}, at(-150))).row;
    expect(outcome(mergeEntry(recent, heartbeat('ready'), context()))).toBe('shown');
  });

  test.each([
    ['heartbeatStatus', null],
    ['heartbeatReadAt', null],
    ['heartbeatAgeSeconds', null],
  ] as const)('is none while %s is missing', (column, value) => {
    expect(heartbeatReading({ ...ready, [column]: value })).toBeNull();
    expect(heartbeatReading(ready)).not.toBeNull();
  });
});

describe('AZ-S3 a status', () => {
  test.each<[string, PulseRow, StatusReportEntry, number, string]>([
    ['the first one', empty, status(3, 'transitioning'), 3, 'shown new seen'],
    ['the same again', after(status(3, 'transitioning')), status(3, 'transitioning'), 3, 'shown'],
    ['the next one', after(status(3, 'transitioning')), status(3, 'success'), 3, 'shown new seen'],
    ['of a higher number', after(status(2, 'success')), status(3, 'transitioning'), 3, 'shown new seen'],
    ['of a lower number', after(status(3, 'success')), status(2, 'error'), 3, 'kept new'],
    ['late, after a newer goal', after(status(3, 'transitioning')), status(3, 'success'), 4, 'kept new'],
    ['late, and the one that is shown', after(status(3, 'success')), status(3, 'success'), 4, 'kept'],
    ['the first one, after a newer goal', empty, status(3, 'success'), 4, 'shown new seen'],
    [
      'AZ-S4 the same in a file that became old',
      after(status(3, 'warning')),
      status(3, 'warning', { ageSeconds: 151 }),
      3,
      'shown seen',
    ],
    [
      'AZ-S4 the same before its file becomes old',
      after(status(3, 'warning')),
      status(3, 'warning', { ageSeconds: 150 }),
      3,
      'shown seen',
    ],
    [
      'AZ-S4 a success in an old file',
      after(status(3, 'success')),
      status(3, 'success', { ageSeconds: 2 }),
      3,
      'shown',
    ],
  ])('%s', (_, row, entry, goalNumber, expected) => {
    const merged = mergeEntry(row, entry, context({ sequenceNumber: goalNumber }));
    expect(outcome(merged)).toBe(expected);
    if (!merged.current) expect(merged.row).toBe(row);
    else {
      expect(statusReading(merged.row)).toEqual({
        status: entry.document.status,
        readAt: readAt(entry, now),
        ageSeconds: entry.ageSeconds,
      });
    }
  });

  test.each<[string, string[], [string, number] | null]>([
    ['no conclusion', ['transitioning', 'warning'], null],
    ['a success', ['transitioning', 'success'], ['success', 1]],
    ['an error', ['error'], ['error', 0]],
    ['an error after a success', ['success', 'error'], ['success', 0]],
    ['a success after an error', ['error', 'success'], ['error', 0]],
    ['a warning after a success', ['success', 'warning'], ['success', 0]],
  ])('the first success or error concludes it: %s', (_, words, concluded) => {
    const row = words.reduce(
      (pulse, word, turn) => mergeEntry(pulse, status(3, word), context({}, at(turn))).row,
      empty,
    );
    expect(row.statusWord).toBe(words.at(-1));
    expect(row.concludedWith && [row.concludedWith, row.concludedAt]).toEqual(
      concluded && [concluded[0], at(concluded[1])],
    );
  });

  test('of a new sequence number is open again', () => {
    const row = mergeEntry(after(status(2, 'success')), status(3, 'transitioning'), context()).row;
    expect(row).toMatchObject({ statusSequence: 3, concludedAt: null, concludedWith: null });
  });

  test.each(['statusWord', 'statusReadAt', 'statusAgeSeconds'] as const)('is none while %s is missing', (column) => {
    expect(statusReading({ ...after(status(3, 'success')), [column]: null })).toBeNull();
  });
});

describe('the reading of a file', () => {
  test('is as many seconds ago as the agent says, to the millisecond', () => {
    expect(readAt({ readSecondsAgo: 0 }, now)).toEqual(now);
    expect(readAt({ readSecondsAgo: 1.5 }, now)).toEqual(at(-1.5));
  });

  const reading = (readAtSeconds: number, ageSeconds: number) => ({ readAt: at(readAtSeconds), ageSeconds });
  test.each<[string, ReturnType<typeof reading> | null, ReturnType<typeof reading> | null, boolean]>([
    ['there was none', null, reading(0, 1), false],
    ['there is none', reading(0, 1), null, false],
    ['a later reading of the same file', reading(0, 10), reading(30, 40), false],
    ['a later file', reading(0, 10), reading(30, 1), false],
    ['an earlier reading', reading(0, 10), reading(-2, 8), true],
    ['an earlier reading within a second', reading(0, 10), reading(-1, 9), false],
    ['an older file', reading(0, 10), reading(30, 42), true],
    ['an older file within a second', reading(0, 10), reading(30, 41), false],
  ])('went back: %s', (_, before, next, expected) => {
    expect(wentBack(before, next)).toBe(expected);
  });
});

test('entries of one kind do not change the columns of other kinds', () => {
  const row = after(handler(3, 'enabled'), heartbeat('ready'), status(3, 'success'));
  const again = after(status(3, 'success'), heartbeat('ready'), handler(3, 'enabled'));
  for (const column of ['handlerHash', 'heartbeatHash', 'statusHash', 'statusWord', 'concludedWith'] as const) {
    expect(row[column]).toBe(again[column]);
    expect(row[column]).not.toBeNull();
  }
  expect(Object.keys(row).sort()).toEqual(Object.keys(empty).sort());
});

test('what is shown is the document of the latest row, with its time and number', () => {
  const row = after(handler(3, 'enabled'), heartbeat('ready'), status(2, 'success'));
  const documents = {
    handlerState: { state: 'enabled' },
    handlerAt: now,
    heartbeat: { status: 'ready' },
    status: null,
  };
  const shown = ([handler(3, ''), heartbeat(''), status(3, '')] as const).map((entry) => {
    const {
      document,
      at: time,
      sequenceNumber,
    } = kindOf(entry).shown({ vmId: 'vm', name: 'probe', ...documents } as never, row);
    return [document, time, sequenceNumber];
  });
  expect(shown).toEqual([
    [{ state: 'enabled' }, now, 3],
    [{ status: 'ready' }, row.heartbeatReadAt, null],
    [null, row.statusReadAt, 2],
  ]);
});
