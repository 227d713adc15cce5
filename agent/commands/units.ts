import { type DueHook, hooksDue, newUnitRecord, type UnitGoal, type UnitRecord } from '#protocol/index.ts';
import { AgentError } from '../agent-error.ts';
import { type AgentLayout, layoutOf } from '../folder/layout.ts';
import { readIdentityFile } from '../identity/identity.ts';
import { HookFolders } from '../unit/hook-process.ts';
import { readUnitFile } from '../unit/unit-file.ts';
import { unitPathsOf } from '../unit/unit-paths.ts';
import { Outcomes } from '../work/hooks/outcomes.ts';
import { readStoredUnitState } from '../work/hooks/unit-looks.ts';
import { tableOf } from './table.ts';

interface UnitSummary {
  unit: string;
  model: string;
  formula: string;
  version: string;
  state: 'installing' | 'installed' | 'started' | 'leaving';
  /** The hook that is running; null if none is. */
  running: string | null;
  /** Whether the outcome of the last hook waits for the portal, so that no other hook of the unit begins. */
  isSending: boolean;
  /** The hooks that are due, in the order in which they run. */
  due: string[];
  failing: { attempts: number; nextAttempt: string }[];
  skipped: string[];
  ports: string[];
}

/** Reads the units of this machine from the files in the agent's folder. The agent need not be running. */
export function units({ dir }: { dir: string }): UnitSummary[] {
  const layout = layoutOf(dir);
  if (readIdentityFile(layout) === null) {
    throw new AgentError(`${layout.root} has no agent. Enroll first: enroll --portal URL --dir ${dir}`);
  }
  const outcomes = new Outcomes(layout);
  const goals = readStoredUnitState(layout)?.state.units ?? [];
  return goals.map((goal) => summaryOf(layout, goal, outcomes));
}

function summaryOf(layout: AgentLayout, goal: UnitGoal, outcomes: Outcomes): UnitSummary {
  const { unit, model, formula } = goal;
  const file = readUnitFile(unitPathsOf(layout, unit).file);
  const record = file?.record ?? newUnitRecord();
  const note = new HookFolders(layout.hooks).current();
  return {
    ...{ unit, model, formula: formula.id, version: record.formula ?? formula.version },
    state: stateOf(goal, record),
    running: note?.unit === unit ? note.hook : null,
    isSending: outcomes.of(unit) !== undefined || (file?.skipped ?? []).length > 0,
    due: hooksDue(goal, record).map(nameOf),
    failing: Object.values(record.failing).map(({ failures, notBefore }) => ({
      attempts: failures,
      nextAttempt: new Date(notBefore).toISOString(),
    })),
    skipped: record.skipped,
    ports: file?.ports ?? [],
  };
}

function stateOf({ goal }: UnitGoal, { formula, started }: UnitRecord): UnitSummary['state'] {
  if (goal === 'leaving') return 'leaving';
  return started !== null ? 'started' : formula !== null ? 'installed' : 'installing';
}

const nameOf = ({ hook, remoteUnit }: DueHook): string => [hook, remoteUnit].filter(Boolean).join(' ');

/** Formats the units as a table. */
export function unitsText(options: { dir: string }): string {
  const all = units(options);
  if (all.length === 0) return 'No units.';
  const rows = all.map((one) => [one.unit, one.formula, one.version, one.state, nowOf(one), dueOf(one)]);
  return tableOf([['UNIT', 'FORMULA', 'VERSION', 'STATE', 'NOW', 'DUE'], ...rows]).join('\n');
}

/** Describes what happens with a unit now: a running hook, an outcome that waits for the portal, or failures. */
function nowOf({ running, isSending, failing, skipped }: UnitSummary): string {
  const [failure] = failing.toSorted((a, b) => a.nextAttempt.localeCompare(b.nextAttempt));
  if (running !== null) return `runs ${running}`;
  if (isSending) return 'waits for the portal';
  if (failure !== undefined) {
    const when = failure.nextAttempt.slice(0, 19).replace('T', ' ');
    const times = failure.attempts === 1 ? 'once' : `${failure.attempts} times`;
    return `failed ${times}, next attempt ${when}`;
  }
  return skipped.length > 0 ? `skipped ${skipped.join(', ')}` : '';
}

function dueOf({ due }: UnitSummary): string {
  const [first = 'nothing', ...others] = due;
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}
