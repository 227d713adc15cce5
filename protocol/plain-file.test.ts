import { expect, test } from 'vitest';
import { heartbeatFileWith } from './heartbeat.ts';
import { documentLimits } from './limits.ts';
import { plainHeartbeat, plainStatus } from './plain-file.ts';
import { statusFileWith } from './status.ts';

const limits = { ...documentLimits, substatuses: 6, substatusDepth: 2, messageBytes: 40, paramBytes: 12 };
const schema = statusFileWith(limits);

let seed = 42;
const random = (below: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((seed / 2_147_483_648) * below);
};
const among = <T>(...values: T[]): T => values[random(values.length)] as T;

const strange = () => among('', ' ', 'ä'.repeat(7), 'x'.repeat(41), 'a\u0000b', '\ud800');
const text = () => (random(20) === 0 ? strange() : among('mounted', 'well', 'fine'));
const odd = (): unknown => among<unknown>(null, 7, 1.5, 2 ** 60, true, [], {}, 'Success', formatted(), strange());
const maybe = (make: () => unknown): unknown => (random(40) === 0 ? odd() : make());
const formatted = () => ({ lang: maybe(() => among('en', 'de-CH')), message: maybe(text) });
const reference = () => ({ id: maybe(() => among('1215', 'mounted')), params: maybe(() => [maybe(() => 'a')]) });

function statusOf(depth: number): Record<string, unknown> {
  const all: Record<string, unknown> = {
    status: maybe(() => among('success', 'error', 'warning', 'transitioning')),
    code: maybe(() => among(0, -3)),
    message: maybe(reference),
    formattedMessage: maybe(formatted),
    name: maybe(text),
    operation: maybe(text),
    configurationAppliedTime: maybe(() => '2026-01-01T00:00:00Z'),
    substatus: maybe(() => (depth > 2 ? [] : Array.from({ length: random(3) }, () => statusOf(depth + 1)))),
    Message: 'in another case',
    unknown: 1,
  };
  const kept = Object.entries(all).filter(
    ([key]) => (key === 'status' && random(40) > 0) || random(key === 'Message' || key === 'unknown' ? 60 : 2) === 0,
  );
  return Object.fromEntries(kept);
}

test('AZ-S1 AZ-S2 the fast path reads plain status files as the schema does, and reads no other files', () => {
  let plain = 0;
  for (let turn = 0; turn < 8_000; turn++) {
    const element = {
      version: maybe(() => among<unknown>(1, '1.0')),
      timestampUTC: maybe(() => '2013/11/13, 17:46:30.447'),
      status: statusOf(0),
    };
    const file = maybe(() => [among<unknown>(element, element, { ...element, more: 1 })]);
    const read = plainStatus(file, limits);
    if (read === null) continue;
    plain += 1;
    const judged = schema.safeParse(file);
    expect(JSON.stringify(read)).toBe(JSON.stringify(judged.data));
  }
  expect(plain).toBeGreaterThan(400);
});

test('AZ-H1 AZ-S2 the fast path reads plain heartbeats as the schema does, and reads no other files', () => {
  const judge = heartbeatFileWith(limits);
  let plain = 0;
  for (let turn = 0; turn < 4_000; turn++) {
    const all: Record<string, unknown> = {
      status: maybe(() => among('ready', 'notready', 'Ready')),
      code: maybe(() => among(0, -3)),
      formattedMessage: maybe(formatted),
      message: maybe(() => among<unknown>('fine', reference(), formatted())),
      Code: 1,
      unknown: 1,
    };
    const kept = Object.entries(all).filter(
      ([key]) => (key === 'status' && random(40) > 0) || random(key in { code: 1, formattedMessage: 1 } ? 2 : 20) === 0,
    );
    const element = { version: maybe(() => 1), heartbeat: maybe(() => Object.fromEntries(kept)) };
    const file = maybe(() => [among<unknown>(element, element, { ...element, more: 1 })]);
    const read = plainHeartbeat(file, limits);
    if (read === null) continue;
    plain += 1;
    expect(JSON.stringify(read)).toBe(JSON.stringify(judge.safeParse(file).data));
  }
  expect(plain).toBeGreaterThan(400);
});
