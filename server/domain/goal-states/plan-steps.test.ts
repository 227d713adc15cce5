import { expect, test } from 'vitest';
import { emptyLocalState, type LocalState } from '#agent/goal/local-state.ts';
import {
  commandNames,
  type GoalState,
  type GoalStateExtension,
  markDone,
  newRound,
  nextCommand,
  reconcile,
} from '#protocol/index.ts';
import type { ExtensionMove } from './move.ts';
import { stepsOfAll } from './plan-steps.ts';
import type { ExtensionRow } from './publish.ts';

let seed = 20_261_122;
const random = (below: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((seed / 2_147_483_648) * below);
};
const among = <T>(...values: T[]): T => values[random(values.length)] as T;

type Goal = Pick<ExtensionRow, 'name' | 'handler' | 'version' | 'state' | 'dependsOn'>;

const timeouts = { install: 1, update: 2, enable: 3, disable: 4, uninstall: 5 };
const versions = ['1.0', '1.9', '1.10'];
const names = ['a', 'b', 'c', 'd'];

/**
 * Returns up to four extensions of two handlers, with one version per handler. An extension depends only on extensions
 * later in the list.
 */
function randomGoals(known: readonly Goal[]): Goal[] {
  const versionOf: Record<string, string> = { 'Lab.One': among(...versions), 'Lab.Two': among(...versions) };
  const goals = names.flatMap((name, index): Goal[] => {
    const before = known.find((goal) => goal.name === name);
    if (random(4) === 0) return before ? [{ ...before, state: 'uninstall' as const, dependsOn: [] }] : [];
    const handler = before?.handler ?? among('Lab.One', 'Lab.Two');
    const dependsOn = names.slice(index + 1).filter(() => random(4) === 0);
    return [
      { name, handler, version: versionOf[handler] ?? '', state: among('enabled', 'enabled', 'disabled'), dependsOn },
    ];
  });
  // Dependents of a disabled extension would wait forever, so these dependencies are removed.
  const isEnabled = (name: string) => goals.some((goal) => goal.name === name && goal.state === 'enabled');
  return goals.map((goal) => ({ ...goal, dependsOn: goal.dependsOn.filter(isEnabled) }));
}

const goalState = (goals: readonly Goal[]): GoalState => ({
  protocol: 1,
  vmId: 'vm',
  incarnation: 1,
  extensions: goals.map(
    (goal): GoalStateExtension => ({
      ...goal,
      sequenceNumber: 1,
      timeouts,
      package: { sha256: `${goal.handler} ${goal.version}`, size: 1, url: '/' },
      settings: {},
    }),
  ),
});

/** Commands that run once for a shared handler are compared without the extension's name. */
const sentence = (command: string, version: string, extension: string, handler: string): string =>
  `${command} ${version} of ${command === 'enable' || command === 'disable' ? extension : handler}`;

/** Runs the agent's own plan until nothing is left to do; every command succeeds. Returns the commands. */
function runAgent(goal: GoalState, local: LocalState): string[] {
  const round = newRound();
  const commands: string[] = [];
  for (;;) {
    const plan = reconcile(goal.extensions, local, round);
    const fetch = plan.steps.find(({ kind }) => kind === 'fetch');
    const step = fetch ?? nextCommand(plan);
    if (step === undefined) return commands;
    const { kind, handler, version, extensions } = step;
    local.handlers[handler] ??= { versions: {} };
    const known = local.handlers[handler].versions;
    const facts = known[version];
    if (kind === 'fetch') {
      known[version] = {
        installed: false,
        reportHeartbeat: false,
        supportsMultipleExtensions: true,
        rebootAfterInstall: false,
        ...facts,
        sha256: `${handler} ${version}`,
      };
      continue;
    }
    if (facts && (kind === 'install' || kind === 'update')) facts.installed = true;
    if (facts && kind === 'uninstall') facts.installed = false;
    if (kind === 'delete') delete known[version];
    for (const name of extensions) {
      if (kind === 'configure') {
        local.extensions[name] ??= { handler, version, sequenceNumber: 1, attempts: {}, state: '', detail: '', at: '' };
      }
      const extension = local.extensions[name];
      if (extension && (kind === 'install' || kind === 'update')) extension.version = version;
      if (kind === 'forget') delete local.extensions[name];
      if (kind === 'enable') round.statuses[name] = 'success';
    }
    if ((commandNames as readonly string[]).includes(kind))
      commands.push(sentence(kind, version, extensions[0] ?? '', handler));
    markDone(step, round);
  }
}

test('the agent runs what the plan of a change shows, in the same order', () => {
  for (let n = 0; n < 1_000; n++) {
    const before = randomGoals([]).filter(({ state }) => state !== 'uninstall');
    const after = randomGoals(before);
    const present = before.map((goal) => ({ ...goal, everDelivered: true, timeouts })) as unknown as ExtensionRow[];
    const moves = after.map((goal) => ({
      name: goal.name,
      current: present.find(({ name }) => name === goal.name),
      after: { ...goal, timeouts },
      effect: 'sequence',
      version: null,
    })) as unknown as ExtensionMove[];
    const local = emptyLocalState();
    runAgent(goalState(before), local);
    const handlerOf = new Map(after.map(({ name, handler }) => [name, handler]));
    const shown = stepsOfAll(moves, present, false).map(({ extension, command, version }) =>
      sentence(command, version, extension, handlerOf.get(extension) ?? ''),
    );
    expect(runAgent(goalState(after), local), JSON.stringify({ before, after })).toEqual(shown);
  }
});
