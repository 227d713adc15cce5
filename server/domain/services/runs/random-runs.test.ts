import { eq } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hookRuns } from '#db/schema/index.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';

let stage: UnitStage;
let service: string;
beforeAll(async () => {
  stage = await UnitStage.open();
  service = await stage.service('blog');
});
afterAll(() => stage.close());

/** Returns a seeded random number generator, so that a history can be repeated. */
function dice(seed: number): (below: number) => number {
  let state = seed * 7_919 + 1;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

/** What should be known of a run. */
interface Expected {
  id: string;
  hook: string;
  outcome: string;
}

/** What the portal should know of a unit. */
class Known {
  readonly runs: Expected[] = [];
  formula: string | null = null;
  fails = false;

  get running(): Expected | undefined {
    return this.runs.find(({ outcome }) => outcome === 'running');
  }

  begin(id: string, hook: string): void {
    const before = this.running;
    if (before) before.outcome = 'interrupted';
    this.runs.push({ id, hook, outcome: 'running' });
  }

  end(run: Expected, outcome: string): void {
    run.outcome = outcome;
    if (outcome === 'succeeded' && run.hook === 'install') this.formula = '1.0.0.0';
    if (outcome !== 'interrupted') this.fails = outcome !== 'succeeded';
  }
}

const ends = [
  { outcome: 'succeeded', end: {} },
  { outcome: 'failed', end: { exitCode: 2 } },
  { outcome: 'failed', end: { exitCode: null, signal: 'SIGTERM' } },
  { outcome: 'timed-out', end: { exitCode: null, signal: 'SIGKILL', timedOut: true } },
  { outcome: 'interrupted', end: { exitCode: null } },
] as const;

async function act(unit: StagedUnit, expected: Known, random: (below: number) => number): Promise<void> {
  const known = expected.runs[random(expected.runs.length)];
  const what = random(10);
  if (what < 4 || known === undefined) {
    const [id, hook] = [uuid(), ['install', 'config-changed', 'start'][random(3)] ?? 'install'];
    const { status } = await unit.begin(id, hook);
    expect(status).toBe(200);
    expected.begin(id, hook);
  } else if (what < 5) {
    // A begin that the agent repeats, because it got no answer.
    const { status } = await unit.begin(known.id, known.hook);
    expect(status).toBe(known.outcome === 'running' ? 200 : 409);
  } else {
    const run = what < 8 ? (expected.running ?? known) : known;
    const chosen = ends[random(ends.length)] ?? ends[0];
    const wasRunning = run.outcome === 'running';
    const answer = await unit.end(run.id, chosen.end);
    if (wasRunning) {
      expect(await answer.json()).toEqual({ outcome: 'stored', versions: {} });
      expected.end(run, chosen.outcome);
    } else expect([200, 409]).toContain(answer.status);
  }
}

test.each([1, 2, 3])(
  'whatever an agent sends, runs have one end, numbers and at most one that runs: history %i',
  async (seed) => {
    const unit = await stage.unit(service);
    const expected = new Known();
    const random = dice(seed);
    for (let turn = 0; turn < 40; turn += 1) await act(unit, expected, random);
    const rows = await stage.ctx.db
      .select()
      .from(hookRuns)
      .where(eq(hookRuns.unitId, unit.id))
      .orderBy(hookRuns.number);
    expect(rows.map(({ id, hook, outcome }) => ({ id, hook, outcome }))).toEqual(expected.runs);
    expect(rows.map(({ number }) => number)).toEqual(expected.runs.map((_, at) => at + 1));
    for (const { outcome, endedAt } of rows) expect(endedAt === null).toBe(outcome === 'running');
    const { record, failing, runCounter } = await unit.row();
    expect(record.formula).toBe(expected.formula);
    expect(Object.keys(failing).length > 0).toBe(expected.fails);
    expect(runCounter).toBe(expected.runs.length);
  },
);
