import { z } from 'zod';
import type { Layout } from '../folder/layout.ts';
import { readJson, writeJson } from '../folder/write-file.ts';
import { type Moment, moment, momentNow } from '../watch/moment.ts';

/** One unpacked version of a handler. */
const version = z.object({
  /** Digest of the package that its folder came from; null where the folder is gone. */
  sha256: z.string().nullable(),
  /** Install, or update from an older version, has ended with 0 (AZ-G3). */
  installed: z.boolean(),
  /** Its update has ended with 0, and its manifest wants install to run after that. */
  updated: z.boolean().optional(),
  updatesWithInstall: z.boolean().optional(),
  reportHeartbeat: z.boolean(),
  supportsMultipleExtensions: z.boolean(),
  rebootAfterInstall: z.boolean(),
  /** The boot id at the end of an install that asks for a restart; absent once the machine has restarted (AZ-G8). */
  rebootAfter: z.string().optional(),
  rebootSince: moment.optional(),
  /** The restart command has run since the machine's last start. */
  rebootAsked: z.boolean().optional(),
});

const extension = z.object({
  handler: z.string(),
  version: z.string(),
  /** The highest sequence number whose settings file was written. */
  sequenceNumber: z.int(),
  /** How often a command ran for that sequence number. */
  attempts: z.record(z.string(), z.int()),
  /** What was last told the portal, for people who ask the agent itself. */
  state: z.string(),
  detail: z.string(),
  at: z.string(),
});

const localState = z.object({
  handlers: z.record(z.string(), z.object({ versions: z.record(z.string(), version) })),
  extensions: z.record(z.string(), extension),
  /** Which requests for a restart were last reported. */
  reportedRestart: z.string().optional(),
});

export type LocalVersion = z.infer<typeof version>;
export type LocalExtension = z.infer<typeof extension>;
/** What is on this machine: handlers by id and version, extensions by name. It outlives restarts. */
export type LocalState = z.infer<typeof localState>;

/** Whether something of this version is in force on the machine, so that its disable and uninstall have to run. */
export function isInForce({ installed, updated }: LocalVersion): boolean {
  return installed || updated === true;
}

export function emptyLocalState(): LocalState {
  return { handlers: {}, extensions: byName() };
}

/** Holds what extensions have, and nothing else: `constructor` is a good name of one. */
export function byName<T>(entries: Record<string, T> = {}): Record<string, T> {
  return Object.assign(Object.create(null), entries);
}

export function readLocalState(layout: Layout): LocalState {
  const parsed = localState.safeParse(readJson(layout.localState));
  if (!parsed.success) return emptyLocalState();
  return { ...parsed.data, extensions: byName(parsed.data.extensions) };
}

export function writeLocalState(layout: Layout, state: LocalState): void {
  writeJson(layout.localState, state);
}

/** A handler version whose install is complete once the machine has restarted. */
export interface RestartRequest {
  handler: string;
  version: string;
  extensions: string[];
  since: Moment;
  isAsked: boolean;
}

/** Requests for a restart that the machine has not had since, by its present boot id. */
export function pendingRestartsIn({ handlers, extensions }: LocalState, boot: string): RestartRequest[] {
  return Object.entries(handlers).flatMap(([handler, { versions }]) =>
    Object.entries(versions).flatMap(([version, { rebootAfter, rebootSince, rebootAsked }]) => {
      if (rebootAfter !== boot) return [];
      const names = Object.keys(extensions).filter((name) => extensions[name]?.handler === handler);
      const since = rebootSince ?? momentNow();
      return [{ handler, version, extensions: names.sort(), since, isAsked: rebootAsked === true }];
    }),
  );
}
