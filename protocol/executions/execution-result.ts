import { z } from 'zod';

/** Error codes of results (MU-6 to MU-8, MU-20). After `api.setExitCode(X)`, the code is 100 + X. */
export const errorCodes = {
  none: 0,
  failed: 1,
  malformed: 2,
  platform: 3,
  body: 4,
  options: 5,
  parameter: 6,
  fileMissing: 7,
  fileUnavailable: 8,
  format: 9,
  timeout: 10,
  user: 100,
} as const;

/** An exception in the Body of a result. `Stack` contains only lines of the plan's Body. */
export interface ResultException {
  Message: string;
  Type: string;
  Stack: string[];
  Causes: ResultException[];
  AdditionalInfo?: unknown;
}

/** The result of an execution (MU-9). Keeps unknown properties, because other agents may send more. */
export const executionResult = z.looseObject({
  FormatVersion: z.string(),
  ID: z.string().min(1),
  SourceID: z.string(),
  Action: z.literal('Execute:Result'),
  ErrorCode: z.int().min(0),
  Body: z.unknown(),
  /** Time in ISO 8601, from the machine's clock. */
  Time: z.string(),
});
export type ExecutionResult = z.output<typeof executionResult>;

export const logLevels = ['debug', 'info', 'warning', 'error', 'fatal'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A log message of a Body, written by `api.logInfo` and its siblings (MU-13). */
export const logMessage = z.looseObject({
  FormatVersion: z.string(),
  ID: z.string().min(1),
  SourceID: z.string().optional(),
  Level: z.enum(logLevels),
  Body: z.unknown(),
  Action: z.literal('log'),
  Time: z.string(),
  Tag: z.string().optional(),
});
export type LogMessage = z.output<typeof logMessage>;
