import { readdirSync } from 'node:fs';
import { AgentError } from '../agent-error.ts';
import { layoutOf } from '../folder/layout.ts';
import { runningAgent } from '../folder/lock.ts';
import { readJson } from '../folder/write-file.ts';
import { pendingRestartsIn, readLocalState } from '../goal/local-state.ts';
import { readGoalState } from '../goal/read-goal-state.ts';
import { readIdentityFile } from '../identity/identity.ts';
import { bootIdFile, readBootId } from '../watch/moment.ts';
import { type LaneState, readLane } from './lane-state.ts';
import { tableOf } from './table.ts';

export interface StatusOptions {
  dir: string;
  bootIdFile?: string;
}

type Status = Record<string, unknown> & {
  lane: LaneState[];
  extensions: ExtensionSummary[];
  pendingRestart: { handler: string; version: string; since: string }[];
};

/** Reads the agent's state from the files in its folder. The agent need not be running. */
export function status({ dir, bootIdFile: file = bootIdFile }: StatusOptions): Status {
  const layout = layoutOf(dir);
  const identity = readIdentityFile(layout);
  if (identity === null) {
    throw new AgentError(`${layout.root} has no agent. Enroll first: enroll --portal URL --dir ${dir}`);
  }
  const local = readLocalState(layout);
  const goal = heldGoal(readJson(layout.goalState));
  const names = new Set([...Object.keys(local.extensions), ...(goal?.extensions ?? []).map(({ name }) => name)]);
  return {
    portal: identity.portal,
    vmId: identity.vmId,
    process: runningAgent(layout),
    incarnation: goal?.incarnation ?? null,
    waitingReports: countFiles(layout.reports),
    lane: readLane(layout),
    pendingRestart: pendingRestartsIn(local, readBootId(file)).map(({ handler, version, extensions, since }) => ({
      handler,
      version,
      extensions,
      since: new Date(since.clock).toISOString(),
    })),
    extensions: [...names].sort().map((name) => {
      const wanted = goal?.extensions.find((each) => each.name === name);
      const here = local.extensions[name];
      return {
        name,
        handler: here?.handler ?? wanted?.handler ?? '',
        version: here?.version ?? '',
        sequenceNumber: here?.sequenceNumber ?? wanted?.sequenceNumber ?? 0,
        goal: wanted?.state ?? 'not in the goal state',
        state: here?.state ?? 'notInstalled',
        detail: here?.detail ?? '',
      };
    }),
  };
}

export interface ExtensionSummary {
  name: string;
  handler: string;
  version: string;
  sequenceNumber: number;
  goal: string;
  state: string;
  detail: string;
}

/** Formats the status as a human-readable table. */
export function statusText(options: StatusOptions): string {
  const { portal, vmId, process, incarnation, waitingReports, lane, pendingRestart, extensions } = status(options);
  const head = [
    `Portal        ${portal}`,
    `VM            ${vmId ?? 'not enrolled yet'}`,
    `Agent         ${process === null ? 'not running' : `running as process ${process}`}`,
    `Goal state    ${incarnation ?? 'none received yet'}`,
    `Reports       ${waitingReports === 0 ? 'all acknowledged' : `${waitingReports} waiting to be sent`}`,
  ];
  head.push(`Lane          ${lane.length === 0 ? 'nothing is running' : lane.map(laneText).join('\n              ')}`);
  for (const { handler, version, since } of pendingRestart) {
    head.push(`Restart       pending since ${shownTime(since)}, for ${handler} ${version}`);
  }
  if (extensions.length === 0) return [...head, '', 'No extensions.'].join('\n');
  const rows = extensions.map((row) => [
    row.name,
    row.handler,
    row.version,
    String(row.sequenceNumber),
    row.goal,
    row.state,
    row.detail,
  ]);
  const lines = tableOf([['EXTENSION', 'HANDLER', 'VERSION', 'SEQ', 'GOAL', 'STATE', 'DETAIL'], ...rows]);
  return [...head, '', ...lines].join('\n');
}

const laneWords = { running: 'running', waiting: 'waiting for its turn', answered: 'ended, its result is being sent' };

/** Describes a command or an execution, such as "plan Clean up 1.0.0: running since 2026-01-01 10:00:00". */
function laneText({ kind, what, state, since }: LaneState): string {
  const when = since === null ? '' : ` since ${shownTime(since)}`;
  return `${kind === 'execution' ? 'plan ' : ''}${what}: ${laneWords[state]}${state === 'answered' ? '' : when}`;
}

const shownTime = (time: string): string => time.slice(0, 19).replace('T', ' ');

function heldGoal(held: unknown) {
  if (typeof held !== 'object' || held === null || !('text' in held)) return null;
  try {
    return readGoalState(String(held.text));
  } catch {
    return null;
  }
}

function countFiles(folder: string): number {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json')).length;
  } catch {
    return 0;
  }
}
