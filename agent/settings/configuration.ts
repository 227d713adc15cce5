import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { AgentError } from '../agent-error.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { readText } from '../folder/write-file.ts';
import { logFormats } from '../journal.ts';
import { afterConclusion } from '../watch/observer.ts';

const between = (least: number, most: number, unit: string) => {
  const error = `must be ${least} to ${most} ${unit}.`;
  return z.number({ error }).min(least, { error }).max(most, { error });
};
const text = (what: string) => z.string({ error: `must be ${what}.` }).min(1, { error: `must be ${what}.` });
const address = (what: string) =>
  z.url({ protocol: /^https?$/, error: `must be an http or https address, for example ${what}.` });

const endpoint = (example: string, otherwise?: string) => {
  const or = otherwise === undefined ? '' : `, or ${otherwise}`;
  const error = `must be an IPv4 address and a port, for example ${example}${or}.`;
  const isFine = (text: string) => text === otherwise || /^\d{1,3}(\.\d{1,3}){3}:\d{1,5}$/.test(text);
  return z.string({ error }).refine(isFine, { error });
};
const listOf = (pattern: RegExp, what: string) => {
  const error = `must be ${what}, separated by commas.`;
  return z.string({ error }).regex(new RegExp(`^${pattern.source}(,${pattern.source})*$`), { error });
};

/** The settings of `config.json` and of the matching options. Values are checked only here. */
export const configuration = z.strictObject({
  portal: address('https://annex.example.net').optional(),
  name: text('a name').optional(),
  tokenFile: text('the path of a file').optional(),
  heartbeatSeconds: between(1, 600, 'seconds').optional(),
  statusSeconds: between(1, 600, 'seconds').optional(),
  statusAfterConclusion: z.enum(afterConclusion, { error: `must be one of ${afterConclusion.join(', ')}.` }).optional(),
  rebootCommand: text('a command line').optional(),
  bootIdFile: text('the path of a file').optional(),
  executionPlans: z.enum(['on', 'off'], { error: 'must be on or off.' }).optional(),
  python: text('the name or path of a program').optional(),
  amqpHost: text('the name or address of a host').optional(),
  amqpPort: between(1, 65_535, '(the number of a port)').optional(),
  amqpTls: z.enum(['on', 'off'], { error: 'must be on or off.' }).optional(),
  amqpCa: text('the path of a PEM file').optional(),
  amqpVirtualHost: text('the name of a virtual host').optional(),
  amqpLogin: text('a user name').optional(),
  amqpPasswordFile: text('the path of a file').optional(),
  amqpInputQueue: text('the name of a queue').optional(),
  amqpResultExchange: z.string({ error: 'must be the name of an exchange.' }).optional(),
  amqpResultRoutingKey: text('a routing key').optional(),
  amqpDynamicReply: z.enum(['on', 'off'], { error: 'must be on or off.' }).optional(),
  amqpHeartbeatSeconds: between(1, 600, 'seconds').optional(),
  amqpTag: text('a name').optional(),
  planPrivateHosts: listOf(/[^\s,]+/, 'names, addresses or networks of hosts').optional(),
  planCacheMegabytes: between(1, 1_000_000, 'MiB').optional(),
  waagentFolder: z
    .string({ error: 'must be the path of a folder, or none.' })
    .regex(/^(\/.*|none)$/, { error: 'must be the full path of a folder, or none.' })
    .optional(),
  logFormat: z.enum(logFormats, { error: `must be one of ${logFormats.join(', ')}.` }).optional(),
  logMegabytes: between(1, 1000, 'MiB').optional(),
  logFiles: between(0, 100, 'files').optional(),
  proxy: address('http://proxy.example.net:3128').optional(),
  directHosts: text('a list of hosts, separated by commas').optional(),
  ca: text('the path of a PEM file').optional(),
  gateway: address('https://agents.annex.example.net').optional(),
  vm: z
    .string({ error: 'must be the id of a VM.' })
    .regex(/^[\w-]{1,64}$/, { error: 'must be the id of a VM.' })
    .optional(),
  guestTokenFile: text('the path of a file').optional(),
  networkNamespace: text('the name or path of a network namespace').optional(),
  wireAddress: endpoint('168.63.129.16:80').optional(),
  pluginAddress: endpoint('168.63.129.16:32526').optional(),
  metadataAddress: endpoint('169.254.169.254:80', 'none').optional(),
  allowUids: listOf(/\d{1,10}/, 'numbers of users').optional(),
  clients: listOf(/\d{1,3}(?:\.\d{1,3}){3}/, 'IPv4 addresses').optional(),
});
export type Configuration = z.output<typeof configuration>;
export type ConfigurationKey = keyof Configuration;

/**
 * Reads `config.json` in the folder; returns an empty configuration if there is none. If the file has no `ca`, `ca` is
 * the file that the enrollment stored. Throws an AgentError that names every fault by its path. Faults do not repeat
 * values, because a value may be a misplaced secret.
 */
export function readConfiguration(layout: AgentLayout): Configuration {
  return { ...(existsSync(layout.authorities) ? { ca: layout.authorities } : {}), ...readFile(layout) };
}

function readFile(layout: AgentLayout): Configuration {
  const path = join(layout.root, 'config.json');
  const given = readText(path)?.replace(/^\uFEFF/, '');
  if (given === undefined) return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(given);
  } catch {
    throw new AgentError(`${path} is not valid JSON. Correct or remove it.`);
  }
  const read = configuration.safeParse(parsed);
  if (read.success) return read.data;
  throw new AgentError([`${path} cannot be used:`, ...faultsOf(read.error).map((fault) => `  ${fault}`)].join('\n'));
}

function faultsOf(error: z.ZodError): string[] {
  return error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      const known = Object.keys(configuration.shape).join(', ');
      return issue.keys.map((key) => `/${key}: is not a setting. The settings are ${known}.`);
    }
    const path = issue.path.map(String).join('/');
    return [path === '' ? '/: must be one JSON object.' : `/${path}: ${issue.message}`];
  });
}
