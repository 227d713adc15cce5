import { describe, expect, test } from 'vitest';
import { type ExtensionHealth, extensionHealths } from '#server/domain/verdicts/index.ts';
import {
  declaredBy,
  type HealthTransitionRow,
  type LaneInput,
  mergeEvents,
  mergeShort,
  stretchesOf,
  type TimelineSpan,
} from './timeline.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 10, minute));
const change = (
  minute: number,
  from: string | null,
  to: string | null,
  rest: Partial<HealthTransitionRow> = {},
): HealthTransitionRow => ({
  at: at(minute),
  from,
  to,
  cause: null,
  waitsFor: null,
  ...rest,
});
const lane = (input: Partial<LaneInput>) =>
  stretchesOf<ExtensionHealth>({
    prior: null,
    within: [],
    current: null,
    window: { from: at(0), to: at(40) },
    since: at(-1000),
    ...input,
  }).map(({ from, to, state }) => {
    const minutes = (time: string | null) => (time === null ? 'now' : (Date.parse(time) - at(0).getTime()) / 60_000);
    return `${state} ${minutes(from)}-${minutes(to)}`;
  });
const healthy = { state: 'healthy', cause: null, waitsFor: null };

describe('a lane of the time axis', () => {
  test.each<[string, Partial<LaneInput>, string[]]>([
    ['nothing is known of what is not there', {}, []],
    ['what did not change is as it is now', { current: healthy }, ['healthy 0-now']],
    ['what came within the window begins there', { current: healthy, since: at(9) }, ['healthy 9-now']],
    [
      'what was there and never derived is not known',
      { current: { state: '', cause: null, waitsFor: null } },
      ['null 0-now'],
    ],
    [
      'what was recorded before the window goes on',
      { prior: change(-5, null, 'failed'), within: [change(7, 'failed', 'healthy')] },
      ['failed 0-7', 'healthy 7-now'],
    ],
    [
      'the first change tells what was before it',
      { within: [change(7, 'failed', 'healthy')] },
      ['failed 0-7', 'healthy 7-now'],
    ],
    [
      'before the first record it is not known',
      { within: [change(7, null, 'healthy')] },
      ['null 0-7', 'healthy 7-now'],
    ],
    [
      'the moment until it is derived is no hole',
      { within: [change(7, null, 'progressing')], since: new Date(at(7).getTime() - 900) },
      ['progressing 7-now'],
    ],
    [
      'what went leaves a gap, and may come again',
      { prior: change(-5, null, 'healthy'), within: [change(3, 'healthy', null), change(9, null, 'progressing')] },
      ['healthy 0-3', 'progressing 9-now'],
    ],
    ['what had gone before is not there', { prior: change(-5, 'healthy', null) }, []],
    [
      'two changes at the same moment are one',
      { within: [change(3, 'healthy', 'progressing'), change(3, 'progressing', 'failed')] },
      ['healthy 0-3', 'failed 3-now'],
    ],
  ])('%s', (_, input, expected) => {
    expect(lane(input)).toEqual(expected);
  });

  test('keeps the cause and the extension that it waits for', () => {
    const [, second] = stretchesOf({
      prior: null,
      within: [change(3, 'healthy', 'progressing', { cause: 'waiting', waitsFor: 'mount' })],
      current: null,
      window: { from: at(0), to: at(40) },
      since: at(-1),
    });
    expect(second).toMatchObject({ state: 'progressing', cause: 'waiting', waitsFor: 'mount', to: null });
  });
});

describe('close events', () => {
  const stretch = (from: number, to: number | null, state: ExtensionHealth): TimelineSpan<ExtensionHealth> => ({
    from: at(from).toISOString(),
    to: to === null ? null : at(to).toISOString(),
    state,
    cause: null,
    waitsFor: null,
    count: 1,
  });
  const joined = (stretches: TimelineSpan<ExtensionHealth>[], minutes: number) =>
    mergeShort(stretches, minutes * 60_000, extensionHealths).map(({ state, count }) => `${state} ${count}`);

  test('become one span that shows the worst state, with a count', () => {
    const flapping = [
      stretch(0, 10, 'healthy'),
      ...Array.from({ length: 9 }, (_, i) => stretch(10 + i, 11 + i, i % 2 ? 'failed' : 'healthy')),
      stretch(19, null, 'healthy'),
    ];
    expect(joined(flapping, 5)).toEqual(['healthy 1', 'failed 4', 'failed 4', 'healthy 1', 'healthy 1']);
  });

  test('stay separate if they are long enough or alone', () => {
    const calm = [stretch(0, 10, 'healthy'), stretch(10, 11, 'failed'), stretch(11, null, 'healthy')];
    expect(joined(calm, 2)).toEqual(['healthy 1', 'failed 1', 'healthy 1']);
  });

  test('never hide the present: a short current span stays separate', () => {
    expect(joined([stretch(38, 39, 'failed'), stretch(39, null, 'healthy')], 30)).toEqual(['failed 1', 'healthy 1']);
  });

  test('do not merge across a gap', () => {
    expect(joined([stretch(0, 1, 'healthy'), stretch(2, 3, 'failed')], 30)).toEqual(['healthy 1', 'failed 1']);
  });

  test('become one event that shows the last event', () => {
    const event = (minute: number, who: string) => {
      const time = at(minute).toISOString();
      return { at: time, until: time, count: 1, who };
    };
    const alike = (a: { who: string }, b: { who: string }) => a.who === b.who;
    const events = [event(0, 'Ada'), event(1, 'Ada'), event(2, 'Jonas'), event(30, 'Jonas')];
    expect(mergeEvents(events, 300_000, alike)).toEqual([
      { ...event(1, 'Ada'), at: at(0).toISOString(), count: 2 },
      event(2, 'Jonas'),
      event(30, 'Jonas'),
    ]);
  });
});

test.each([
  ['added', null, { version: '1' }],
  ['version', { version: '1', state: 'enabled' }, { version: '2', state: 'disabled' }],
  ['disabled', { version: '1', state: 'enabled' }, { version: '1', state: 'disabled' }],
  ['enabled', { version: '1', state: 'disabled' }, { version: '1', state: 'enabled' }],
  ['settings', { publicSettings: { a: 1 } }, { publicSettings: { a: 2 }, protectedSettings: { $sealed: 'x' } }],
  ['secrets', { protectedSettings: { $sealed: 'x' } }, { protectedSettings: { $sealed: 'y' } }],
  ['other', { publicSettings: {}, dependsOn: [] }, { publicSettings: {}, dependsOn: ['x'] }],
])('an act is shown as %s', (expected, before, after) => {
  expect(declaredBy(before, after)).toBe(expected);
});
