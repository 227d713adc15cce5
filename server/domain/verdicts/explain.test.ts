import { describe, expect, test } from 'vitest';
import reports from '#locales/en/reports.json' with { type: 'json' };
import { explain } from './explain.ts';
import {
  type ExplainedVm,
  type Explanation,
  type ExplainedExtension as Extension,
  explanation,
  sentenceCodes,
} from './explanation.ts';

/** Explains a VM, and checks the result against the API schema. */
function explainVm(vm: ExplainedVm, at: Date): Explanation | null {
  const explained = explain(vm, at);
  if (explained !== null) expect(explanation.parse(explained)).toEqual(explained);
  return explained;
}

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

function statusOf(status: NonNullable<Extension['status']>['status'], sequenceNumber = 2): Extension['status'] {
  return { status, code: 12, sequenceNumber, readAt: ago(50) };
}

/** An extension that is delivered and enabled and has no status yet; `more` overrides fields. */
function extension(name: string, more: Partial<Extension> = {}): Extension {
  return {
    name,
    goal: 'enabled',
    goalSequenceNumber: 2,
    deliveredAt: ago(90),
    deadlineAt: ahead(192),
    concludedWith: null,
    needsSecrets: false,
    needsRelease: false,
    handlerState: handler('enabled', { command: 'enable', exitCode: 0 }),
    heartbeat: { verdict: 'none', readAt: null },
    status: null,
    refusedStatus: null,
    health: 'progressing',
    cause: null,
    failedPart: null,
    ...more,
  };
}

const failed = handler('failed', { command: 'enable', exitCode: 51, outputTail: 'denied' });
const done = extension('done', { concludedWith: 'success', deadlineAt: null, health: 'healthy' });

function view(extensions: Extension[], status: ExplainedVm['agent']['status'] = 'ready'): ExplainedVm {
  return {
    incarnation: 42,
    deliveredIncarnation: 41,
    agent: { status, kind: 'reference', lastSeenAt: status === 'never' ? null : ago(4), hold: null },
    lane: null,
    extensions,
  };
}

const chain = (explained: ExplainedVm) =>
  explainVm(explained, now)?.links.map(({ kind, holds, title }) => `${kind}${holds ? '' : '?'} ${title.code}`);

test('a wait for a failed extension has five links, from the last poll to the deadline', () => {
  const mount = extension('mount', {
    handlerState: failed,
    deadlineAt: null,
    concludedWith: 'error',
    health: 'failed',
  });
  const snapshot = extension('snapshot', { handlerState: handler('waiting', { blockedBy: 'mount' }) });
  const explained = explainVm(view([done, mount, snapshot]), now);
  expect(explained?.lead).toMatchObject({
    code: 'lead.blocked.exit',
    values: { name: 'snapshot', cause: 'mount', exit: 51 },
  });
  expect(chain(view([done, mount, snapshot]))).toEqual([
    'touch touch.ready',
    'delivery delivery.done',
    'wait? wait',
    'cause? failed',
    'deadline? deadline.left',
  ]);
  expect(explained?.links.at(-1)?.title.at).toBe(ahead(192));
  expect(explained?.act).toEqual({ extension: 'mount', editable: true, hasOutput: true, failed: true });
});

test('an extension that ran before and waits again does not count as never run', () => {
  const share = extension('share', { handlerState: failed, health: 'failed' });
  const waiting = handler('waiting', { blockedBy: 'share' });
  const again = extension('again', { handlerState: waiting, status: statusOf('success'), concludedWith: 'success' });
  const wait = explainVm(view([share, again]), now)?.links.find(({ kind }) => kind === 'wait');
  expect(wait?.detail?.code).toBe('wait.again');
});

test('a wait is followed to its root, and a cycle ends', () => {
  const a = extension('a', { handlerState: handler('waiting', { blockedBy: 'b' }) });
  const b = extension('b', { handlerState: handler('waiting', { blockedBy: 'c' }) });
  const c = extension('c', { handlerState: failed, health: 'failed' });
  expect(explainVm(view([a, b, c]), now)?.act?.extension).toBe('c');
  const cycle = [a, { ...b, handlerState: handler('waiting', { blockedBy: 'a' }) }];
  expect(explainVm(view(cycle), now)?.links.length).toBeLessThanOrEqual(5);
});

describe('while an execution holds the lane', () => {
  const executionId = '00000000-0000-4000-8000-000000000007';
  const lane = { executionId, name: 'Rotate certificates', since: ago(180), isRestarting: false };
  const busy = (...extensions: Extension[]): ExplainedVm => ({ ...view(extensions), lane });
  const waiting = extension('probe', { deadlineAt: null, handlerState: null });

  test('an extension waits for its turn, and the execution is named', () => {
    const explained = explainVm(busy(waiting), now);
    expect(explained?.lead).toMatchObject({ code: 'lead.turn', values: { execution: 'Rotate certificates' } });
    expect(explained?.links.at(-1)).toMatchObject({
      ...{ kind: 'turn', status: 'waiting', execution: executionId, extension: 'probe' },
      title: { code: 'turn', values: { name: 'probe' } },
      detail: { code: 'turn.detail', values: { execution: 'Rotate certificates' }, at: lane.since },
    });
    expect(explainVm({ ...busy(waiting), lane: { ...lane, name: '' } }, now)).toMatchObject({
      lead: { code: 'lead.turn.unnamed' },
    });
  });

  test.each(['Rotate certificates', ''])('while the machine restarts for the execution %j, both say that', (name) => {
    const explained = explainVm({ ...busy(waiting), lane: { ...lane, name, isRestarting: true } }, now);
    expect(explained).toMatchObject({ lead: { code: 'lead.turn.restarts', values: { name: 'probe' } } });
    expect(explained?.links.at(-1)).toMatchObject({
      ...{ kind: 'turn', status: 'waiting', execution: executionId, detail: { code: 'turn.restarts' } },
    });
  });

  test('the root of a chain of dependencies waits for its turn', () => {
    const second = extension('second', { deadlineAt: null, handlerState: handler('waiting', { blockedBy: 'probe' }) });
    expect(chain(busy(waiting, second))).toEqual([
      'touch touch.ready',
      'delivery delivery.done',
      'wait? wait',
      'cause? notBegun',
      'turn? turn',
    ]);
  });

  test.each([
    ['failed', extension('probe', { handlerState: failed, health: 'failed', deadlineAt: null })],
    ['was not delivered', extension('probe', { deliveredAt: null, deadlineAt: null, handlerState: null })],
    ['has run and reports progress', extension('probe', { status: statusOf('transitioning'), deadlineAt: null })],
  ])('an extension that %s does not wait for its turn', (_, subject) => {
    expect(explainVm(busy(subject), now)?.links.map(({ kind }) => kind)).not.toContain('turn');
  });
});

test('during a hold, the hold is the reason, but an earlier failure remains a reason', () => {
  const hold = { at: ago(600), by: 'Ada', reason: null, until: null };
  const onHold = (...extensions: Extension[]): ExplainedVm => {
    const explained = view(extensions);
    return { ...explained, agent: { ...explained.agent, kind: 'stock', hold } };
  };
  const fresh = onHold(extension('x', { deliveredAt: null, deadlineAt: null, handlerState: null }));
  expect(explainVm(fresh, now)).toMatchObject({ lead: { code: 'lead.hold' }, act: null });
  expect(chain(fresh)).toEqual(['touch touch.ready', 'delivery? delivery.withheld', 'hold? hold']);
  const broken = onHold(extension('x', { handlerState: failed, health: 'failed' }));
  expect(explainVm(broken, now)?.lead.code).toBe('lead.failed.exit');
  expect(explainVm(broken, now)?.links.at(-1)).toMatchObject({ kind: 'hold', detail: { values: { who: 'Ada' } } });
});

test('a reference agent finishes what it has during a hold, and gets nothing new', () => {
  const hold = { at: ago(600), by: 'Ada', reason: 'Patch window', until: ago(-600) };
  const held = (given: Extension): ExplainedVm => {
    const explained = view([given]);
    return { ...explained, agent: { ...explained.agent, hold } };
  };
  const fresh = held(extension('x', { deliveredAt: null, deadlineAt: null, handlerState: null }));
  expect(explainVm(fresh, now)?.lead).toMatchObject({ code: 'lead.held', values: { name: 'x' } });
  const runs = held(extension('x', { deadlineAt: null, handlerState: handler('enabling', { command: 'enable' }) }));
  expect(explainVm(runs, now)?.lead.code).toBe('lead.runs');
  expect(explainVm(runs, now)?.links.at(-1)?.detail).toEqual({
    code: 'hold.reason.until',
    values: { who: 'Ada', reason: 'Patch window', until: ago(-600) },
    at: ago(600),
  });
});

test.each([
  [null, null, 'hold.detail'],
  [null, ago(-60), 'hold.until'],
  ['Patch window', null, 'hold.reason'],
])('the hold link says what is known: reason %s, end %s', (reason, until, code) => {
  const explained = view([extension('x', { deliveredAt: null, deadlineAt: null, handlerState: null })]);
  const held = { ...explained, agent: { ...explained.agent, hold: { at: ago(600), by: 'Ada', reason, until } } };
  expect(explainVm(held, now)?.links.at(-1)?.detail?.code).toBe(code);
});

describe('a link names the entry of the queue that waits', () => {
  const entries = (vm: ExplainedVm) =>
    explainVm(vm, now)?.links.flatMap(({ kind, queueEntry }) => (queueEntry === null ? [] : [`${kind} ${queueEntry}`]));
  const waiting = (blockedBy: string) => handler('waiting', { blockedBy });
  const onHold = (given: Extension, kind: 'reference' | 'stock' = 'reference'): ExplainedVm => {
    const explained = view([given]);
    const hold = { at: ago(600), by: 'Ada', reason: 'Patch window', until: null };
    return { ...explained, agent: { ...explained.agent, kind, hold } };
  };
  const undelivered = { deliveredAt: null, deadlineAt: null, handlerState: null };

  test.each<[what: string, vm: ExplainedVm, entries: string[]]>([
    ['for its turn', view([extension('x', { handlerState: null })]), ['cause x']],
    [
      'for its turn, with a package that is already there',
      view([extension('x', { handlerState: handler('installed') })]),
      ['cause x'],
    ],
    [
      'for its turn, after the deadline',
      view([extension('x', { handlerState: null, deadlineAt: ago(1), health: 'failed' })]),
      ['cause x'],
    ],
    [
      'for its uninstall',
      view([extension('x', { goal: 'uninstall', handlerState: handler('enabled', { sequenceNumber: 1 }) })]),
      ['cause x'],
    ],
    [
      'for an extension that runs',
      view([
        extension('a', { handlerState: handler('enabling', { command: 'enable' }) }),
        extension('b', { handlerState: waiting('a') }),
      ]),
      ['wait b'],
    ],
    [
      'for an extension that waits too',
      view([extension('a', { handlerState: null }), extension('b', { handlerState: waiting('a') })]),
      ['wait b', 'cause a'],
    ],
    [
      'for an extension that failed',
      view([
        extension('a', { handlerState: failed, health: 'failed' }),
        extension('b', { handlerState: waiting('a') }),
      ]),
      ['wait b'],
    ],
    ['for the end of a hold', onHold(extension('x', undelivered)), ['hold x']],
    ['for the end of a hold, with a stock agent', onHold(extension('x'), 'stock'), ['hold x']],
  ])('%s', (_, vm, expected) => {
    expect(entries(vm)).toEqual(expected);
  });

  test.each<[what: string, vm: ExplainedVm]>([
    ['runs', view([extension('x', { handlerState: handler('enabling', { command: 'enable' }) })])],
    ['runs during a hold', onHold(extension('x', { handlerState: handler('enabling', { command: 'enable' }) }))],
    [
      'uninstalls',
      view([extension('x', { goal: 'uninstall', handlerState: handler('uninstalling', { command: 'uninstall' }) })]),
    ],
    ['failed', view([extension('x', { handlerState: failed, health: 'failed' })])],
    [
      'failed during a hold of a stock agent',
      onHold(extension('x', { handlerState: failed, health: 'failed' }), 'stock'),
    ],
    ['is not delivered yet', view([extension('x', undelivered)])],
    ['lacks its protected settings during a hold', onHold(extension('x', { ...undelivered, needsSecrets: true }))],
    ['reports no status yet', view([extension('x')])],
  ])('none does if the extension %s', (_, vm) => {
    expect(entries(vm)).toEqual([]);
  });
});

test('there is no explanation if all is done, or no agent ever called', () => {
  expect(explainVm(view([done, extension('off', { health: 'disabled' })]), now)).toBeNull();
  expect(explainVm(view([]), now)).toBeNull();
  expect(explainVm(view([extension('x')], 'never'), now)).toBeNull();
  const late = { ...done, health: 'degraded' } as const;
  expect(explainVm(view([late]), now)).toBeNull();
});

test('an extension that succeeded once and fails now is not done', () => {
  expect(explainVm(view([{ ...done, handlerState: failed, health: 'failed' }]), now)?.lead.code).toBe(
    'lead.failed.exit',
  );
});

test('an undelivered goal only waits for the agent', () => {
  const fresh = extension('x', { deliveredAt: null, handlerState: null });
  const explained = explainVm(view([fresh]), now);
  expect(explained?.lead).toEqual({ code: 'lead.undelivered', values: { name: 'x', incarnation: 42 }, at: null });
  expect(explained?.act).toBeNull();
  expect(chain(view([fresh]))).toEqual(['touch touch.ready', 'delivery? delivery.open', 'deadline? deadline.left']);
  expect(explainVm(view([fresh], 'unresponsive'), now)?.lead.code).toBe('lead.silent');
});

test('a silent agent breaks the chain at the first link', () => {
  const explained = explainVm(view([extension('x', { health: 'unresponsive' })], 'unresponsive'), now);
  expect(explained?.links[0]).toMatchObject({ holds: false, status: 'unresponsive', title: { code: 'touch.silent' } });
  expect(explained?.lead.code).toBe('lead.silent');
  expect(explainVm(view([extension('x')], 'unknown'), now)?.links[0]?.title.code).toBe('touch.late');
});

test('the deadline counts down, and is reported once it has passed', () => {
  const late = extension('x', { deadlineAt: ago(10), health: 'failed', status: statusOf('transitioning') });
  const explained = explainVm(view([late]), now);
  expect(explained?.lead.code).toBe('lead.late.works');
  expect(chain(view([late]))).toEqual([
    'touch touch.ready',
    'delivery delivery.done',
    'cause? late',
    'deadline? deadline.past',
  ]);
});

test.each<[string, Partial<Extension>]>([
  ['works', { status: statusOf('transitioning') }],
  ['warns', { status: statusOf('warning') }],
  ['runs', { handlerState: handler('enabling', { command: 'enable' }) }],
  ['quiet', { handlerState: handler('enabled', { command: 'enable', exitCode: 0 }) }],
  ['notBegun', { handlerState: handler('enabled', { sequenceNumber: 1 }) }],
  ['waits', { handlerState: handler('waiting', { blockedBy: 'gone' }) }],
  ['leaving', { goal: 'uninstall', handlerState: handler('enabled', { sequenceNumber: 1 }) }],
])('a timeout by the portal has its reason: %s', (reason, more) => {
  const explained = explainVm(view([extension('x', { deadlineAt: ago(10), health: 'failed', ...more })]), now);
  expect(explained?.lead.code).toBe(`lead.late.${reason}`);
  expect(explained?.links.find(({ kind }) => kind === 'cause')).toMatchObject({
    title: { code: 'late' },
    detail: { code: `late.${reason}` },
  });
});

test('an extension without its secrets is not delivered, and leads to the editor', () => {
  const explained = explainVm(view([extension('x', { needsSecrets: true, deliveredAt: null })]), now);
  expect(explained?.lead.code).toBe('lead.secrets');
  expect(explained?.links.map(({ title }) => title.code)).toContain('secrets');
  expect(explained?.act).toMatchObject({ extension: 'x', editable: true });
});

test("settings withheld from the machine's key are the reason, even after an earlier machine", () => {
  const explained = explainVm(view([extension('x', { needsRelease: true, deliveredAt: null })]), now);
  expect(explained?.lead.code).toBe('lead.release');
  expect(explained?.links.map(({ title }) => title.code)).toContain('release');
  expect(explained?.act).toMatchObject({ extension: 'x', editable: true });
  const withheld = [extension('x', { needsRelease: true, deliveredAt: null })];
  const fetched = explainVm({ ...view(withheld), incarnation: 3, deliveredIncarnation: 3 }, now);
  expect(fetched?.links.map(({ kind }) => kind)).not.toContain('delivery');
  const unfetched = explainVm({ ...view(withheld), incarnation: 3, deliveredIncarnation: 2 }, now);
  expect(unfetched?.links.map(({ kind }) => kind)).toContain('delivery');
  expect(explainVm(view([{ ...done, needsRelease: true }]), now)?.lead.code).toBe('lead.release');
});

describe('an extension that does not wait', () => {
  const heartbeat = (verdict: Extension['heartbeat']['verdict']) => ({ ...done.heartbeat, verdict, readAt: ago(5) });
  const enabled = handler('enabled', { command: 'enable', exitCode: 0 });
  test.each<[string, Partial<Extension>, string, string]>([
    ['a command that failed', { handlerState: failed, health: 'failed' }, 'lead.failed.exit', 'failed'],
    [
      'a command that ran out of time',
      { handlerState: { ...failed, timedOut: true }, health: 'failed' },
      'lead.failed.time',
      'failed',
    ],
    [
      'a failure without an exit code',
      { handlerState: { ...failed, exitCode: null }, health: 'failed' },
      'lead.failed',
      'failed',
    ],
    ['an error status', { status: statusOf('error'), health: 'failed' }, 'lead.error', 'error'],
    [
      'an earlier error status',
      { status: statusOf('error', 1), handlerState: handler('enabling', { command: 'enable' }) },
      'lead.runs',
      'runs',
    ],
    ['one that runs', { handlerState: handler('enabling', { command: 'enable' }) }, 'lead.runs', 'runs'],
    [
      'one of an older sequence',
      { handlerState: handler('enabled', { sequenceNumber: 1 }) },
      'lead.notBegun',
      'notBegun',
    ],
    ['one never spoken of', { handlerState: null }, 'lead.notBegun', 'notBegun'],
    ['one whose cause is gone', { handlerState: handler('waiting', { blockedBy: 'z' }) }, 'lead.waits', 'wait'],
    ['one that works', { handlerState: enabled, status: statusOf('transitioning') }, 'lead.works', 'works'],
    ['one that warns', { status: statusOf('warning'), health: 'degraded' }, 'lead.warns', 'warns'],
    ['one not ready', { heartbeat: heartbeat('notready'), health: 'degraded' }, 'lead.notReady', 'notReady'],
    [
      'one that does not answer',
      { heartbeat: heartbeat('unresponsive'), health: 'degraded' },
      'lead.unresponsive',
      'unresponsive',
    ],
    ['one without a status', { handlerState: enabled }, 'lead.quiet', 'quiet'],
    [
      'one that leaves',
      { goal: 'uninstall', handlerState: handler('uninstalling', { command: 'uninstall' }) },
      'lead.leaving',
      'leaving',
    ],
  ])('%s', (_, more, lead, cause) => {
    const explained = explainVm(view([done, extension('x', more)]), now);
    expect(explained?.lead.code).toBe(lead);
    expect(explained?.links.find(({ kind }) => kind === 'cause')?.title.code).toBe(cause);
  });
});

describe('AZ-S6 a status that reports trouble although the operation succeeded', () => {
  const degraded = { ...done, name: 'probe', health: 'degraded' as const };
  const failedPart = { name: 'disk', operation: null, code: 28 };

  test('a substatus with an error is the reason, with its sentence', () => {
    const explained = explainVm(
      view([{ ...degraded, status: statusOf('success'), cause: 'substatus', failedPart }]),
      now,
    );
    expect(explained?.question).toBe('degraded');
    expect(explained?.lead).toMatchObject({ code: 'lead.part', values: { name: 'probe', part: 'disk' } });
    expect(explained?.links.find(({ kind }) => kind === 'cause')).toMatchObject({
      title: { code: 'part', values: { part: 'disk' } },
      detail: { code: 'error.detail', values: { code: 28 } },
      extension: 'probe',
    });
  });

  test('a part without a name is called a part', () => {
    const unnamed = { ...failedPart, name: null };
    const explained = explainVm(
      view([{ ...degraded, status: statusOf('success'), cause: 'substatus', failedPart: unnamed }]),
      now,
    );
    expect(explained?.lead.code).toBe('lead.part.unnamed');
  });

  test('a warning after the success is the reason', () => {
    const explained = explainVm(view([{ ...degraded, status: statusOf('warning'), cause: 'status' }]), now);
    expect(explained?.lead).toMatchObject({ code: 'lead.warnsSince', values: { name: 'probe' } });
  });
});

test('AZ-S1 a rejected status is the reason, before and after the deadline', () => {
  const faults = [{ path: '/0/status/code', code: 'field_not_number' }];
  const refusedStatus = { sequenceNumber: 2, readAt: ago(5), faults };
  for (const more of [{}, { deadlineAt: ago(10), health: 'failed' as const }]) {
    const explained = explainVm(view([extension('probe', { refusedStatus, ...more })]), now);
    expect(explained?.lead).toMatchObject({ code: 'lead.refused', values: { name: 'probe' } });
    expect(explained?.links.find(({ kind }) => kind === 'cause')).toMatchObject({
      title: { code: 'refused' },
      detail: { code: 'refused.detail', values: { path: '/0/status/code' }, at: ago(5) },
    });
  }
});

test('the worst comes first: failed before warning before working', () => {
  const works = extension('a');
  const warns = extension('b', { health: 'degraded', status: statusOf('warning') });
  const fails = extension('c', { health: 'failed', handlerState: failed });
  const lead = (...all: Extension[]) => explainVm(view(all), now)?.lead.values?.name;
  expect(lead(works, warns, fails)).toBe('c');
  expect(lead(works, warns)).toBe('b');
  expect(lead(works, extension('z', { deadlineAt: ahead(5) }))).toBe('z');
});

test('every sentence has a translation', () => {
  expect(sentenceCodes.filter((code) => !(`why.${code}` in reports))).toEqual([]);
});

test.each<[verdict: Extension['heartbeat']['verdict'], lead: string, cause: string]>([
  ['unresponsive', 'lead.unresponsive', 'unresponsive'],
  ['notready', 'lead.notReady', 'notReady'],
  ['unknown', 'lead.noHeartbeat', 'noHeartbeat'],
])('a done extension that is degraded because its heartbeat is %s is explained', (verdict, lead, cause) => {
  const status = statusOf('success');
  const heartbeat = { verdict, readAt: ago(400) };
  const degraded = { ...done, health: 'degraded' as const, cause: 'heartbeat' as const, status, heartbeat };
  const explained = explainVm(view([degraded]), now);
  expect(explained).toMatchObject({ question: 'degraded', lead: { code: lead }, act: { extension: 'done' } });
  expect(explained?.links.find(({ kind }) => kind === 'cause')).toMatchObject({
    status: 'warning',
    title: { code: cause },
    detail: { code: 'heartbeat.detail', at: ago(400) },
  });
});
