import type { ParseArgsConfig } from 'node:util';
import type { Box } from '../amp/box.ts';

/** A command line that cannot be understood. The command exits with 2. */
export class WrongUse extends Error {
  override readonly name = 'WrongUse';
}

export type ToolOptions = Record<string, string | boolean | (string | boolean)[] | undefined>;

/** One call of a command. */
export interface ToolCall {
  /** The arguments that are not options. */
  words: string[];
  options: ToolOptions;
  environment: Record<string, string | undefined>;
  isJson: boolean;
  readInput(): Promise<string>;
  /** Sends a command to the agent, with the client id and the relation of this call. */
  send(command: string, values: Record<string, string | undefined>): Promise<Box>;
}

/** A command for hooks. `run` returns what the command prints. */
export interface Tool {
  usage: string;
  options?: ParseArgsConfig['options'];
  run(call: ToolCall): Promise<string>;
}

/**
 * Returns a line with a value, whose JSON is given: a text without quotation marks unless `isJson`, other values as
 * JSON.
 */
export function printed(json: string, isJson: boolean): string {
  const value: unknown = isJson ? null : JSON.parse(json);
  return `${typeof value === 'string' ? value : json}\n`;
}

/** Returns a value of the answer as a text. */
export function textIn(box: Box, key: string): string {
  return box.get(key)?.toString('utf8') ?? '';
}
