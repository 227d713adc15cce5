import { z } from 'zod';
import { boundedText } from './file.ts';
import { type DocumentLimits, documentLimits } from './limits.ts';
import { commandNames } from './manifest.ts';

export const handlerStates = [
  'notInstalled',
  'waiting',
  'installing',
  'installed',
  'updating',
  'enabling',
  'enabled',
  'disabling',
  'disabled',
  'uninstalling',
  'failed',
  'removed',
] as const;
export type HandlerState = (typeof handlerStates)[number];

/** Bounds of the periods that an agent may state, in seconds. */
export const periodBounds = { minimum: 1, maximum: 600 } as const;
/** Periods for an agent that states none: heartbeats every 2 minutes, statuses every 5 minutes. */
export const defaultPeriods = { heartbeatSeconds: 120, statusSeconds: 300 } as const;

/** Ten years: a greater age is rejected as a mistake. */
const maxAgeSeconds = 315_360_000;

const optional = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? undefined);
const age = z.number().nonnegative().max(maxAgeSeconds);
const extension = z.string().min(1).max(64);
const sequenceNumber = z.int().nonnegative();

/**
 * Something that the agent could not read or do. `about` is an extension's name, `goal-state` or `restart`; `file` is
 * set if a handler's file could not be read.
 */
export const agentProblem = z.object({
  about: boundedText(256),
  message: boundedText(4096),
  file: z.enum(['status', 'heartbeat']).optional().catch(undefined),
});
export type AgentProblem = z.output<typeof agentProblem>;

/**
 * A handler version whose install completes only when the machine restarts, and how long ago the restart was requested.
 */
export const restartRequest = z.object({
  handler: boundedText(256),
  version: boundedText(64),
  extensions: z.array(extension).max(200),
  requestedSecondsAgo: age,
  /** Whether the agent restarts the machine itself and then enables the extensions. */
  byAgent: z.boolean().optional().catch(undefined),
});
export type RestartRequestEntry = z.output<typeof restartRequest>;

/**
 * The envelope of `POST /agent/v1/reports`. Entries about handlers, heartbeats and statuses are checked one by one, so
 * that an invalid entry does not block valid entries. `run` identifies the agent process; report numbers increase
 * within a run.
 */
export const reportEnvelope = z.looseObject({
  reportNumber: optional(z.int().nonnegative()),
  run: optional(z.string().min(1).max(64)),
  agentTime: optional(z.iso.datetime({ offset: true })),
  appliedEtag: optional(z.string().max(256)),
  periods: optional(
    z.looseObject({
      heartbeatSeconds: optional(z.number()),
      statusSeconds: optional(z.number()),
    }),
  ),
  handlers: z
    .array(z.unknown())
    .nullish()
    .transform((list) => list ?? []),
  heartbeats: z
    .array(z.unknown())
    .nullish()
    .transform((list) => list ?? []),
  statuses: z
    .array(z.unknown())
    .nullish()
    .transform((list) => list ?? []),
  problems: z
    .array(agentProblem)
    .max(100)
    .nullish()
    .transform((list) => list ?? []),
  /** All pending restart requests; may be empty. If absent, the last reported requests still apply. */
  pendingRestart: optional(z.array(restartRequest).max(200)),
});
export type ReportEnvelope = z.output<typeof reportEnvelope>;

const versionsOnMachine = z
  .record(boundedText(64), z.enum(['unpacked', 'updated', 'installed']))
  .refine((versions) => Object.keys(versions).length <= 100);

/** What the portal needs to determine which command a machine runs next. */
export const handlerWork = z.object({
  /** The turn of the goal state that the agent works on. */
  turn: z.int().nonnegative(),
  /**
   * Number of the agent's round. It increases at each start of the agent and with each goal state that changes more
   * than the encryption of settings. Absent for a command of an earlier run, whose outcome the agent found when it
   * started.
   */
  round: optional(z.int().nonnegative()),
  /** The version that the command belongs to. */
  commandVersion: optional(boundedText(64)),
  /**
   * All versions of the handler on the machine. `updated`: the update to that version succeeded, but the install that
   * must follow has not succeeded yet.
   */
  versions: versionsOnMachine,
  /** The handler's extensions whose settings were written on the machine, each with the version that it last used. */
  extensions: z.record(extension, boundedText(64)).refine((used) => Object.keys(used).length <= 200),
});
export type HandlerWork = z.output<typeof handlerWork>;

/** The schema of a handler's state with the given limits. */
export function handlerEntryWith(limits: Pick<DocumentLimits, 'outputBytes' | 'paramBytes'>) {
  return z.object({
    extension,
    version: optional(boundedText(64)),
    sequenceNumber,
    state: z.enum(handlerStates),
    command: optional(z.enum(commandNames)),
    exitCode: optional(z.int()),
    timedOut: z
      .boolean()
      .nullish()
      .transform((value) => value ?? false),
    attempt: optional(z.int().nonnegative()),
    /** The dependency that this extension is waiting for. */
    blockedBy: optional(boundedText(limits.paramBytes)),
    work: optional(handlerWork),
    output: optional(boundedText(limits.outputBytes)),
  });
}
export const handlerEntry = handlerEntryWith(documentLimits);
export type HandlerEntry = z.output<typeof handlerEntry>;

/** The stored part of a handler's entry. */
export type HandlerReport = Omit<HandlerEntry, 'extension'>;

/** A heartbeat file, its age when it was read, and the time from reading to sending, in seconds. */
export const heartbeatEntry = z.object({
  extension,
  ageSeconds: age,
  readSecondsAgo: age.nullish().transform((value) => value ?? 0),
  file: z.unknown(),
});
export type HeartbeatEntry = z.output<typeof heartbeatEntry>;

export const statusEntry = z.object({
  extension,
  sequenceNumber,
  ageSeconds: age,
  readSecondsAgo: age.nullish().transform((value) => value ?? 0),
  file: z.unknown(),
});
export type StatusEntry = z.output<typeof statusEntry>;
