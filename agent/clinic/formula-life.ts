import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  confirmHook,
  type DueHook,
  hooksDue,
  type UnitGoal,
  type UnitRelation,
  type UnitRunEnd,
} from '#protocol/index.ts';
import { type AgentLayout, layoutOf } from '../folder/layout.ts';
import { replace } from '../folder/write-file.ts';
import { wait } from '../portal/wait.ts';
import { toolsFolderOf } from '../unit/hook-environment.ts';
import { LocalUnit } from '../unit/local-unit.ts';
import { placeTools } from '../unit/place-tools.ts';
import type { NodeCopy } from '../unit/read-node.ts';
import { unitError } from '../unit/unit-error.ts';
import { newUnitFile } from '../unit/unit-file.ts';
import { formulaRootOf, unitPathsOf } from '../unit/unit-paths.ts';
import { agentVersion } from '../version.ts';
import { runHook } from '../work/hooks/hook-run.ts';
import { Outcomes } from '../work/hooks/outcomes.ts';
import { type ReadFormula, readFormula } from './read-formula.ts';
import { trialProcessesOf } from './trial-processes.ts';

/** A formula to try, and what replaces the portal and the other units. */
export interface FormulaTrial {
  /** The trial's folder. */
  work: string;
  /** Path of the package. */
  zip: string;
  /** Settings of the service, over the defaults of the options. */
  settings: Readonly<Record<string, unknown>>;
  /** By the name of a relation: what the units of the other side set, once they have joined. */
  remote: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  seconds: number;
  environment: Record<string, string | undefined>;
  signal: AbortSignal;
  /** Prints progress: called for each stage. */
  say(line: string): void;
}

/** The stages of a trial, in order. */
export const formulaStages = ['start', 'join', 'settings', 'reboot', 'depart', 'leave'] as const;
export type FormulaStage = (typeof formulaStages)[number];

/** A hook that ran in a trial. */
export interface HookSeen {
  stage: FormulaStage;
  hook: string;
  /** The unit that the hook was for; null for hooks of the unit. */
  remoteUnit: string | null;
  end: UnitRunEnd;
}

/** What was observed in a trial. */
export interface FormulaObservations {
  faults: string[];
  formula: ReadFormula | null;
  hooks: HookSeen[];
  /** Names of the hooks that were due and that the formula does not have. */
  absent: string[];
  /** Whether a trial ended before all stages, because it was stopped. */
  isWhole: boolean;
  /** Command lines of processes that were still running after the last hook. */
  processes: string[];
}

const version = '1.0.0.0';
const boot = 'try';
/** How long to wait for processes that are ending, in seconds. */
const endingSeconds = 3;

/** Runs the hooks of a formula in the order of a unit’s life with the agent’s own code, and returns what they did. */
export async function liveFormula(trial: FormulaTrial): Promise<FormulaObservations> {
  const layout = layoutOf(join(trial.work, 'agent'));
  const unpacked = join(trial.work, 'formula');
  const { formula, faults } = await readFormula(trial.zip, unpacked);
  const seen: FormulaObservations = { faults, formula, hooks: [], absent: [], isWhole: false, processes: [] };
  if (formula === null) return seen;
  const life = new FormulaLife(trial, layout, formula, seen);
  mkdirSync(life.unit.paths.container, { recursive: true });
  replace(unpacked, formulaRootOf(life.unit.paths, version));
  life.unit.noteFormula(version, '');
  try {
    placeTools(toolsFolderOf(layout.root, agentVersion));
    await life.run();
  } finally {
    await life.unit.closeSocket();
  }
  const until = Date.now() + endingSeconds * 1000;
  while (trialProcessesOf('ENSEMBLE_CONTAINER_PATH', layout.root).length > 0 && Date.now() < until)
    await wait(0.1, [trial.signal]);
  seen.processes = trialProcessesOf('ENSEMBLE_CONTAINER_PATH', layout.root).map(({ line }) => line);
  return seen;
}

class FormulaLife {
  readonly unit: LocalUnit;
  private readonly trial: FormulaTrial;
  private readonly layout: AgentLayout;
  private readonly seen: FormulaObservations;
  private readonly outcomes: Outcomes;
  private readonly nodes = new Map<string, NodeCopy>();
  private goal: UnitGoal;
  private clock = 0;

  constructor(trial: FormulaTrial, layout: AgentLayout, formula: ReadFormula, seen: FormulaObservations) {
    const { metadata, hooks, defaults } = formula;
    const name = `${metadata.name}/0`;
    this.trial = trial;
    this.layout = layout;
    this.seen = seen;
    this.outcomes = new Outcomes(layout);
    this.nodes.set('service', { version: 1, settings: textsOf({ ...defaults, ...trial.settings }) });
    const relations = [...Object.keys(metadata.provides), ...Object.keys(metadata.requires)];
    const peers = Object.keys(metadata.peers);
    this.goal = {
      ...{ unit: name, model: 'try', turn: 1, goal: 'alive', serviceExposed: false, settingsVersion: 1 },
      formula: {
        ...{ id: `Clinic.Trial.${metadata.name}`, name: metadata.name, version, hooks },
        package: { sha256: '', size: 0, url: '' },
      },
      timeouts: { ...metadata.timeouts, default: metadata.timeouts.default ?? trial.seconds },
      ...{ masked: metadata.masked, resolution: null, addresses: { private: '127.0.0.1', public: null } },
      relations: [...relations, ...peers].map(
        (relation, at): UnitRelation => ({
          ...{ id: at + 1, name: relation, interface: relation, life: 'alive', clock: 1, whole: true, members: [] },
        }),
      ),
    };
    for (const { id } of this.goal.relations) this.nodes.set(`${id} ${name}`, { version: 1, settings: {} });
    this.unit = new LocalUnit(newUnitFile(name, boot), {
      paths: unitPathsOf(layout, name),
      readNode: async (of) => this.node(of === 'service' ? of : `${of.relation} ${of.unit}`),
      portHolder: () => null,
      log: () => {},
      onFault: () => {},
    });
  }

  async run(): Promise<void> {
    const other = (relation: UnitRelation, n: number) =>
      this.seen.formula?.metadata.peers[relation.name] === undefined
        ? `${relation.name}-other/${n}`
        : `${this.goal.formula.name}/${n + 1}`;
    await this.stage('start', () => {});
    await this.stage('join', () => {
      for (const relation of this.goal.relations) for (const n of [0, 1]) this.set(relation, other(relation, n), {});
    });
    await this.stage('settings', () => {
      this.goal = { ...this.goal, settingsVersion: 2 };
      for (const relation of this.goal.relations) {
        for (const n of [0, 1]) this.set(relation, other(relation, n), this.trial.remote[relation.name] ?? {});
      }
    });
    await this.stage('reboot', () => this.unit.save({ record: { ...this.unit.record, boot: `${boot}-2` } }));
    await this.stage('depart', () => {
      for (const relation of this.goal.relations) this.leave(relation, other(relation, 1));
    });
    await this.stage('leave', () => {
      this.goal = { ...this.goal, goal: 'leaving' };
    });
    this.seen.isWhole = !this.trial.signal.aborted;
  }

  /** Changes what should be, and runs the hooks that are due until there is none. */
  private async stage(stage: FormulaStage, change: () => void): Promise<void> {
    this.trial.say(stage);
    change();
    this.unit.goal = this.goal;
    while (!this.trial.signal.aborted) {
      const [due] = hooksDue(this.goal, this.unit.record);
      if (due === undefined) return;
      if (!due.hasFile) {
        if (!this.seen.absent.includes(due.hook)) this.seen.absent.push(due.hook);
        this.unit.save({ record: confirmHook(this.unit.record, due) });
      } else await this.runOne(stage, due);
    }
  }

  /** Runs a hook. After a failure, the trial continues as if an operator had skipped the hook. */
  private async runOne(stage: FormulaStage, due: DueHook): Promise<void> {
    const { unit, goal, layout, outcomes, trial } = this;
    const timeoutSeconds = goal.timeouts[due.hook] ?? goal.timeouts.default;
    const begun = { unit, goal, due, attempt: 1, run: randomUUID(), timeoutSeconds };
    const logs = { follow: () => {}, close: () => {} };
    const { environment, signal } = trial;
    const end = await runHook(begun, { layout, logs, outcomes, environment, signal });
    if (end === null) return;
    const outcome = outcomes.of(unit.name);
    if (outcome !== undefined) outcomes.remove(outcome);
    this.seen.hooks.push({ stage, hook: due.hook, remoteUnit: due.remoteUnit ?? null, end });
    const isDone = end.exitCode === 0 && end.signal === null && !end.timedOut;
    if (!isDone) {
      unit.save({ record: confirmHook(unit.record, due, { isSkipped: true }) });
      return;
    }
    for (const { relation, set, remove } of end.changes ?? []) this.write(`${relation} ${unit.name}`, set, remove);
    unit.confirm(due, end.ports ?? { open: [], close: [] });
    // The unit takes part in its relations from its first start on; before, nothing is due for them.
    unit.goal = this.goal;
  }

  private node(key: string): NodeCopy {
    const node = this.nodes.get(key);
    if (node === undefined) throw unitError('NoSuchUnit', 'No such unit takes part in the relation.');
    return { ...node, settings: { ...node.settings } };
  }

  private write(key: string, set: Readonly<Record<string, string>>, remove: readonly string[] = []): number {
    const before = this.nodes.get(key) ?? { version: 0, settings: {} };
    const kept = Object.entries(before.settings).filter(([name]) => !remove.includes(name));
    const node = { version: before.version + 1, settings: { ...Object.fromEntries(kept), ...set } };
    this.nodes.set(key, node);
    return node.version;
  }

  /**
   * Lets another unit join, or set something. A unit that is already in the relation and sets nothing changes nothing.
   */
  private set({ id }: UnitRelation, unit: string, values: Readonly<Record<string, unknown>>): void {
    const key = `${id} ${unit}`;
    if (this.nodes.has(key) && Object.keys(values).length === 0) return;
    const member = { unit, version: this.write(key, textsOf(values)), clock: this.tick() };
    this.change(id, (members) => [...members.filter((one) => one.unit !== unit), member]);
  }

  private leave({ id }: UnitRelation, unit: string): void {
    this.tick();
    this.change(id, (members) => members.filter((one) => one.unit !== unit));
  }

  private change(id: number, members: (before: UnitRelation['members']) => UnitRelation['members']): void {
    const relations = this.goal.relations.map((one) =>
      one.id === id ? { ...one, clock: this.clock, members: members(one.members) } : one,
    );
    this.goal = { ...this.goal, relations };
  }

  private tick(): number {
    this.clock += 1;
    return this.clock;
  }
}

/** Returns each value as the text of its JSON. */
function textsOf(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, JSON.stringify(value)]));
}
