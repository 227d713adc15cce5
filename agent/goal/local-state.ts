import { z } from 'zod';
import { byName } from '#protocol/index.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { readJson, writeJson } from '../folder/write-file.ts';
import { type BootMoment, moment, momentNow } from '../watch/moment.ts';

/** One version of a handler on this machine. */
const version = z.object({
  /** SHA-256 of the package in this version's folder; null if the folder is missing. */
  sha256: z.string().nullable(),
  /** Whether install, or an update that requires no install after it, exited with 0 (AZ-G3). */
  installed: z.boolean(),
  /** Whether update exited with 0 and the install that must follow it has not exited with 0 yet. */
  updated: z.boolean().optional(),
  updatesWithInstall: z.boolean().optional(),
  reportHeartbeat: z.boolean(),
  supportsMultipleExtensions: z.boolean(),
  rebootAfterInstall: z.boolean(),
  /** Boot id at the end of an install that requires a restart; absent once the machine has restarted (AZ-G8). */
  rebootAfter: z.string().optional(),
  rebootSince: moment.optional(),
  /** Whether the restart command has run in the boot `rebootAfter` and has not failed. */
  rebootAsked: z.boolean().optional(),
});

const extension = z.object({
  handler: z.string(),
  version: z.string(),
  /** The sequence number of the settings file that was written last. */
  sequenceNumber: z.int(),
  /** How many times each command ran for this sequence number. */
  attempts: z.record(z.string(), z.int()),
  /** State last reported to the portal; the `status` command shows it. */
  state: z.string(),
  detail: z.string(),
  at: z.string(),
});

const localState = z.object({
  handlers: z.record(z.string(), z.object({ versions: z.record(z.string(), version) })),
  extensions: z.record(z.string(), extension),
  /**
   * Number of the last round, which is sent with reports. It increases at each start of the agent and with each goal
   * state that changes more than the encryption of settings.
   */
  round: z.int().optional(),
  /** The pending restart requests, as last reported. */
  reportedRestart: z.string().optional(),
});

export type LocalVersion = z.infer<typeof version>;
export type LocalExtension = z.infer<typeof extension>;
/** The agent's local state, stored on disk: handlers by id and version, extensions by name. */
export type LocalState = z.infer<typeof localState>;

export function emptyLocalState(): LocalState {
  return { handlers: {}, extensions: byName() };
}

export function readLocalState(layout: AgentLayout): LocalState {
  const parsed = localState.safeParse(readJson(layout.localState));
  if (!parsed.success) return emptyLocalState();
  return { ...parsed.data, extensions: byName(parsed.data.extensions) };
}

export function writeLocalState(layout: AgentLayout, state: LocalState): void {
  writeJson(layout.localState, state);
}

/** A handler version whose install completes only when the machine restarts. */
export interface LocalRestartRequest {
  handler: string;
  version: string;
  extensions: string[];
  since: BootMoment;
  isAsked: boolean;
}

/** Returns the restart requests that are pending in the current boot. */
export function pendingRestartsIn({ handlers, extensions }: LocalState, boot: string): LocalRestartRequest[] {
  return Object.entries(handlers).flatMap(([handler, { versions }]) =>
    Object.entries(versions).flatMap(([version, { rebootAfter, rebootSince, rebootAsked }]) => {
      if (rebootAfter !== boot) return [];
      const names = Object.keys(extensions).filter((name) => extensions[name]?.handler === handler);
      const since = rebootSince ?? momentNow();
      return [{ handler, version, extensions: names.sort(), since, isAsked: rebootAsked === true }];
    }),
  );
}
