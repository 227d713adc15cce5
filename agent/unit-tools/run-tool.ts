import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { AmpError } from '../amp/amp-error.ts';
import { BoxTooLong } from '../amp/box.ts';
import { AmpClient } from '../amp/client.ts';
import { ensembleLog } from './ensemble-log.ts';
import { configGet, portTool, relationGet, relationList, unitGet } from './read-tools.ts';
import { relationSet } from './relation-set.ts';
import { type Tool, type ToolCall, type ToolOptions, WrongUse } from './tool.ts';
import type { ToolName } from './tool-names.ts';

const tools: Partial<Record<string, Tool>> = {
  'relation-get': relationGet,
  'relation-set': relationSet,
  'relation-list': relationList,
  'config-get': configGet,
  'unit-get': unitGet,
  'open-port': portTool('open-port', 'open_port'),
  'close-port': portTool('close-port', 'close_port'),
  'ensemble-log': ensembleLog,
} satisfies Partial<Record<ToolName, Tool>>;

const commonOptions = {
  'client-id': { type: 'string' },
  client_id: { type: 'string' },
  socket: { type: 'string', short: 's' },
  relation: { type: 'string', short: 'r' },
  output: { type: 'string', short: 'o' },
  format: { type: 'string' },
} as const;
const commonUsage = '[--client-id ID] [-s SOCKET] [-r NAME:ID] [-o FILE] [--format json]';

/** What a command uses of its process. */
export interface ToolProcess {
  environment: Record<string, string | undefined>;
  readInput(): Promise<string>;
  print(text: string): void;
  warn(text: string): void;
}

/**
 * Runs a command. Returns its exit code: 0, 1 for an error of the agent, or 2 for a wrong command line. A missing key
 * prints `null` (EN-12).
 */
export async function runTool(name: string, words: string[], own: ToolProcess): Promise<number> {
  const tool = tools[name];
  if (tool === undefined) {
    own.warn(name === 'ensemble-logger' ? 'reserved; use ensemble-log\n' : `There is no command ${name}.\n`);
    return 1;
  }
  let options: ToolOptions = {};
  const output = (text: string): void => {
    if (typeof options.output === 'string') writeFileSync(options.output, text);
    else own.print(text);
  };
  try {
    const parsed = parse(tool, words);
    options = parsed.options;
    output(await runParsed(tool, parsed, own));
    return 0;
  } catch (error) {
    if (error instanceof WrongUse) {
      own.warn(`${error.message}\nUsage: ${tool.usage} ${commonUsage}\n`);
      return 2;
    }
    if (error instanceof AmpError && error.code === 'KeyError') output('null\n');
    own.warn(`${sentenceOf(error)}\n`);
    return 1;
  }
}

interface Parsed {
  words: string[];
  options: ToolOptions;
}

function parse(tool: Tool, words: string[]): Parsed {
  try {
    const { values, positionals } = parseArgs({
      args: words,
      options: { ...commonOptions, ...tool.options },
      allowPositionals: true,
    });
    return { words: positionals, options: { ...values } };
  } catch (error) {
    throw new WrongUse((error as Error).message);
  }
}

async function runParsed(tool: Tool, { words, options }: Parsed, own: ToolProcess): Promise<string> {
  const { environment } = own;
  const format = options.format ?? '';
  if (format !== '' && format !== 'json') throw new WrongUse('The only format is json.');
  const socket = stringOf(options.socket) ?? environment.ENSEMBLE_SOCKET ?? '';
  if (socket === '') throw new WrongUse('ENSEMBLE_SOCKET is not set. Give the path of the socket with -s.');
  const clientId =
    stringOf(options['client-id']) ?? stringOf(options.client_id) ?? environment.ENSEMBLE_CLIENT_ID ?? '';
  // The agent knows the relation of a hook.
  const relation = stringOf(options.relation) ?? (clientId === '' ? environment.ENSEMBLE_RELATION_ID : undefined);
  let client: AmpClient | null = null;
  const send: ToolCall['send'] = async (command, values) => {
    client ??= await openClient(socket);
    return await client.call(command, {
      ...(clientId !== '' && { client_id: clientId }),
      ...(relation !== undefined && command !== 'log' && { relation_id: relation }),
      ...values,
    });
  };
  try {
    return await tool.run({ words, options, environment, isJson: format === 'json', readInput: own.readInput, send });
  } finally {
    (client as AmpClient | null)?.close();
  }
}

async function openClient(socket: string): Promise<AmpClient> {
  try {
    return await AmpClient.open(socket);
  } catch (error) {
    throw new Error(`The agent cannot be reached at ${socket}: ${(error as Error).message}`);
  }
}

function stringOf(option: ToolOptions[string]): string | undefined {
  return typeof option === 'string' ? option : undefined;
}

function sentenceOf(error: unknown): string {
  if (error instanceof AmpError) return `${error.code}: ${error.message}`;
  if (error instanceof BoxTooLong) return `TooLong: ${error.message}`;
  return (error as Error).message;
}
