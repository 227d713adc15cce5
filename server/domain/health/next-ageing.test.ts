import { expect, test } from 'vitest';
import type { HandlerReport, StatusDocument } from '#protocol/index.ts';
import { agentStatus, noPauses, pausesOf } from '#server/domain/verdicts/index.ts';
import { derive, type ExtensionFacts } from './derive.ts';
import { nextAgeing, type PresenceFacts } from './next-ageing.ts';

const start = new Date('2026-03-01T12:00:00Z');
const after = (seconds: number) => new Date(start.getTime() + Math.round(seconds * 1000));

const presence: PresenceFacts = {
  lastSeenAt: start,
  nextExpectedAt: after(30),
  heartbeatSeconds: null,
  statusSeconds: null,
};
const timeouts = { install: 1, update: 2, enable: 4, disable: 8, uninstall: 16 };
const report = { version: '1.0.0.0', sequenceNumber: 1, state: 'enabled', timedOut: false } as HandlerReport;
const facts: ExtensionFacts = {
  vmId: '00000000-0000-7000-8000-000000000001',
  name: 'probe',
  handler: 'Acme.Lab.Probe',
  goalVersion: '1.0.0.0',
  goal: 'enabled',
  goalSequenceNumber: 1,
  timeouts,
  commands: null,
  changedAt: after(-1000),
  deliveredAt: after(-1000),
  heldAt: null,
  pastHolds: null,
  laneTakenAt: null,
  laneTimes: null,
  pauses: noPauses,
  handlerState: report,
  handlerAt: after(-500),
  heartbeatStatus: null,
  heartbeatReadAt: null,
  heartbeatAgeSeconds: null,
  messageId: null,
  partFailed: false,
  partMessageId: null,
  statusWord: null,
  statusSequence: null,
  statusReadAt: null,
  statusAgeSeconds: null,
  concludedAt: null,
  concludedWith: null,
  optedIn: false,
  dependsOn: [],
  waitsUntil: null,
};
const withStatus = (status: StatusDocument['status'], readAt: Date, ageSeconds = 0): Partial<ExtensionFacts> => ({
  statusWord: status,
  statusSequence: 1,
  statusReadAt: readAt,
  statusAgeSeconds: ageSeconds,
});
const beat = (readAt: Date, ageSeconds: number): Partial<ExtensionFacts> => ({
  optedIn: true,
  heartbeatStatus: 'ready',
  heartbeatReadAt: readAt,
  heartbeatAgeSeconds: ageSeconds,
});

test.each<[string, Partial<ExtensionFacts>[], Partial<PresenceFacts> | null, number, number | null]>([
  ['no agent, no extension', [], null, 0, null],
  ['the promised call and a grace', [], {}, 0, 60.001],
  ['10 minutes of silence', [], {}, 60.001, 600.001],
  ['a silent agent', [], {}, 600.001, null],
  ['a deadline that is to come', [{ deliveredAt: after(-280) }], null, 0, 25.001],
  ['a deadline of an undelivered goal', [{ deliveredAt: null, changedAt: after(-300) }], null, 0, 5.001],
  ['a deadline that passed', [{}], null, 0, null],
  ['an awaited first heartbeat', [{ optedIn: true, handlerAt: start }], null, 0, 150.001],
  ['no heartbeat where nobody opted in', [{ ...beat(start, 0), optedIn: false }], null, 0, null],
  ['the next reading of a heartbeat', [beat(start, 10)], null, 0, 150.001],
  ['the age of an overdue heartbeat', [beat(start, 10)], null, 150.001, 590.001],
  ['the next reading of a status', [withStatus('warning', start)], null, 0, 330.001],
  ['a status that ends', [withStatus('success', start)], null, 0, null],
  ['the earliest of all', [withStatus('warning', start), beat(after(-100), 0)], {}, 0, 50.001],
])('%s', (_, extensions, agent, now, expected) => {
  const given = extensions.map((changes) => ({ ...facts, ...changes }));
  const found = nextAgeing(given, agent && { ...presence, ...agent }, after(now));
  expect(found).toEqual(expected === null ? null : after(expected));
});

/** Returns a seeded random generator, so that failures can be reproduced. */
function dice(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
  const among = <T>(...values: readonly [T, ...T[]]): T => values[Math.floor(next() * values.length)] ?? values[0];
  /** Returns seconds in multiples of 125 ms or whole seconds, often exactly `from` or `to`. */
  const seconds = (from: number, to: number): number =>
    among(Math.round((from + next() * (to - from)) * 8) / 8, Math.round(from + next() * (to - from)), from, to);
  return { among, seconds };
}

const pastPeriod = (from: number, to: number): [string, string][] => [
  [after(from).toISOString(), after(to).toISOString()],
];

function random(seed: number): { extension: ExtensionFacts; agent: PresenceFacts | null } {
  const { among, seconds } = dice(seed);
  const at = () => after(seconds(-900, 300));
  const sequenceNumber = among(0, 1);
  const state = among('enabled' as const, 'failed' as const, 'waiting' as const, 'disabled' as const);
  return {
    agent: among(null, {
      lastSeenAt: at(),
      nextExpectedAt: at(),
      heartbeatSeconds: among(null, 1, 20, 600),
      statusSeconds: among(null, 1, 60, 600),
    }),
    extension: {
      ...facts,
      goal: among('enabled', 'disabled', 'uninstall'),
      changedAt: at(),
      deliveredAt: among(null, at()),
      pauses: pausesOf({
        heldAt: among(null, null, null, at()),
        pastHolds: among(null, null, pastPeriod(seconds(-1_800, -900), seconds(-900, 0))),
        laneTakenAt: among(null, null, null, at()),
        laneTimes: among(null, null, pastPeriod(seconds(-1_800, -900), seconds(-900, 0))),
      }),
      handlerState: among(null, { ...report, state, sequenceNumber, timedOut: among(true, false) }),
      handlerAt: at(),
      ...among({}, withStatus(among('warning', 'success', 'error', 'transitioning'), at(), seconds(0, 700))),
      ...among({}, { ...beat(at(), seconds(0, 700)), heartbeat: { status: among('ready', 'notready') } }),
      statusSequence: among(0, 1),
      concludedAt: among(null, start),
      optedIn: among(true, false),
    },
  };
}

function answer(extension: ExtensionFacts, agent: PresenceFacts | null, now: Date): string {
  const status = agentStatus(agent, now);
  const { heartbeatSeconds = null, statusSeconds = null } = agent ?? {};
  const { staleFor, ...rest } = derive(extension, { status, heartbeatSeconds, statusSeconds }, now);
  return JSON.stringify([status, staleFor !== null, rest]);
}

test('AZ-H3 AZ-S4 AZ-S6 no verdict changes before the predicted time', () => {
  let aged = 0;
  for (let seed = 1; seed <= 3_000; seed++) {
    const { extension, agent } = random(seed);
    const at = (time: number) => answer(extension, agent, new Date(time));
    let now = start.getTime();
    const end = now + 7_200_000;
    for (let instants = 0; now < end; instants++) {
      const next = nextAgeing([extension], agent, new Date(now))?.getTime() ?? end;
      expect(next, `seed ${seed}`).toBeGreaterThan(now);
      const here = at(now);
      const step = Math.max(1, Math.floor((next - now) / 12));
      for (let between = now + step; between < next; between += step) expect(at(between), `seed ${seed}`).toBe(here);
      expect(at(next - 1), `seed ${seed}`).toBe(here);
      if (next < end && at(next) !== here) aged += 1;
      expect(instants, `seed ${seed}`).toBeLessThan(10);
      now = next;
    }
  }
  expect(aged).toBeGreaterThan(1_000);
});
