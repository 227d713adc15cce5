import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { executionEnvelope } from '#protocol/executions/index.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { readJson, readText } from '../folder/write-file.ts';
import { RunningCommand } from '../handler/running-command.ts';
import { HookFolders } from '../unit/hook-process.ts';
import { moment } from '../watch/moment.ts';

/** The command or hook that the machine is running, or its open execution. */
export interface LaneState {
  kind: 'command' | 'execution' | 'hook';
  /** The command with its handler, the hook with its unit, or the plan. */
  what: string;
  state: 'running' | 'waiting' | 'answered';
  /** When the execution began or, if it has not begun, when it was received, in ISO 8601; null for a command or hook. */
  since: string | null;
}

const stored = z.object({ text: z.string(), at: moment });
const begun = z.object({ begunAt: moment.nullable().default(null) });

/** Reads the running command or hook and the open execution from the agent's folder; the agent need not be running. */
export function readLane(layout: AgentLayout): LaneState[] {
  return [runningCommand(layout), runningHook(layout), openExecution(layout)].filter((state) => state !== null);
}

function runningCommand(layout: AgentLayout): LaneState | null {
  const record = new RunningCommand(layout.command).read();
  if (record === null) return null;
  const { kind, handler, version, extensions } = record;
  const names = extensions.map(({ name }) => name).join(', ');
  return { kind: 'command', what: `${kind} of ${handler} ${version} for ${names}`, state: 'running', since: null };
}

function runningHook(layout: AgentLayout): LaneState | null {
  const note = new HookFolders(layout.hooks).current();
  if (note === null) return null;
  return { kind: 'hook', what: `${note.hook} of ${note.unit}`, state: 'running', since: null };
}

/**
 * Returns the open execution: it is running, it is waiting for its turn, or its result has not been sent yet. Null if
 * there is none.
 */
function openExecution({ executions }: AgentLayout): LaneState | null {
  for (const name of namesIn(executions)) {
    const folder = join(executions, name);
    const received = stored.safeParse(readJson(join(folder, 'plan.json')));
    if (!received.success) continue;
    const begunAt = begun.safeParse(readJson(join(folder, 'progress.json'))).data?.begunAt ?? null;
    const isAnswered = readText(join(folder, 'result.json')) !== null;
    return {
      kind: 'execution',
      what: planName(received.data.text),
      state: isAnswered ? 'answered' : begunAt === null ? 'waiting' : 'running',
      since: new Date((begunAt ?? received.data.at).clock).toISOString(),
    };
  }
  return null;
}

function planName(text: string): string {
  const envelope = executionEnvelope.safeParse(JSON.parse(text));
  const plan = envelope.data?.plan;
  const named = z.object({ Name: z.string().optional(), Version: z.string().optional() }).safeParse(plan);
  return [named.data?.Name, named.data?.Version].filter(Boolean).join(' ') || (envelope.data?.id ?? '');
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name !== 'answers');
  } catch {
    return [];
  }
}
