import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { AgentLayout } from '../folder/layout.ts';
import { discard, readJson, replace, writeJson } from '../folder/write-file.ts';

/** A new agent on trial. It is kept only if it polls before the deadline. */
const trial = z.object({
  /** Path of the agent's file. */
  program: z.string(),
  /** SHA-256 of the agent before the update, and of the new agent. */
  from: z.string(),
  to: z.string(),
  /** Milliseconds since 1970. */
  startedAt: z.number(),
  deadline: z.number(),
});
export type UpdateTrial = z.infer<typeof trial>;

const firstPoll = z.object({ sha256: z.string(), at: z.number() });

/** Returns the path of the file that holds the previous agent during an update, next to the agent. */
export const previousOf = (program: string): string => join(dirname(program), `previous-${basename(program)}`);

/** Returns the SHA-256 of a file in hex; null if there is no file. */
export function sha256Of(file: string): string | null {
  return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : null;
}

export function readTrial(layout: AgentLayout): UpdateTrial | null {
  const parsed = trial.safeParse(readJson(layout.trial));
  return parsed.success ? parsed.data : null;
}

export function writeTrial(layout: AgentLayout, value: UpdateTrial): void {
  writeJson(layout.trial, value);
}

/** Records that the agent with this SHA-256 has polled. */
export function noteFirstPoll(layout: AgentLayout, sha256: string): void {
  writeJson(layout.firstPoll, { sha256, at: Date.now() });
}

/** Whether the new agent has polled since the trial began. */
export function hasPolled(layout: AgentLayout, { to, startedAt }: UpdateTrial): boolean {
  const parsed = firstPoll.safeParse(readJson(layout.firstPoll));
  return parsed.success && parsed.data.sha256 === to && parsed.data.at >= startedAt;
}

/**
 * `none`: there is no trial. `pending`: the new agent still has time. `kept`: it has polled and stays. `returned`: it
 * did not poll in time, and the previous agent was restored.
 */
export type TrialEnd = 'none' | 'pending' | 'kept' | 'returned';

/**
 * Ends the trial if its outcome is known. Can be interrupted at any point and repeated: the agent's file is always
 * complete, and the record of the trial is deleted last.
 */
export function settleTrial(layout: AgentLayout, now: number): TrialEnd {
  const current = readTrial(layout);
  if (current === null) return 'none';
  const { program, to, deadline } = current;
  const previous = previousOf(program);
  if (sha256Of(program) !== to) {
    // The update was interrupted before the new agent was in place, or after the previous agent was restored.
    end(layout, previous);
    return 'none';
  }
  if (hasPolled(layout, current)) {
    end(layout, previous);
    return 'kept';
  }
  if (now < deadline || !existsSync(previous)) return 'pending';
  replace(previous, program);
  end(layout, previous);
  return 'returned';
}

function end(layout: AgentLayout, previous: string): void {
  discard(layout.trial);
  rmSync(previous, { force: true });
}
