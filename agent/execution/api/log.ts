import { randomUUID } from 'node:crypto';
import { executionLimits, type LogLevel, type LogMessage, logLevels } from '#protocol/executions/index.ts';
import { maskedText } from '../../handler/mask.ts';
import type { ExecutionContext } from '../execution-context.ts';
import { maskedValue } from '../masked-value.ts';

/**
 * Writes the message of a call such as `api.logInfo` to the agent's journal and, unless `notify` is false, to the
 * transcript (MU-13).
 */
export function writeLog(context: ExecutionContext, frame: Record<string, unknown>): void {
  const isNew = frame.notify === false ? !context.output.isReplaying : context.output.isNew('log');
  if (!isNew) return;
  const level: LogLevel = logLevels.find((known) => known === frame.log) ?? 'info';
  const text = typeof frame.body === 'string' ? frame.body : JSON.stringify(frame.body ?? null);
  const body = cut(maskedText(text, context.secrets));
  const { journal, planId, transcript, tag, plan } = context;
  const line = `Execution ${plan.name ?? planId}: ${body.slice(0, 2_000)}`;
  if (level === 'debug' || level === 'info') journal.info(line);
  else journal.warn(line);
  if (frame.notify === false) return;
  const message: LogMessage = {
    FormatVersion: '2.0.0',
    ID: randomUUID().replaceAll('-', ''),
    SourceID: planId,
    Level: level,
    Body: body,
    Action: 'log',
    Time: new Date().toISOString(),
    Tag: tag,
    ...('except' in frame && { except: maskedValue(frame.except, context.secrets) }),
  };
  transcript.add('log', message);
}

/** Truncates a text that is longer than 64 KiB, and appends a note with the original size. */
function cut(text: string): string {
  const limit = executionLimits.logMessageBytes;
  if (Buffer.byteLength(text) <= limit) return text;
  const start = Buffer.from(text)
    .subarray(0, limit - 64)
    .toString('utf8');
  return `${start} [Cut: the message has ${Buffer.byteLength(text)} bytes.]`;
}
