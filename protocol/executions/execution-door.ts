import { z } from 'zod';
import { anyNamed } from '../named-values.ts';
import { executionLimits } from './limits.ts';

const seconds = z.number().positive().max(executionLimits.timeoutSeconds.most);

/** The response to `GET /agent/v1/executions/next`. Keeps unknown properties, because a newer portal may send more. */
export const executionEnvelope = z.looseObject({
  protocol: z.literal(1),
  id: z.string(),
  stamp: z.int().nonnegative(),
  turn: z.int().nonnegative(),
  timeoutSeconds: seconds,
  /** The queued plan, with `ID` and `Stamp` filled in. */
  plan: z.unknown(),
  /** The plan's files of BodyType `ID`, by file id. `url` is relative to the gateway's URL. */
  files: anyNamed(z.looseObject({ sha256: z.string(), size: z.int().nonnegative(), url: z.string() })),
  /** Secret parameters: DER of a CMS EnvelopedData, in base64. */
  protectedParameters: z.string().optional(),
  /** SHA-1 of the certificate, in hexadecimal. */
  protectedParametersCertThumbprint: z.string().optional(),
});
export type ExecutionEnvelope = z.output<typeof executionEnvelope>;

/** The number of a row. The portal stores it as a PostgreSQL `integer`, like all numbers of type `int32` here. */
const rowNumber = z.int32().nonnegative();

export const callStates = ['running', 'succeeded', 'failed'] as const;

/** One call of a Body. Times are in milliseconds; `atMs` counts from when the Body first began. */
export const executionCall = z.object({
  /** Number of the call, from 1. */
  n: z.int().min(1).max(executionLimits.calls),
  /** The script's name; null for a call of `api`. */
  script: z.string().max(executionLimits.idBytes).nullable(),
  function: z.string().max(executionLimits.idBytes).nullable(),
  state: z.enum(callStates),
  /** The row of the transcript in which the call begins. Rows are numbered from 0. */
  row: rowNumber,
  untilRow: rowNumber.optional(),
  atMs: z.int().nonnegative(),
  tookMs: z.int().nonnegative().optional(),
  exitCode: z.int32().optional(),
  /** Whether the call was answered from the journal and did not run again. */
  fromJournal: z.boolean().optional(),
});
export type ExecutionCall = z.output<typeof executionCall>;

/** The body of `PUT /agent/v1/executions/{id}/progress`. `calls` lists the calls that changed since the last report. */
export const executionProgress = z.object({
  /** Number of the Body's run, from 1. */
  run: z.int32().min(1),
  state: z.enum(['received', 'running', 'restarting']),
  sentMsAgo: z.int().nonnegative(),
  calls: z.array(executionCall).max(executionLimits.calls).optional(),
});
export type ExecutionProgress = z.output<typeof executionProgress>;

/** Why a Body begins: for the first time, after a restart of the agent, or after a restart of the machine. */
export const beginReasons = ['first', 'agent', 'reboot'] as const;

/** A row of a transcript. The first element is the time in milliseconds since the first `begin`. */
export type TranscriptRecord =
  | [ms: number, kind: 'begin', begin: { run: number; why: (typeof beginReasons)[number] }]
  | [ms: number, kind: 'call', n: number, script: string | null, fn: string | null, line?: number]
  | [ms: number, kind: 'end', n: number, end: { exitCode?: number; ms: number; error?: string }]
  | [ms: number, kind: 'same', n: number]
  | [ms: number, kind: 'out' | 'err', n: number, text: string, goesOn?: 1]
  | [ms: number, kind: 'log', message: unknown]
  | [ms: number, kind: 'note', text: string]
  | [ms: number, kind: 'reboot']
  | [ms: number, kind: 'done', code: number];

/** The body of `PUT /agent/v1/platforms`: what this machine can run. */
export const machinePlatforms = z.object({
  platforms: z.record(z.string().max(64), z.object({ version: z.string().max(128) })),
  /** The version of Python that runs Bodies; null if the machine has none. */
  python: z.string().max(128).nullable(),
  /** Whether the machine's owner allows execution plans. */
  executionPlans: z.enum(['on', 'off']),
});
export type PlatformReport = z.output<typeof machinePlatforms>;
