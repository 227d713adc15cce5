import { describe, expect, test } from 'vitest';
import { explain } from './explain.ts';
import type { Extension, InstanceView } from './vm-data.ts';

const now = new Date('2026-11-20T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString();
const ahead = (seconds: number) => ago(-seconds);

function handler(
  state: NonNullable<Extension['handlerState']>['state'],
  more: Partial<Extension['handlerState']> = {},
) {
  return {
    state,
    command: null,
    sequenceNumber: 2,
    exitCode: null,
    timedOut: false,
    attempt: 1,
    blockedBy: null,
    outputTail: null,
    at: ago(60),
    ...more,
  } satisfies Extension['handlerState'];
}

function said(status: NonNullable<Extension['status']>['status'], sequenceNumber = 2): Extension['status'] {
  return {
    name: null,
    operation: null,
    status,
    code: 12,
    message: null,
    substatus: [],
    omittedSubstatuses: 0,
    sequenceNumber,
    configurationAppliedTime: null,
    timestampUTC: ago(50),
    stale: false,
    staleSeconds: 0,
    readAt: ago(50),
  };
}

/** Delivered, enabled, and at work; `more` tells what differs. */
function extension(name: string, more: Partial<Extension> = {}): Extension {
  return {
    name,
    handler: `Acme.Lab.${name}`,
    goalVersion: '1.0.0',
    version: '1.0.0',
    goal: 'enabled',
    goalSequenceNumber: 2,
    dependsOn: [],
    changedAt: ago(100),
    changedBy: 'Ada',
    deliveredAt: ago(90),
    deadlineAt: ahead(192),
    concludedAt: null,
    concludedWith: null,
    needsSecrets: false,
    needsRelease: false,
    handlerState: handler('enabled', { command: 'enable', exitCode: 0 }),
    heartbeat: { verdict: 'none', ageSeconds: null, code: null, message: null, readAt: null, nextReadingAt: null },
    status: null,
    refusedStatus: null,
    refusedHeartbeat: null,
    health: 'progressing',
    cause: null,
    failedPart: null,
    ...more,
  };
}

const failed = handler('failed', { command: 'enable', exitCode: 51, outputTail: 'denied' });
const done = extension('done', { concludedWith: 'success', deadlineAt: null, health: 'healthy' });

function view(extensions: Extension[], agent: InstanceView['agent']['status'] = 'ready'): InstanceView {
  return {
    vmId: '0',
    name: 'db-1',
    incarnation: 42,
    publishedAt: ago(100),
    deliveredIncarnation: 41,
    deliveredAt: ago(90),
    agent: {
      status: agent,
      lastSeenAt: agent === 'never' ? null : ago(4),
      nextExpectedAt: ahead(56),
      name: 'annex-agent',
      version: '1.0.0',
      clockSkewSeconds: 0,
      enrolledAt: ago(1000),
      duplicateSeenAt: null,
      refusals: [],
      hold: null,
    },
    extensions,
    pendingRestart: null,
    health: 'progressing',
    languages: ['en'],
  };
}

const chain = (told: InstanceView) =>
  explain(told, now)?.links.map(({ kind, holds, title }) => `${kind}${holds ? '' : '?'} ${title.key}`);

test('what waits for a failed one: five links, from the last poll to the deadline', () => {
  const mount = extension('mount', {
    handlerState: failed,
    deadlineAt: null,
    concludedWith: 'error',
    health: 'failed',
  });
  const snapshot = extension('snapshot', { handlerState: handler('waiting', { blockedBy: 'mount' }) });
  const told = explain(view([done, mount, snapshot]), now);
  expect(told?.lead).toEqual({
    key: 'why.lead.blocked.exit',
    values: { name: 'snapshot', cause: 'mount', exit: 51 },
  });
  expect(chain(view([done, mount, snapshot]))).toEqual([
    'touch why.touch.ready',
    'delivery why.delivery.done',
    'wait? why.wait',
    'cause? why.failed',
    'deadline? why.deadline.left',
  ]);
  expect(told?.links.at(-1)?.title.at).toBe(ahead(192));
  expect(told?.act).toEqual({ name: 'mount', editable: true, output: true, failed: true });
});

test('one that ran before and waits again is not said to have never run', () => {
  const share = extension('share', { handlerState: failed, health: 'failed' });
  const waiting = handler('waiting', { blockedBy: 'share' });
  const again = extension('again', { handlerState: waiting, status: said('success'), concludedWith: 'success' });
  const wait = explain(view([share, again]), now)?.links.find(({ kind }) => kind === 'wait');
  expect(wait?.detail?.key).toBe('why.wait.again');
});

test('a wait is followed to its root, and a circle ends', () => {
  const a = extension('a', { handlerState: handler('waiting', { blockedBy: 'b' }) });
  const b = extension('b', { handlerState: handler('waiting', { blockedBy: 'c' }) });
  const c = extension('c', { handlerState: failed, health: 'failed' });
  expect(explain(view([a, b, c]), now)?.act?.name).toBe('c');
  const circle = [a, { ...b, handlerState: handler('waiting', { blockedBy: 'a' }) }];
  expect(explain(view(circle), now)?.links.length).toBeLessThanOrEqual(5);
});

test('on hold it is the hold that keeps it, and a failure from before goes on being one', () => {
  const hold = { at: ago(600), by: 'Ada' };
  const onHold = (...extensions: Extension[]) => {
    const told = view(extensions);
    return { ...told, agent: { ...told.agent, hold } };
  };
  const fresh = onHold(extension('x', { deliveredAt: null, deadlineAt: null, handlerState: null }));
  expect(explain(fresh, now)).toMatchObject({ lead: { key: 'why.lead.hold' }, act: null });
  expect(chain(fresh)).toEqual(['touch why.touch.ready', 'delivery? why.delivery.withheld', 'hold? why.hold']);
  const broken = onHold(extension('x', { handlerState: failed, health: 'failed' }));
  expect(explain(broken, now)?.lead.key).toBe('why.lead.failed.exit');
  expect(explain(broken, now)?.links.at(-1)).toMatchObject({ kind: 'hold', detail: { values: { who: 'Ada' } } });
});

test('nothing is told where all is done, or where no agent ever spoke', () => {
  expect(explain(view([done, extension('off', { health: 'disabled' })]), now)).toBeNull();
  expect(explain(view([]), now)).toBeNull();
  expect(explain(view([extension('x')], 'never'), now)).toBeNull();
  const late = { ...done, health: 'degraded' } as const;
  expect(explain(view([late]), now)).toBeNull();
});

test('what succeeded once and fails now is not done', () => {
  expect(explain(view([{ ...done, handlerState: failed, health: 'failed' }]), now)?.lead.key).toBe(
    'why.lead.failed.exit',
  );
});

test('what is not delivered hangs there, and nobody but the agent can do anything', () => {
  const fresh = extension('x', { deliveredAt: null, handlerState: null });
  const told = explain(view([fresh]), now);
  expect(told?.lead).toEqual({ key: 'why.lead.undelivered', values: { name: 'x', incarnation: 42 } });
  expect(told?.act).toBeNull();
  expect(chain(view([fresh]))).toEqual([
    'touch why.touch.ready',
    'delivery? why.delivery.open',
    'deadline? why.deadline.left',
  ]);
  expect(explain(view([fresh], 'unresponsive'), now)?.lead.key).toBe('why.lead.silent');
});

test('a silent agent breaks the chain at its first link', () => {
  const told = explain(view([extension('x', { health: 'unresponsive' })], 'unresponsive'), now);
  expect(told?.links[0]).toMatchObject({ holds: false, status: 'unresponsive', title: { key: 'why.touch.silent' } });
  expect(told?.lead.key).toBe('why.lead.silent');
  expect(explain(view([extension('x')], 'unknown'), now)?.links[0]?.title.key).toBe('why.touch.late');
});

test('the deadline counts down, and when it has passed it says so', () => {
  const late = extension('x', { deadlineAt: ago(10), health: 'failed', status: said('transitioning') });
  const told = explain(view([late]), now);
  expect(told?.lead.key).toBe('why.lead.late.works');
  expect(chain(view([late]))).toEqual([
    'touch why.touch.ready',
    'delivery why.delivery.done',
    'cause? why.late',
    'deadline? why.deadline.past',
  ]);
});

test.each<[string, Partial<Extension>]>([
  ['works', { status: said('transitioning') }],
  ['warns', { status: said('warning') }],
  ['runs', { handlerState: handler('enabling', { command: 'enable' }) }],
  ['quiet', { handlerState: handler('enabled', { command: 'enable', exitCode: 0 }) }],
  ['notBegun', { handlerState: handler('enabled', { sequenceNumber: 1 }) }],
  ['waits', { handlerState: handler('waiting', { blockedBy: 'gone' }) }],
  ['leaving', { goal: 'uninstall', handlerState: handler('enabled', { sequenceNumber: 1 }) }],
])('what the portal itself calls timed out has its reason: %s', (reason, more) => {
  const told = explain(view([extension('x', { deadlineAt: ago(10), health: 'failed', ...more })]), now);
  expect(told?.lead.key).toBe(`why.lead.late.${reason}`);
  expect(told?.links.find(({ kind }) => kind === 'cause')).toMatchObject({
    title: { key: 'why.late' },
    detail: { key: `why.late.${reason}` },
  });
});

test('what is not delivered for want of its secrets says so, and leads to the editor', () => {
  const told = explain(view([extension('x', { needsSecrets: true, deliveredAt: null })]), now);
  expect(told?.lead.key).toBe('why.lead.secrets');
  expect(told?.links.map(({ title }) => title.key)).toContain('why.secrets');
  expect(told?.act).toMatchObject({ name: 'x', editable: true });
});

test('what is withheld from the machine’s key says so, also where an earlier machine had finished', () => {
  const told = explain(view([extension('x', { needsRelease: true, deliveredAt: null })]), now);
  expect(told?.lead.key).toBe('why.lead.release');
  expect(told?.links.map(({ title }) => title.key)).toContain('why.release');
  expect(told?.act).toMatchObject({ name: 'x', editable: true });
  const withheld = [extension('x', { needsRelease: true, deliveredAt: null })];
  const fetched = explain({ ...view(withheld), incarnation: 3, deliveredIncarnation: 3 }, now);
  expect(fetched?.links.map(({ kind }) => kind)).not.toContain('delivery');
  const unfetched = explain({ ...view(withheld), incarnation: 3, deliveredIncarnation: 2 }, now);
  expect(unfetched?.links.map(({ kind }) => kind)).toContain('delivery');
  expect(explain(view([{ ...done, needsRelease: true }]), now)?.lead.key).toBe('why.lead.release');
});

describe('one that waits for no other', () => {
  const heartbeat = (verdict: Extension['heartbeat']['verdict']) => ({ ...done.heartbeat, verdict, readAt: ago(5) });
  const enabled = handler('enabled', { command: 'enable', exitCode: 0 });
  test.each<[string, Partial<Extension>, string, string]>([
    ['a command that failed', { handlerState: failed, health: 'failed' }, 'why.lead.failed.exit', 'why.failed'],
    [
      'a command that ran out of time',
      { handlerState: { ...failed, timedOut: true }, health: 'failed' },
      'why.lead.failed.time',
      'why.failed',
    ],
    [
      'a failure without an exit code',
      { handlerState: { ...failed, exitCode: null }, health: 'failed' },
      'why.lead.failed',
      'why.failed',
    ],
    ['an error status', { status: said('error'), health: 'failed' }, 'why.lead.error', 'why.error'],
    [
      'an earlier error status',
      { status: said('error', 1), handlerState: handler('enabling', { command: 'enable' }) },
      'why.lead.runs',
      'why.runs',
    ],
    ['one that runs', { handlerState: handler('enabling', { command: 'enable' }) }, 'why.lead.runs', 'why.runs'],
    [
      'one of an older sequence',
      { handlerState: handler('enabled', { sequenceNumber: 1 }) },
      'why.lead.notBegun',
      'why.notBegun',
    ],
    ['one never spoken of', { handlerState: null }, 'why.lead.notBegun', 'why.notBegun'],
    ['one whose cause is gone', { handlerState: handler('waiting', { blockedBy: 'z' }) }, 'why.lead.waits', 'why.wait'],
    ['one that works', { handlerState: enabled, status: said('transitioning') }, 'why.lead.works', 'why.works'],
    ['one that warns', { status: said('warning'), health: 'degraded' }, 'why.lead.warns', 'why.warns'],
    ['one not ready', { heartbeat: heartbeat('notready'), health: 'degraded' }, 'why.lead.notReady', 'why.notReady'],
    [
      'one that does not answer',
      { heartbeat: heartbeat('unresponsive'), health: 'degraded' },
      'why.lead.unresponsive',
      'why.unresponsive',
    ],
    ['one without a status', { handlerState: enabled }, 'why.lead.quiet', 'why.quiet'],
    [
      'one that leaves',
      { goal: 'uninstall', handlerState: handler('uninstalling', { command: 'uninstall' }) },
      'why.lead.leaving',
      'why.leaving',
    ],
  ])('%s', (_, more, lead, cause) => {
    const told = explain(view([done, extension('x', more)]), now);
    expect(told?.lead.key).toBe(lead);
    expect(told?.links.find(({ kind }) => kind === 'cause')?.title.key).toBe(cause);
  });
});

describe('AZ-S6 a status that complains although the operation succeeded', () => {
  const message = { text: 'disk sdb1 is full', lang: 'en', source: 'formatted' as const };
  const degraded = { ...done, name: 'probe', health: 'degraded' as const };
  const failedPart = { name: 'disk', operation: null, code: 28, message };

  test('a substatus with an error is the reason, with its sentence', () => {
    const told = explain(view([{ ...degraded, status: said('success'), cause: 'substatus', failedPart }]), now);
    expect(told?.title).toBe('why.title.degraded');
    expect(told?.lead).toEqual({ key: 'why.lead.part', values: { name: 'probe', part: 'disk' } });
    expect(told?.links.find(({ kind }) => kind === 'cause')).toMatchObject({
      title: { key: 'why.part', values: { part: 'disk' } },
      detail: { key: 'why.error.detail', values: { code: 28 } },
      said: message,
    });
  });

  test('a part without a name is called a part', () => {
    const unnamed = { ...failedPart, name: null };
    const told = explain(
      view([{ ...degraded, status: said('success'), cause: 'substatus', failedPart: unnamed }]),
      now,
    );
    expect(told?.lead.key).toBe('why.lead.part.unnamed');
  });

  test('a warning after the success says so', () => {
    const told = explain(view([{ ...degraded, status: said('warning'), cause: 'status' }]), now);
    expect(told?.lead).toMatchObject({ key: 'why.lead.warnsSince', values: { name: 'probe' } });
  });
});

test('AZ-S1 a rejected status is the reason, before and after the deadline', () => {
  const faults = [{ path: '/0/status/code', code: 'field_not_number' as const, message: 'This must be a number.' }];
  const refusedStatus = { sequenceNumber: 2, readAt: ago(5), faults };
  for (const more of [{}, { deadlineAt: ago(10), health: 'failed' as const }]) {
    const told = explain(view([extension('probe', { refusedStatus, ...more })]), now);
    expect(told?.lead).toMatchObject({ key: 'why.lead.refused', values: { name: 'probe' } });
    expect(told?.links.find(({ kind }) => kind === 'cause')).toMatchObject({
      title: { key: 'why.refused' },
      detail: { key: 'why.refused.detail', values: { path: '/0/status/code' }, at: ago(5) },
    });
  }
});

test('the worst is told first: failed before warning before working', () => {
  const works = extension('a');
  const warns = extension('b', { health: 'degraded', status: said('warning') });
  const fails = extension('c', { health: 'failed', handlerState: failed });
  const lead = (...all: Extension[]) => explain(view(all), now)?.lead.values?.name;
  expect(lead(works, warns, fails)).toBe('c');
  expect(lead(works, warns)).toBe('b');
  expect(lead(works, extension('z', { deadlineAt: ahead(5) }))).toBe('z');
});
