import { expect, test } from 'vitest';
import german from '#locales/de/reports.json' with { type: 'json' };
import english from '#locales/en/reports.json' with { type: 'json' };
import { type ExplainedUnit, explainUnit } from './explain-unit.ts';
import { type ExplainedVm, explanation } from './explanation.ts';
import { healthCauses } from './words.ts';

const at = '2026-11-01T12:00:00.000Z';
const vm: ExplainedVm = {
  ...{ incarnation: 1, deliveredIncarnation: 1, lane: null, extensions: [] },
  agent: { status: 'ready', kind: 'reference', lastSeenAt: at, hold: null },
};
const unit = (more: Partial<ExplainedUnit>): ExplainedUnit => ({
  ...{ unit: 'blog/0', health: 'degraded', cause: null, hook: 'start', exitCode: null },
  ...{ since: at, agentSince: at, failure: null },
  ...more,
});
const chain = (given: Partial<ExplainedUnit>) => {
  const { lead, links } = explainUnit(vm, unit(given)) ?? { lead: null, links: [] };
  return [lead?.code, ...links.map(({ title }) => title.code)];
};
const failure = { failures: 3, remoteUnit: 'store/0', runningSince: null };

test.each<[string, Partial<ExplainedUnit>, string[]]>([
  [
    'a hook that failed',
    { health: 'failed', cause: 'exit', exitCode: 3, failure },
    ['lead.failed.exit', 'touch.ready', 'unit.seen', 'unit.exit', 'unit.again'],
  ],
  [
    'a hook that is retried',
    { health: 'progressing', cause: 'retry', failure },
    ['lead.unit.retry', 'touch.ready', 'unit.seen', 'unit.retry', 'unit.again'],
  ],
  ['a missing relation', { cause: 'relation' }, ['lead.unit.relation', 'touch.ready', 'unit.seen', 'unit.relation']],
  [
    'withheld settings, before the agent looked',
    { cause: 'release', agentSince: null },
    ['lead.unit.release', 'touch.ready', 'unit.unseen', 'unit.release'],
  ],
  ['a hook that runs', { health: 'progressing' }, ['lead.unit.runs', 'touch.ready', 'unit.seen', 'unit.runs']],
])('%s is explained step by step', (_, given, codes) => {
  expect(chain(given)).toEqual(codes);
});

test('the failure of a hook of a relation names the other unit and how long its next attempt can take', () => {
  const links = explainUnit(vm, unit({ health: 'failed', cause: 'timeout', failure }))?.links ?? [];
  expect(links.at(-2)?.detail).toMatchObject({ code: 'unit.attempts.remote', values: { remote: 'store/0', count: 3 } });
  expect(links.at(-1)?.title.values).toEqual({ seconds: 20 });
});

test.each<[string, Partial<ExplainedUnit>, ExplainedVm]>([
  ['a silent agent', { health: 'unresponsive', cause: 'silent' }, vm],
  ['an agent that never called', {}, { ...vm, agent: { ...vm.agent, status: 'never' } }],
  ['a healthy unit', { health: 'healthy' }, vm],
])('%s needs no explanation of a unit', (_, given, of) => {
  expect(explainUnit(of, unit(given))).toBeNull();
});

test.each([
  ['English', english],
  ['German', german],
])('in %s, every cause has sentences without gaps', (_, texts: Readonly<Record<string, string>>) => {
  for (const cause of [...healthCauses, null]) {
    const found = explainUnit(vm, unit({ cause, exitCode: 1, failure }));
    if (found === null) continue;
    expect(explanation.safeParse(found).success).toBe(true);
    for (const { code, values } of [found.lead, ...found.links.flatMap(({ title, detail }) => detail ?? title)]) {
      const text = texts[`why.${code}`] ?? `no text for ${code}`;
      const names = [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name);
      expect(
        names.filter((name) => (values[name] ?? '') === ''),
        text,
      ).toEqual([]);
    }
    expect(texts[`why.${found.lead.code}`], found.lead.code).toContain('{{name}}');
  }
});
