import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { executionLimits, parseExactJson } from '#protocol/executions/index.ts';
import { readText, writeAtomically } from '../../folder/write-file.ts';
import { CallError } from '../call-error.ts';

/** The state of a Service: JSON values by key, in one file. Changes are on disk before a call is answered (MU-14). */
export class ServiceState {
  private readonly file: string | null;
  private values: Map<string, string> | null = null;

  /** `service`: null if the plan has no Service; every call then fails. */
  constructor(folder: string, service: string | null) {
    const name = createHash('sha256')
      .update(service ?? '')
      .digest('hex');
    this.file = service === null ? null : join(folder, `${name}.json`);
  }

  /** Returns the value of a key as JSON text; `null` if there is none. */
  get(key: unknown): string {
    const { values } = this.open(key);
    return values.get(key as string) ?? 'null';
  }

  /** Stores a value; null removes the key. Values from `parseExactJson` keep the notation of their numbers. */
  set(key: unknown, value: unknown): void {
    const { values, file } = this.open(key);
    const text = JSON.stringify(value ?? null);
    const next = new Map(values);
    if (text === 'null') next.delete(key as string);
    else next.set(key as string, text);
    const whole = `{${[...next].map(([name, each]) => `${JSON.stringify(name)}:${each}`).join(',')}}`;
    if (Buffer.byteLength(text) > executionLimits.stateValueBytes) throw tooLarge('The value', 'stateValueBytes');
    if (Buffer.byteLength(whole) > executionLimits.stateBytes) throw tooLarge('The state', 'stateBytes');
    writeAtomically(file, whole);
    this.values = next;
  }

  private open(key: unknown): { values: Map<string, string>; file: string } {
    if (this.file === null) throw new CallError('StateUnavailable', 'The plan has no Service.');
    if (typeof key !== 'string') throw new CallError('TypeError', 'The key of a state must be a text.');
    this.values ??= read(this.file);
    return { values: this.values, file: this.file };
  }
}

function read(file: string): Map<string, string> {
  const text = readText(file);
  const values = text === null ? {} : (parseExactJson(text) as Record<string, unknown>);
  return new Map(Object.entries(values).map(([key, value]) => [key, JSON.stringify(value)]));
}

function tooLarge(what: string, limit: 'stateValueBytes' | 'stateBytes'): CallError {
  return new CallError('StateTooLarge', `${what} is larger than ${executionLimits[limit] / 1024 / 1024} MiB.`);
}
