import { join } from 'node:path';
import type { DueHook, UnitGoal } from '#protocol/index.ts';
import { parseUnitName } from '#protocol/index.ts';
import { inheritedEnvironment } from '../handler/environment.ts';

export interface HookEnvironmentInput {
  goal: Pick<UnitGoal, 'unit' | 'model' | 'formula'>;
  due: Pick<DueHook, 'kind' | 'hook' | 'relation' | 'remoteUnit'>;
  /** The id of the run. */
  clientId: string;
  /** Path of the unit's socket. */
  socket: string;
  /** Folder of the unit. */
  container: string;
  /** Folder of the unpacked formula, which is the hook's working directory. */
  formulaRoot: string;
  /** For `upgrade-formula`: the formula being replaced. */
  previous?: { version: string; root: string };
  /** The members of the hook's relation at its start. */
  members: readonly string[];
  /** Folder with the commands for hooks. */
  tools: string;
  /** The agent's own environment; only PATH, HOME, LANG, LC_ALL and TZ reach a hook. */
  inherited: Record<string, string | undefined>;
}

/** Returns the environment of a hook: the variables in docs/hooks.md, except `ANNEX_COMMAND`, and no others (EN-75). */
export function hookEnvironmentOf(input: HookEnvironmentInput): Record<string, string> {
  const { goal, due, previous, inherited } = input;
  const { PATH, ...rest } = inheritedEnvironment(inherited);
  const environment: Record<string, string> = {
    ...rest,
    PATH: `${input.tools}:${PATH}`,
    ENSEMBLE_SOCKET: input.socket,
    ENSEMBLE_CLIENT_ID: input.clientId,
    ENSEMBLE_LOCAL_UNIT: goal.unit,
    ENSEMBLE_SERVICE: parseUnitName(goal.unit)?.service ?? '',
    ENSEMBLE_FORMULA: goal.formula.name,
    ENSEMBLE_CONTAINER_PATH: input.container,
    ENSEMBLE_FORMULA_PATH: input.formulaRoot,
    ENSEMBLE_HOOK: due.hook,
    ENSEMBLE_MODEL: goal.model,
  };
  if (due.kind === 'upgrade-formula' && previous !== undefined) {
    environment.ENSEMBLE_PREVIOUS_FORMULA_VERSION = previous.version;
    environment.ENSEMBLE_PREVIOUS_FORMULA_PATH = previous.root;
  }
  if (due.relation !== undefined) {
    const isBroken = due.kind === 'broken';
    environment.ENSEMBLE_MEMBERS = isBroken ? '' : input.members.join(' ');
    environment.ENSEMBLE_RELATION = due.relation.name;
    environment.ENSEMBLE_RELATION_ID = `${due.relation.name}:${due.relation.id}`;
    environment.ENSEMBLE_REMOTE_UNIT = isBroken ? '' : (due.remoteUnit ?? '');
  }
  return environment;
}

/** Returns the folder of the commands for hooks of one agent version. */
export function toolsFolderOf(agentRoot: string, agentVersion: string): string {
  return join(agentRoot, 'tools', agentVersion);
}
