import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { PlanFile } from '#protocol/executions/index.ts';
import { sentenceOf } from '../agent-error.ts';
import { CallError } from './call-error.ts';

/** Writes a file of a plan, and creates its parent folders. Throws CallError with code 8 if this fails. */
export function placeFile(id: string, { bodyType, body }: PlanFile, path: string, mode = 0o644): void {
  if (bodyType !== 'Text' && bodyType !== 'Base64') {
    throw unavailable(id, `this agent does not fetch files of BodyType ${bodyType}`);
  }
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    writeFileSync(path, Buffer.from(body, bodyType === 'Text' ? 'utf8' : 'base64'), { mode });
    // The agent's umask may be stricter than `mode`.
    chmodSync(path, mode);
  } catch (error) {
    throw unavailable(id, sentenceOf(error));
  }
}

export function unavailable(id: string, why: string): CallError {
  const message = `The file ${id} could not be had: ${why}.`;
  return new CallError('FileUnavailable', message, { code: 8, info: { file: id, why } });
}
