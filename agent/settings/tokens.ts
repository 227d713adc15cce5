import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { type Readable, Writable } from 'node:stream';
import { AgentError, sentenceOf } from '../agent-error.ts';

export interface TokenSources {
  token?: string;
  /** A path, or `-` for stdin. */
  tokenFile?: string;
  /** Value of ANNEX_ENROLLMENT_TOKEN or ANNEX_GUEST_TOKEN. */
  variable?: string;
  input: Readable & { isTTY?: boolean };
  output: Writable;
}

/**
 * Returns the enrollment token from the option, a file, the environment or a prompt at a terminal. A token in the
 * option is visible to every user of the machine. Throws AgentError if there is none.
 */
export async function enrollmentTokenOf(sources: TokenSources): Promise<string> {
  const found = await tokenOf(sources, '--token-file', 'Enrollment token: ');
  if (found !== '') return found;
  throw new AgentError(
    'No enrollment token. Use --token-file, ANNEX_ENROLLMENT_TOKEN or --token, or run this in a terminal to be prompted.',
  );
}

/**
 * Returns the forwarder token of a VM. No option takes the token itself, because command lines are visible and the
 * token stays valid. Throws AgentError if there is no token or the token is malformed.
 */
export async function guestTokenOf(sources: Omit<TokenSources, 'token'>): Promise<string> {
  const found = await tokenOf(sources, '--guest-token-file', 'Forwarder token: ');
  if (/^[\x21-\x7e]+$/.test(found)) return found;
  throw new AgentError(
    found === ''
      ? 'No forwarder token. Use --guest-token-file or ANNEX_GUEST_TOKEN, or run this in a terminal to be prompted.'
      : 'The forwarder token contains invalid characters. Copy it again.',
  );
}

async function tokenOf(sources: TokenSources, option: string, question: string): Promise<string> {
  const { token, tokenFile, variable, input, output } = sources;
  const given = token ?? (tokenFile === undefined ? variable : await readToken(tokenFile, option, input));
  return (given ?? (input.isTTY ? await askHidden(question, input, output) : '')).trim();
}

async function readToken(file: string, option: string, input: Readable): Promise<string> {
  if (file === '-') {
    const chunks: Buffer[] = [];
    for await (const chunk of input as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  }
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new AgentError(`The token file cannot be read: ${sentenceOf(error)}. Check ${option}.`);
  }
}

/** Prompts for one line without echo. Returns an empty string if the input ends or the user cancels. */
export async function askHidden(question: string, input: Readable, output: Writable): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input, output: nowhere, terminal: true });
  output.write(question);
  const ended = new Promise<string>((resolve) => {
    for (const event of ['SIGINT', 'close'] as const) reader.once(event, () => resolve(''));
  });
  try {
    return await Promise.race([reader.question(''), ended]);
  } finally {
    reader.close();
    output.write('\n');
  }
}
